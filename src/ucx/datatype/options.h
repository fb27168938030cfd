// The keys ucd.ucx.*.
#pragma once

#include "common/failure.h"

#include <chrono>
#include <cstdint>

namespace ucd_ucx {

// A whole number from `least` to `most`; left as it is if the key is not set.
Status read_number(ucd_info_t info, const char *key, uint64_t least, uint64_t most,
                   uint64_t &number);

// Options of a transfer. How the defaults were measured: docs/guide/ucx.md.
struct TransferOptions {
    static constexpr uint64_t unset = UINT64_MAX;
    uint64_t eager_or(uint64_t by_default) const { return eager == unset ? by_default : eager; }
    uint64_t eager = unset; // the default depends on memory and network
    uint64_t chunk = 512 << 10;
    uint64_t depth = 4;
    // Between devices.
    bool ring = true;
    uint64_t ring_chunk = 8 << 20;
    uint64_t ring_depth = 8;
    bool ring_copy = false;  // the receiver copies chunks before it unpacks them
    bool ring_expose = true; // contiguous data is opened where it is
    // For which nothing of it may move before it ends; 0: for ever.
    std::chrono::nanoseconds timeout{0};
};
inline constexpr uint64_t max_chunk = uint64_t{1} << 30;

// What it is read from.
inline constexpr const char *transfer_keys[] = {
    "ucd.ucx.eager",     "ucd.ucx.chunk",       "ucd.ucx.depth",
    "ucd.ucx.ring",      "ucd.ucx.ring_chunk",  "ucd.ucx.ring_depth",
    "ucd.ucx.ring_copy", "ucd.ucx.ring_expose", "ucd.ucx.timeout"};
Status read_transfer_options(ucd_info_t info, TransferOptions &options);

enum class Form : uint8_t { automatic, contiguous, iov, generic };

struct PrepareOptions {
    Form form = Form::automatic;
    uint64_t iov_segment = 3 << 10; // the least mean segment for iov
    uint64_t iov_entries = 4096;    // the most segments
};

Status read_prepare_options(ucd_info_t info, PrepareOptions &options);

} // namespace ucd_ucx
