#include "c_api/hostile_types.hpp"

namespace ucdtest {
namespace {

constexpr std::int64_t far = std::int64_t{1} << 40;

void add(FlatBytes &bytes, std::initializer_list<int> values) {
    for (const int value : values) bytes.push_back(static_cast<std::uint8_t>(value));
}

// One byte for each member: a progression of two irregular lists of 60 and 61 bytes, which fit
// together in groups of about a thousand segments.
FlatBytes groups(int members) {
    FlatBytes body;
    add(body, {1, 1, 1, 0});
    for (int k = 0; k < 2; ++k) {
        add(body, {3, 1 << 2, 60 + k, 0, 1, 0, 0});
        for (int i = 1; i < 60 + k; ++i) add(body, {2 + (i * i * 7919 + k * 31) % 97});
    }
    add(body, {5 | 16, 1 << 2, members & 255, members >> 8, 8000 & 255, 8000 >> 8});
    for (int i = 0; i < members; ++i) add(body, {1 + (i * 7919 % 101 * 31 % 7 < 3)});
    FlatNodes nodes;
    nodes.raw(body);
    FlatNodes::Root root;
    root.nodes = 4;
    return nodes.sealed(root);
}

// Plans would merge the upper levels of each into a list of 4096 entries.
FlatBytes nests_of_four_levels(int count) {
    FlatNodes nodes;
    const std::uint32_t byte = nodes.byte();
    FlatNodes::Ids ids;
    for (int i = 0; i < count; ++i)
        ids.push_back(nodes.nest({64, 100000000 + i, 64, 100000, 64, 1000, 64, 10}, byte));
    nodes.structure(count, 1, ids, FlatNodes::Numbers(ids.size() - 1, far));
    return nodes.sealed();
}

// The same with one nest alone.
FlatBytes nest_of_six_levels() {
    FlatNodes nodes;
    const std::uint32_t byte = nodes.byte();
    nodes.nest({16, 1 << 30, 16, 1 << 24, 15, 1 << 18, 16, 1 << 13, 17, 300, 16, 10}, byte);
    return nodes.sealed();
}

// Runs of long lists, in sequences that have them in common.
FlatBytes lists_in_nests(int count) {
    FlatNodes nodes;
    const std::uint32_t byte = nodes.byte();
    FlatNodes::Numbers steps;
    for (std::int64_t i = 1; i < 60; ++i) steps.push_back(2 + i * i * 7919 % 97);
    const std::uint32_t list = nodes.indexed_block(60, 1, byte, steps);
    FlatNodes::Ids ids;
    for (int i = 0; i < count; ++i) ids.push_back(nodes.nest({17 + i % 3, 100003 + i * 7}, list));
    const std::uint32_t all =
        nodes.structure(count, 1, ids, FlatNodes::Numbers(ids.size() - 1, 1 << 30));
    FlatNodes::Ids tops{all};
    for (int k = 0; k < 3; ++k) tops.push_back(nodes.structure(3, 1, {all, byte, all}, {5, 7 + k}));
    nodes.structure(4, 1, tops, {far, far, far});
    return nodes.sealed();
}

// Each level has the one below twice.
FlatBytes doubling(int levels) {
    FlatNodes nodes;
    const std::uint32_t byte = nodes.byte(), word = nodes.int64();
    std::uint32_t top = nodes.structure(2, 1, {byte, word}, {8});
    std::int64_t span = 16;
    for (int i = 0; i < levels; ++i) {
        top = nodes.structure(3, 1, {top, byte, top}, {span + 3, 5});
        span = 2 * span + 8;
    }
    return nodes.sealed();
}

// Levels of 17 sequences, each of all of the level below in another order.
FlatBytes woven(int levels) {
    FlatNodes nodes;
    const std::uint32_t byte = nodes.byte();
    const int n = 17;
    FlatNodes::Ids below;
    for (int i = 0; i < n; ++i) below.push_back(nodes.nest({2000 + i, 3000000 + i * 5}, byte));
    for (int level = 0; level < levels; ++level) {
        FlatNodes::Ids above;
        for (int i = 0; i < n; ++i) {
            FlatNodes::Ids ids;
            FlatNodes::Numbers steps;
            for (int k = 0; k < n; ++k) {
                ids.push_back(below[static_cast<std::size_t>((i * (k + 1) + k) % n)]);
                if (k > 0) steps.push_back(1000000007 + i * k * k % 13);
            }
            above.push_back(nodes.structure(n, 1, ids, steps));
        }
        below = above;
    }
    nodes.structure(n, 1, below, FlatNodes::Numbers(n - 1, 12345));
    return nodes.sealed();
}

} // namespace

std::vector<HostileType> expanding_types() {
    return {{"groups", groups(1700)},
            {"more groups", groups(30000), 32 * 30000},
            {"nests of four levels", nests_of_four_levels(300)},
            {"a nest of six levels", nest_of_six_levels()},
            {"lists in nests", lists_in_nests(30)},
            {"doubling", doubling(50)},
            {"woven", woven(6)}};
}

FlatBytes nested_pairs(int count, bool equal_hashes) {
    constexpr std::uint64_t factor = 0xff51afd7ed558ccdu, addend = 0x9e3779b97f4a7c15u;
    std::uint64_t inverse = factor; // modulo 2^64, by Newton's steps
    for (int i = 0; i < 6; ++i) inverse *= 2 - factor * inverse;
    const auto mix = [](std::uint64_t hash, std::uint64_t value) {
        return (hash ^ (value + addend + (hash << 6) + (hash >> 2))) * factor;
    };
    FlatNodes nodes;
    const std::uint32_t byte = nodes.byte();
    FlatNodes::Ids ids;
    std::uint64_t next = 1; // the number of the inner node in the layout; the byte has 0
    for (std::int64_t i = 0, made = 0; made < count; ++i) {
        // Kind, element, child, table and count are mixed first; then the outer stride, which makes
        // up for all that; then the bytes, which are always the same.
        const std::uint64_t hash = mix(mix(mix(mix(1, 0), next), 0), 2);
        const std::uint64_t wanted =
            ((0x123456789abcdefu * inverse) ^ hash) - addend - (hash << 6) - (hash >> 2);
        const auto stride = static_cast<std::int64_t>(equal_hashes ? wanted : hash);
        constexpr std::int64_t most = (std::int64_t{1} << 62) - (std::int64_t{1} << 50);
        const bool fits = stride > -most && stride < most;
        if (fits)
            ids.push_back(nodes.nest({2, stride, 2, 1000 + 16 * i}, byte));
        else
            ids.push_back(nodes.nest({2, 1000 + 16 * i}, byte));
        next += fits ? 2 : 1;
        made += fits;
    }
    nodes.structure(static_cast<std::int64_t>(ids.size()), 1, ids,
                    FlatNodes::Numbers(ids.size() - 1, 1));
    return nodes.sealed();
}

FlatBytes equal_but_for_the_end(int lists, int entries) {
    FlatNodes nodes;
    const std::uint32_t byte = nodes.byte();
    FlatNodes::Ids ids;
    for (int l = 0; l < lists; ++l) {
        FlatNodes::Numbers steps;
        for (std::int64_t i = 1; i < entries; ++i) steps.push_back(2 + i * i * 7919 % 97);
        steps.back() += l;
        ids.push_back(nodes.indexed_block(entries, 1, byte, steps));
    }
    nodes.structure(lists, 1, ids, FlatNodes::Numbers(ids.size() - 1, 1 << 20));
    return nodes.sealed();
}

FlatBytes two_shapes(int count, bool exhausting) {
    FlatNodes nodes;
    const std::uint32_t byte = nodes.byte(), word = nodes.int64();
    const std::uint32_t a = nodes.structure(2, 1, {byte, word}, {8}),
                        b = nodes.structure(2, 1, {word, byte}, {24});
    FlatNodes::Numbers irregular;
    for (std::int64_t i = 1; i < 63; ++i) irregular.push_back(2 + i * i * 7919 % 97);
    const std::uint32_t large = nodes.indexed_block(63, 1, byte, irregular),
                        other = nodes.indexed_block(62, 1, byte,
                                                    {irregular.begin(), irregular.end() - 1});
    FlatNodes::Ids ids{large, other};
    FlatNodes::Numbers steps{100000};
    for (int i = 0; i < count; ++i) {
        const bool one = i * 7919LL % 101 < 50;
        if (exhausting && i < count / 2)
            ids.push_back(one ? large : other);
        else
            ids.push_back(one ? a : b);
        steps.push_back(10000 + i * 31LL % 17);
    }
    nodes.structure(static_cast<std::int64_t>(ids.size()), 1, ids, steps);
    return nodes.sealed();
}

FlatBytes deep_type(int depth) {
    FlatNodes nodes;
    const std::uint32_t byte = nodes.byte(), word = nodes.int64();
    std::uint32_t top = nodes.structure(2, 1, {byte, word}, {8});
    FlatNodes::Ids all;
    for (int i = 0; i < depth; ++i) {
        top = nodes.structure(2, 1, {byte, top}, {1000 + i % 7});
        all.push_back(top);
    }
    // The last one, which the first byte is of, is the deepest of all.
    FlatNodes::Ids reversed(all.rbegin(), all.rend());
    nodes.structure(depth, 1, reversed, FlatNodes::Numbers(reversed.size() - 1, 1));
    return nodes.sealed();
}

} // namespace ucdtest
