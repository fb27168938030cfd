#include "harness/workbench.hpp"

#include "harness/content.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

namespace bench {
namespace {

constexpr std::int64_t line = 64;

std::size_t unsigned_of(std::int64_t value) {
    return static_cast<std::size_t>(value);
}

std::int64_t touched_lines(const Workbench &bench) {
    std::vector<std::int64_t> lines;
    for (const Segment &s : bench.segments()) {
        const auto begin = reinterpret_cast<std::intptr_t>(bench.typed() + s.displacement);
        for (std::int64_t l = begin / line; l <= (begin + s.bytes - 1) / line; ++l)
            lines.push_back(l);
    }
    std::sort(lines.begin(), lines.end());
    return std::unique(lines.begin(), lines.end()) - lines.begin();
}

} // namespace

std::vector<char> packed_content(const std::vector<Segment> &segments) {
    const Extremes all = extremes_of(segments);
    std::vector<char> packed;
    packed.reserve(unsigned_of(all.bytes));
    for (const Segment &s : segments)
        for (std::int64_t at = s.displacement - all.low, end = at + s.bytes; at < end; ++at)
            packed.push_back(static_cast<char>(content(static_cast<std::uint64_t>(at))));
    return packed;
}

// UCD's own streams are ordered after nothing: fill and set wait.
Workbench::Workbench(const Recipe &type, Device &device, MemoryKind typed, MemoryKind packed)
    : device_(device), segments_(segments_of(type)), extremes_(extremes_of(segments_)),
      typed_kind_(typed), packed_kind_(packed), typed_(device, unsigned_of(footprint()), typed),
      packed_(device, size() + guard, packed, 21 * line),
      spare_(device, size() + guard, MemoryKind::own, 42 * line),
      expected_(packed_content(segments_)) {
    expected_.resize(size() + guard, static_cast<char>(blank));
    fill_typed();
    device_.set(spare_.data(), 1, spare_.bytes());
}

template <class Use>
auto Workbench::reached(const Buffer &buffer, MemoryKind kind, bool write, Use use) {
    if (!device_.is_gpu() || kind == MemoryKind::own) return use(buffer.data(), buffer.bytes());
    const Buffer copy(device_, buffer.bytes());
    if (!write) {
        device_.copy(copy.data(), buffer.data(), buffer.bytes());
        return use(copy.data(), copy.bytes());
    }
    auto result = use(copy.data(), copy.bytes());
    device_.copy(buffer.data(), copy.data(), copy.bytes());
    return result;
}

void Workbench::fill_typed() {
    reached(typed_, typed_kind_, true, [&](char *memory, std::size_t bytes) {
        device_.fill(memory, bytes);
        return true;
    });
}

void Workbench::blank_typed() {
    reached(typed_, typed_kind_, true, [&](char *memory, std::size_t bytes) {
        device_.set(memory, blank, bytes);
        return true;
    });
}

std::uint64_t Workbench::wrong_typed_bytes() {
    return reached(typed_, typed_kind_, false, [&](char *memory, std::size_t bytes) {
        const std::size_t filled = device_.count_filled(memory, bytes);
        return device_.count_foreign(memory, bytes) +
               (filled > size() ? filled - size() : size() - filled);
    });
}

std::uint64_t Workbench::wrong_packed_bytes() {
    device_.copy(spare_.data(), expected_.data(), spare_.bytes());
    return reached(packed_, packed_kind_, false, [&](char *memory, std::size_t bytes) {
        return device_.count_different(memory, spare_.data(), bytes);
    });
}

void Workbench::check(const Contender &contender, bool pack) {
    if (pack) { // from content, as the one before has left it
        reached(packed_, packed_kind_, true, [&](char *memory, std::size_t bytes) {
            device_.set(memory, blank, bytes);
            return true;
        });
    } else {
        blank_typed();
        device_.copy(packed(), expected_.data(), packed_.bytes());
    }
    contender.work(1);
    const std::uint64_t wrong = pack ? wrong_packed_bytes() : wrong_typed_bytes();
    if (wrong > 0)
        throw std::runtime_error(fmt::format("{}: {} bytes of {} are {} wrongly", contender.name,
                                             wrong, bytes(), pack ? "packed" : "unpacked"));
}

Work Workbench::plain_copy(bool pack) const {
    return pack ? copy_work(device_, packed(), spare(), size())
                : copy_work(device_, spare(), packed(), size());
}

Roofline::Roofline(const Workbench &bench)
    : device_(bench.device()),
      from_(device_, unsigned_of(line * touched_lines(bench) + bench.bytes()) / 2),
      to_(device_, from_.bytes()) {
    device_.set(from_.data(), 1, from_.bytes());
    device_.set(to_.data(), 2, to_.bytes());
}

} // namespace bench
