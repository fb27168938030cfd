#include "support/buffers/guarded_buffer.hpp"

namespace ucdtest {
namespace {

constexpr std::size_t line_bytes = 64;

std::size_t random_misalignment(Rng &rng) {
    if (rng.chance(30)) return 0;
    if (rng.chance(30)) return 8 * rng.below(line_bytes / 8);
    return rng.below(line_bytes);
}

} // namespace

GuardedBuffer::GuardedBuffer(Rng &rng, TouchedRange range, std::size_t misalign) {
    const std::size_t bytes = range.length() + 2 * guard_bytes + 2 * line_bytes;
    memory_.reset(new std::byte[bytes]);
    const auto start = reinterpret_cast<std::uintptr_t>(memory_.get());
    const std::uintptr_t line = (start + guard_bytes + line_bytes - 1) / line_bytes * line_bytes;
    const std::uintptr_t base =
        line + misalign % line_bytes - static_cast<std::uintptr_t>(range.low);
    set_region(memory_.get(), bytes, base);
    add_accessible(memory_.get(), bytes);
    randomise(rng);
}

GuardedBuffer::GuardedBuffer(Rng &rng, TouchedRange range)
    : GuardedBuffer(rng, range, random_misalignment(rng)) {}

GuardedBuffer packed_buffer(Rng &rng, std::size_t bytes) {
    return GuardedBuffer(rng, {0, static_cast<std::intptr_t>(bytes)});
}

} // namespace ucdtest
