#include "workbench.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

namespace bench {
namespace {

constexpr std::size_t page = 4096, line = 64, guard = line;
constexpr char untouched = '\xA5', flipped = '\x5A';

std::size_t round_up(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
}

// What stands in the laid-out buffer: every 8 bytes differ from all others.
std::uint64_t word(std::size_t index) {
    return (index + 1) * 0x9E3779B97F4A7C15u;
}

} // namespace

Buffer::Buffer(std::size_t bytes, std::size_t stagger)
    : memory_(static_cast<char *>(std::aligned_alloc(page, round_up(bytes + stagger, page)))) {
    if (memory_ == nullptr) throw std::bad_alloc();
    start_ = memory_.get() + stagger;
}

Workbench::Workbench(const Recipe &type) : segments_(segments_of(type)) {
    low_ = INTPTR_MAX;
    high_ = INTPTR_MIN;
    for (const Segment &s : segments_) {
        bytes_ += s.bytes;
        low_ = std::min<std::int64_t>(low_, s.displacement);
        high_ = std::max<std::int64_t>(high_, s.displacement + s.bytes);
    }
    const auto bytes = static_cast<std::size_t>(bytes_);
    laid_out_ = Buffer(round_up(static_cast<std::size_t>(footprint()), sizeof(std::uint64_t)));
    packed_ = Buffer(bytes + guard, 21 * line);
    expected_ = Buffer(bytes, 42 * line);
    fill();
    char *p = expected_.data();
    for (const Segment &s : segments_) {
        std::memcpy(p, at(s), static_cast<std::size_t>(s.bytes));
        p += s.bytes;
    }
}

char *Workbench::laid_out() const {
    return reinterpret_cast<char *>(reinterpret_cast<std::intptr_t>(laid_out_.data()) - low_);
}

void Workbench::fill() {
    const std::size_t words = round_up(static_cast<std::size_t>(footprint()), 8) / 8;
    for (std::size_t i = 0; i < words; ++i) {
        const std::uint64_t value = word(i);
        std::memcpy(laid_out_.data() + i * 8, &value, 8);
    }
}

void Workbench::check_packing(std::string_view contender, const Work &work) {
    const auto bytes = static_cast<std::size_t>(bytes_);
    std::memset(packed(), untouched, bytes + guard);
    work(1);
    const char *const end = packed() + bytes;
    if (std::memcmp(packed(), expected_.data(), bytes) != 0) {
        const auto at = std::mismatch(packed(), packed() + bytes, expected_.data()).first;
        throw std::runtime_error(
            fmt::format("{}: packed byte {} of {} is wrong", contender, at - packed(), bytes));
    }
    if (!std::all_of(end, end + guard, [](char c) { return c == untouched; }))
        throw std::runtime_error(fmt::format("{}: packs more than {} bytes", contender, bytes));
}

void Workbench::check_unpacking(std::string_view contender, const Work &work) {
    for (std::int64_t i = 0; i < bytes_; ++i)
        packed()[i] = static_cast<char>(expected_.data()[i] ^ flipped);
    work(1);
    const char *p = packed();
    for (const Segment &s : segments_) {
        const auto bytes = static_cast<std::size_t>(s.bytes);
        if (std::memcmp(at(s), p, bytes) != 0)
            throw std::runtime_error(
                fmt::format("{}: unpacks wrongly at displacement {}", contender, s.displacement));
        p += s.bytes;
    }
    // What was there before comes back, and then nothing else may have changed.
    p = expected_.data();
    for (const Segment &s : segments_) {
        std::memcpy(at(s), p, static_cast<std::size_t>(s.bytes));
        p += s.bytes;
    }
    for (std::int64_t i = 0; i < footprint(); i += 8) {
        const auto index = static_cast<std::size_t>(i);
        const std::uint64_t value = word(index / 8);
        const auto bytes = static_cast<std::size_t>(std::min<std::int64_t>(8, footprint() - i));
        if (std::memcmp(laid_out_.data() + i, &value, bytes) != 0)
            throw std::runtime_error(
                fmt::format("{}: unpacks over displacement {}", contender, i + low_));
    }
}

} // namespace bench
