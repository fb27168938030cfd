#include "plan/given_list.h"

#include "plan/lists.h"

#include <bit>

namespace ucd::gpu {
namespace {

template <class Entry, class Make>
void write_entries(const GivenList &list, char *to, Make make) {
    auto *const __restrict entry = reinterpret_cast<Entry *>(to);
    const int64_t *const given = list.entries.data();
    const auto first = static_cast<uint64_t>(given[0]);
    const std::size_t count = list.entries.size();
    for (std::size_t i = 0; i < count; ++i)
        entry[i] = static_cast<Entry>(make(static_cast<uint64_t>(given[i]) - first));
}

} // namespace

uint32_t unit_for(const GivenList &list, const Node &node) {
    return unit_within(list.bits, std::min<int64_t>(node.low, 0), std::max<int64_t>(node.high, 0));
}

void write_list(const GivenList &list, uint32_t unit, char *to) {
    const auto times = static_cast<uint64_t>(list.unit);
    if (unit == 0)
        return write_entries<int64_t>(list, to, [times](uint64_t n) { return n * times; });
    // The lower 32 bits of a number that is shifted by at most as many do not depend on its sign.
    const int shift = std::countr_zero(unit), of_times = std::countr_zero(times);
    const auto write = [&](auto make) { write_entries<int32_t>(list, to, make); };
    if (!std::has_single_bit(times))
        write([=](uint64_t n) { return n * times >> shift; });
    else if (of_times < shift)
        write([by = shift - of_times](uint64_t n) { return n >> by; });
    else
        write([by = of_times - shift](uint64_t n) { return n << by; });
}

} // namespace ucd::gpu
