// What a fuzz target is: one function that takes bytes, for libFuzzer, for AFL++ (whose driver
// calls the same function) and for replay_main.cpp, which needs no engine. A target that finds a
// defect throws or crashes.
#pragma once

#include "support/moves/flat_bytes.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace ucdtest::fuzz {

// Inputs that were not refused at the door: a run without such tests nothing.
inline std::size_t accepted = 0;

// Initialises the library once; ends the process if that fails.
void start_library();

} // namespace ucdtest::fuzz
