#include "shapes/fresh_lists.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace bench {
namespace {

constexpr std::int64_t places_per_entry = 4, max_run = 4;

// So many different numbers below `end`, in any order.
Ints chosen(std::int64_t count, std::int64_t end, std::mt19937_64 &random) {
    Ints all(static_cast<std::size_t>(end));
    std::iota(all.begin(), all.end(), 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        std::swap(all[i], all[i + random() % (all.size() - i)]);
    all.resize(static_cast<std::size_t>(count));
    return all;
}

const char *word(FreshKind kind) {
    switch (kind) {
    case FreshKind::random: return "random";
    case FreshKind::sorted: return "sorted";
    case FreshKind::bytes: return "sorted, with lengths";
    case FreshKind::runs: break;
    }
    return "runs";
}

} // namespace

std::string FreshList::name() const {
    return fmt::format("{}, {} of {} B", word(kind), entries, piece);
}

std::vector<FreshList> fresh_lists(std::int64_t max_footprint) {
    std::vector<FreshList> lists;
    for (const FreshKind kind : {FreshKind::random, FreshKind::sorted, FreshKind::runs})
        for (const std::int64_t piece : {8, 64, 512, 16384})
            for (std::int64_t entries = 100; entries <= 10'000'000; entries *= 10) {
                const std::int64_t each = kind == FreshKind::runs ? max_run : 1;
                if (entries * piece * each * places_per_entry <= max_footprint)
                    lists.push_back({kind, piece, entries});
            }
    lists.push_back({FreshKind::sorted, 16, 254'000});
    lists.push_back({FreshKind::bytes, 8, 10'000});
    lists.push_back({FreshKind::bytes, 16, 254'000});
    return lists;
}

FreshEntries make_entries(const FreshList &list) {
    std::mt19937_64 random(static_cast<std::uint64_t>(list.entries)); // the same in every run
    const std::int64_t doubles = list.piece / 8;
    FreshEntries made;
    made.displs = chosen(list.entries, places_per_entry * list.entries, random);
    if (list.kind != FreshKind::random) std::sort(made.displs.begin(), made.displs.end());
    made.packed_bytes = list.entries * list.piece;
    if (list.kind != FreshKind::runs) {
        for (std::intptr_t &d : made.displs) d *= doubles;
        if (list.kind != FreshKind::bytes) return made;
        made.lengths.assign(made.displs.size(), doubles);
        for (const std::intptr_t d : made.displs) made.bytes.push_back(d * 8);
        return made;
    }
    made.packed_bytes = 0;
    for (std::intptr_t &d : made.displs) {
        d *= max_run * doubles;
        made.lengths.push_back((1 + static_cast<std::intptr_t>(random() % max_run)) * doubles);
        made.packed_bytes += made.lengths.back() * 8;
    }
    return made;
}

} // namespace bench
