// Figures of a device that nobody has, for tests of the plans that all GPU vendors share.
#pragma once

#include "plan/layout_plan.h"

namespace ucdtest {

inline constexpr ucd::gpu::Tuning tuning{.warp_lanes = 32,
                                         .sector_bytes = 32,
                                         .line_bytes = 128,
                                         .parameter_bytes = 4096,
                                         .min_tiled = 8,
                                         .min_store_words = 2,
                                         .many_threads = 1024,
                                         .cached_bytes = 1024,
                                         .long_run_bytes = 512,
                                         .host_blocks = 2,
                                         .min_members_batched = 3,
                                         .copy_engines = {}};

} // namespace ucdtest
