// Runs the fuzz target without a fuzzer: on the files that are named, or on `count` inputs from a
// seeded generator, half of them flattened types with bytes changed, half of them nodes put
// together at random.
//
//   unflatten_replay count [seed]      unflatten_replay file...
#include "support/moves/flat_bytes.hpp"
#include "support/random/rng.hpp"

#include <ucd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>

using namespace ucdtest;

extern std::size_t accepted_inputs;
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace {

// `rc` is what the call that made the type returned.
void add(std::vector<FlatBytes> &corpus, int rc, const ucd_type_t &type) {
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

// One of each kind of node, and some of their mixtures.
std::vector<FlatBytes> make_corpus() {
    std::vector<FlatBytes> corpus;
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

std::int64_t interesting(Rng &rng) {
    switch (rng.below(5)) {
    case 0: return rng.between(-2, 3);
    case 1: return std::int64_t{1} << rng.below(63);
    case 2: return -(std::int64_t{1} << rng.below(63));
    case 3: return rng.chance(50) ? INT64_MAX - rng.between(0, 9) : INT64_MIN + rng.between(0, 9);
    default: return rng.between(-1000, 1000);
    }
}

void change(Rng &rng, FlatBytes &bytes, const std::vector<FlatBytes> &corpus) {
    const std::size_t at = rng.below(bytes.size() + 1);
    const std::size_t length = std::min(rng.mostly_small(32), bytes.size() - at);
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to = from + static_cast<std::ptrdiff_t>(length);
    switch (rng.below(7)) {
    case 0:
        for (std::size_t i = at; i < at + length; ++i)
            set_number(bytes, i, bytes[i] ^ 1u << rng.below(8), 1);
        return;
    case 1: set_number(bytes, at, rng.bits(), 1); return;
    case 2:
        set_number(bytes, at, static_cast<std::uint64_t>(interesting(rng)), 1u << rng.below(4));
        return;
    case 3: bytes.erase(from, to); return;
    case 4: {
        const FlatBytes again(from, to);
        bytes.insert(from, again.begin(), again.end());
        return;
    }
    case 5: {
        const FlatBytes &other = rng.pick(corpus);
        const std::size_t begin = rng.below(other.size());
        bytes.resize(at);
        bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(begin), other.end());
        return;
    }
    default: // the number of nodes
        set_number(bytes, 20, static_cast<std::uint64_t>(rng.between(0, 12)), 4);
        return;
    }
}

FlatBytes changed(Rng &rng, const std::vector<FlatBytes> &corpus) {
    FlatBytes bytes = rng.pick(corpus);
    for (std::size_t i = rng.below(4) + 1; i > 0; --i) change(rng, bytes, corpus);
    return bytes;
}

// Numbers that mostly make a type.
std::int64_t number(Rng &rng, std::int64_t low, std::int64_t high) {
    return rng.chance(3) ? interesting(rng) : rng.between(low, high);
}

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

// Keeps the input at hand that a crash would be about.
int run(const FlatBytes &bytes) try {
    return LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
} catch (const std::exception &e) {
    std::fprintf(stderr, "%s\ninput:", e.what());
    for (const std::uint8_t byte : bytes) std::fprintf(stderr, " %02x", byte);
    std::fprintf(stderr, "\n");
    std::exit(1);
}

int replay_file(const char *name) {
    std::ifstream file(name, std::ios::binary);
    const FlatBytes bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file && bytes.empty()) {
        std::fprintf(stderr, "%s: cannot be read\n", name);
        return 2;
    }
    return run(bytes);
}

} // namespace

int main(int argc, char **argv) {
    char *end = nullptr;
    const unsigned long long count = argc > 1 ? std::strtoull(argv[1], &end, 10) : 200000;
    if (argc > 1 && *end != '\0') {
        for (int i = 1; i < argc; ++i)
            if (const int rc = replay_file(argv[i]); rc != 0) return rc;
        return 0;
    }
    const unsigned long long seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20250101;
    if (ucd_init(UCD_INFO__NULL) != UCD_SUCCESS) {
        std::fprintf(stderr, "%s\n", ucd_last_error());
        return 2;
    }
    const std::vector<FlatBytes> corpus = make_corpus();
    for (unsigned long long i = 0; i < count; ++i) {
        Rng rng(mix_seed(seed, i));
        run(i % 2 == 0 ? changed(rng, corpus) : put_together(rng));
    }
    std::printf("seed %llu: %llu inputs, %zu of them types\n", seed, count, accepted_inputs);
    // A generator whose inputs are all refused at the door tests nothing.
    return accepted_inputs >= count / 20 ? 0 : 1;
}
