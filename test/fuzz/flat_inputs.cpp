// Flattened types: one of each kind of node to begin with, changes of them, and nodes put together
// at random. The total size and the checksum are set right by the targets, behind all changes.
#include "inputs.hpp"
#include "target.hpp"

#include <cstdio>
#include <cstdlib>

namespace ucdtest::fuzz {
namespace {

// `rc` is what the call that made the type returned.
void add(Corpus &corpus, int rc, const ucd_type_t &type) {
    std::uintptr_t size = 0;
    FlatBytes bytes;
    if (rc == UCD_SUCCESS) rc = ucd_flatten_size(type, &size);
    bytes.resize(size);
    if (rc == UCD_SUCCESS) rc = ucd_flatten(type, bytes.data(), size);
    if (rc != UCD_SUCCESS) {
        std::fprintf(stderr, "no corpus: %s\n", ucd_last_error());
        std::exit(2);
    }
    corpus.push_back(std::move(bytes));
}

} // namespace

// One of each kind of node, and some of their mixtures.
Corpus first_inputs() {
    Corpus corpus;
    start_library();
    const ucd_info_t none = UCD_INFO__NULL;
    const std::intptr_t sizes[] = {8, 9, 10}, parts[] = {3, 4, 5}, starts[] = {1, 2, 3};
    const std::intptr_t displs[] = {0, 7, 3, 40, 41, 90}, lengths[] = {1, 2, 1, 9, 2, 3};
    ucd_type_t box, blocks, runs, mixed, deep, sized, spread, empty;
    add(corpus, UCD_SUCCESS, UCD_TYPE__DOUBLE);
    add(corpus, UCD_SUCCESS, UCD_TYPE__SHORT_INT);
    add(corpus,
        ucd_create_subarray(3, sizes, parts, starts, UCD_ORDER__C, UCD_TYPE__INT, none, &box), box);
    add(corpus, ucd_create_indexed_block(6, 2, displs, UCD_TYPE__FLOAT, none, &blocks), blocks);
    add(corpus, ucd_create_indexed(6, lengths, displs, UCD_TYPE__INT16_T, none, &runs), runs);
    const ucd_type_t types[] = {box, UCD_TYPE__BYTE, blocks, runs, UCD_TYPE__DOUBLE_INT, box};
    add(corpus, ucd_create_struct(6, lengths, displs, types, none, &mixed), mixed);
    const ucd_type_t members[] = {mixed, UCD_TYPE__LONG_DOUBLE, mixed};
    add(corpus, ucd_create_struct(3, lengths, displs, members, none, &deep), deep);
    add(corpus, ucd_create_resized(deep, -100, 5000, none, &sized), sized);
    add(corpus, ucd_create_indexed(6, lengths, displs, sized, none, &spread), spread);
    add(corpus, ucd_create_contig(0, sized, none, &empty), empty);
    for (ucd_type_t *type : {&box, &blocks, &runs, &mixed, &deep, &sized, &spread, &empty})
        ucd_free(type);
    return corpus;
}

void change(Rng &rng, FlatBytes &bytes, const Corpus &corpus) {
    if (rng.below(7) == 0) // the number of nodes
        set_number(bytes, 20, static_cast<std::uint64_t>(rng.between(0, 12)), 4);
    else
        change_bytes(rng, bytes, corpus);
}

namespace {

// Numbers that mostly make a type.
std::int64_t number(Rng &rng, std::int64_t low, std::int64_t high) {
    return rng.chance(3) ? interesting(rng) : rng.between(low, high);
}

} // namespace

FlatBytes put_together(Rng &rng) {
    FlatNodes nodes;
    const auto numbers = [&](std::size_t n, std::int64_t low, std::int64_t high) {
        FlatNodes::Numbers values(n);
        for (std::int64_t &v : values) v = number(rng, low, high);
        return values;
    };
    nodes.element(rng.chance(90) ? 7 : 1 + static_cast<int>(rng.below(16)), 8, 3);
    const std::size_t more = rng.below(8);
    for (std::uint32_t id = 1; id <= more; ++id) {
        // The node before is always referred to, so that none is left out.
        const std::uint32_t child = rng.chance(98) ? id - 1 : id;
        const std::size_t n = 2 + rng.mostly_small(30);
        const auto count = static_cast<std::int64_t>(n);
        const std::int64_t said = rng.chance(98) ? count : interesting(rng);
        switch (rng.below(6)) {
        case 0: nodes.nest({number(rng, 2, 9), number(rng, -200, 200)}, child); break;
        case 1:
            nodes.nest({number(rng, 2, 9), number(rng, -999, 999), number(rng, 2, 9), 8}, child);
            break;
        case 2: nodes.indexed_block(said, number(rng, 1, 8), child, numbers(n - 1, -20, 90)); break;
        case 3:
            nodes.indexed(said, number(rng, 1, 8), number(rng, 1, 200), child,
                          numbers(n - 1, 0, 200), numbers(n, 1, 9));
            break;
        case 4:
            nodes.indexed(said, 1, number(rng, 1, 50), child, numbers(n - 1, 0, 400),
                          numbers(1, 1, 9), 32);
            break;
        default: {
            FlatNodes::Ids ids(n);
            for (std::uint32_t &i : ids) i = static_cast<std::uint32_t>(rng.below(id));
            ids[rng.below(n)] = child;
            if (rng.chance(30))
                nodes.progression_structure(said, number(rng, -500, 500), ids);
            else
                nodes.structure(said, number(rng, 1, 8), ids, numbers(n - 1, -20, 400));
        }
        }
    }
    FlatNodes::Root root;
    root.start = number(rng, -100, 100);
    root.lb = number(rng, -100, 100);
    root.extent = number(rng, 0, 10000);
    root.explicit_bounds = rng.chance(50);
    root.alignment_log = rng.chance(95) ? 3 : static_cast<int>(rng.below(20));
    return nodes.sealed(root);
}

} // namespace ucdtest::fuzz
