// What the parts of the program have in common.
#pragma once

#include <ucd.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace extremes {

struct Sizes {
    std::uint64_t pack_bytes, elements, blocks, types, cycles, depth, calls, plans;
};
inline constexpr Sizes small_sizes = {
    std::uint64_t{96} << 20, (1 << 22) + 12345, 3'000'000, 20'000, 200'000, 20'000, 3'000, 20'000};
inline constexpr Sizes full_sizes = {std::uint64_t{8} << 30,
                                     (std::uint64_t{1} << 32) + 12345,
                                     100'000'000,
                                     1'000'000,
                                     10'000'000,
                                     1'000'000,
                                     10'000'000,
                                     1'000'000};

inline void must(bool holds, const char *what) {
    if (!holds) throw std::runtime_error(what + std::string(": ") + ucd_last_error());
}

void start_and_wait(ucd_plan_t plan);

// Throws if there are more allocations than before, but for a few that the library keeps.
void require_all_given_back(std::ptrdiff_t allocations, const char *what);

// Each throws if something is wrong, and prints what it did.
void pack_much(std::uint64_t bytes, bool on_device);
void pack_many_elements(std::uint64_t elements, bool on_device);
void convert_many_elements(std::uint64_t elements, bool on_device);
void many_blocks(std::uint64_t blocks, bool on_device);
void many_types(std::uint64_t types, bool on_device);
void many_cycles(std::uint64_t cycles, bool on_device);
void deep(std::uint64_t depth, bool on_device);
void large_counts(std::uint64_t, bool on_device);
void many_calls(std::uint64_t calls, bool on_device);
void many_plans(std::uint64_t plans, bool on_device);
void many_members(std::uint64_t members, bool on_device);

} // namespace extremes
