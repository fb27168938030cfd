// Every move kernel, on random nests and random ranges of blocks, against an enumeration of the
// blocks by plain recursion. Both sides end at, or begin after, a page that faults.
#include "kernel_set.h"

#include "support/catch.hpp"
#include "support/random/rng.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace move_kernels_test {

using namespace ucd;
using namespace ucd::seq;
using ucdtest::Rng;

namespace {

// Pages between two that fault.
class FencedPages {
public:
    explicit FencedPages(std::size_t size)
        : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
        size_ = (size + page_ - 1) / page_ * page_;
        void *const map =
            mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(map != MAP_FAILED);
        begin_ = static_cast<char *>(map) + page_;
        REQUIRE(mprotect(begin_, size_, PROT_READ | PROT_WRITE) == 0);
    }
    FencedPages(const FencedPages &) = delete;
    FencedPages &operator=(const FencedPages &) = delete;
    ~FencedPages() { munmap(begin_ - page_, size_ + 2 * page_); }

    // Random bytes that touch the lower or the upper fence, with guard bytes on the other side.
    std::span<char> place(Rng &rng, std::size_t bytes, bool upper) const {
        REQUIRE(bytes + guard <= size_);
        char *const at = upper ? begin_ + size_ - bytes : begin_;
        for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<char>(rng.bits());
        std::memset(upper ? at - guard : at + bytes, 0x5a, guard);
        return {at, bytes};
    }

    bool guards_hold(std::span<const char> placed) const {
        const bool upper = placed.data() + placed.size() == begin_ + size_;
        const char *const at = upper ? placed.data() - guard : placed.data() + placed.size();
        return std::all_of(at, at + guard, [](char byte) { return byte == 0x5a; });
    }

private:
    static constexpr std::size_t guard = 256;
    std::size_t page_, size_;
    char *begin_;
};

// The bytes of a layout relative to its origin: [low, high).
struct Span {
    int64_t low, high;
    int64_t size() const { return high - low; }
};

// A nest with its tables. Blocks do not overlap, so that the order of unpacking does not matter.
struct RandomNest {
    Nest nest{};
    std::vector<int64_t> displs[max_levels];
    std::vector<uint64_t> first[max_levels];
    Span span{};

    RandomNest(Rng &rng, std::span<const LevelKind> shape, uint64_t block, bool long_runs) {
        nest.block = block;
        span = {0, static_cast<int64_t>(block)};
        for (std::size_t d = shape.size(); d-- > 0;)
            build_level(rng, d, shape[d], d + 1 == shape.size(), long_runs);
    }

    void move_level(std::size_t d, int64_t by) {
        for (int64_t &displ : displs[d]) displ += by;
    }

private:
    static int64_t gap(Rng &rng) { return rng.chance(40) ? 0 : rng.between(0, 40); }

    // Rows of many blocks or runs, small multiples of the block as distances, and distances that
    // are multiples of a power of two are treated in ways of their own, and so are many short rows.
    uint64_t iterations(Rng &rng, LevelKind kind, bool innermost) const {
        if (kind == LevelKind::indexed && !innermost)
            return static_cast<uint64_t>(rng.between(1, 3));
        if (nest.block > 40) return static_cast<uint64_t>(rng.between(1, innermost ? 11 : 3));
        if (!innermost) return static_cast<uint64_t>(rng.between(1, rng.chance(30) ? 13 : 3));
        return static_cast<uint64_t>(rng.between(1, rng.chance(30) ? 90 : 11));
    }

    int64_t distance(Rng &rng) const {
        if (rng.chance(20)) return span.size() * rng.between(1, 4);
        if (rng.chance(5)) return (span.size() + 511) / 512 * 512;
        return span.size() + gap(rng);
    }

    // Strided copies of what `span` covers; widens it.
    int64_t stride_out(Rng &rng, uint64_t count, bool dense) {
        int64_t stride = dense ? span.size() : distance(rng);
        if (!dense && rng.chance(30)) stride = -stride;
        const int64_t shift = static_cast<int64_t>(count - 1) * stride;
        span.low += std::min<int64_t>(shift, 0);
        span.high += std::max<int64_t>(shift, 0);
        return stride;
    }

    void build_level(Rng &rng, std::size_t d, LevelKind kind, bool innermost, bool long_runs) {
        Level &level = nest.level[d];
        level.count = iterations(rng, kind, innermost);
        if (kind == LevelKind::strided) {
            level.stride = stride_out(rng, level.count, false);
            return;
        }
        uint64_t most = 1;
        if (kind == LevelKind::indexed) {
            first[d].push_back(0);
            // Long ones exceed what kernels may treat as short, in bytes.
            const int64_t usual = innermost ? 6 : 3;
            const int64_t longest =
                usual + (innermost && long_runs ? 600 / static_cast<int64_t>(nest.block) : 0);
            for (uint64_t r = 0; r < level.count; ++r) {
                const auto children =
                    static_cast<uint64_t>(rng.between(1, rng.chance(30) ? longest : usual));
                most = std::max(most, children);
                first[d].push_back(first[d].back() + children);
            }
            level.stride = stride_out(rng, most, innermost);
            if (innermost) {
                nest.longest_run = most * nest.block;
                nest.runs = rng.chance(20) ? 100000 : level.count;
            }
        }
        // Slots large enough for every run, in any order.
        for (uint64_t i = 0; i < level.count; ++i) displs[d].push_back(static_cast<int64_t>(i));
        rng.shuffle(displs[d]);
        const int64_t slot = span.size() + gap(rng);
        for (int64_t &displ : displs[d]) displ = displ * slot + rng.between(0, slot - span.size());
        const auto [low, high] = std::minmax_element(displs[d].begin(), displs[d].end());
        span.low += *low;
        span.high += *high;
        level.displs = displs[d].data();
        level.first = first[d].empty() ? nullptr : first[d].data();
    }
};

struct Block {
    int64_t displ;
    Position at;
};

void enumerate(const Nest &nest, std::span<const LevelKind> shape, std::size_t d, Block block,
               std::vector<Block> &blocks) {
    if (d == max_levels || d == shape.size()) {
        blocks.push_back(block);
        return;
    }
    const Level &level = nest.level[d];
    const Block outside = block;
    for (uint64_t i = 0; i < level.count; ++i) {
        const uint64_t children =
            shape[d] == LevelKind::indexed ? level.first[i + 1] - level.first[i] : 1;
        for (uint64_t j = 0; j < children; ++j) {
            block = outside;
            block.at.at[d] = i;
            block.at.in_run[d] = j;
            block.displ += shape[d] == LevelKind::strided
                               ? static_cast<int64_t>(i) * level.stride
                               : level.displs[i]
                                     << (shape[d] == LevelKind::indexed_block ? level.stride : 0);
            if (shape[d] == LevelKind::indexed)
                block.displ += static_cast<int64_t>(j) * level.stride;
            enumerate(nest, shape, d + 1, block, blocks);
        }
    }
}

// Every length that a leaf is for, or a good sample.
std::vector<uint64_t> block_sizes(Leaf leaf) {
    const auto range = [](uint64_t from, uint64_t to, uint64_t step = 1) {
        std::vector<uint64_t> sizes;
        for (uint64_t size = from; size <= to; size += step) sizes.push_back(size);
        return sizes;
    };
    switch (leaf) {
    case Leaf::w1: return {1};
    case Leaf::w2: return {2};
    case Leaf::w4: return {4};
    case Leaf::w8: return {8};
    case Leaf::w16: return {16};
    case Leaf::o3: return {3};
    case Leaf::o8: return range(5, 8);
    case Leaf::o16: return range(9, 16);
    case Leaf::o24: return range(17, 24);
    case Leaf::o32: return range(25, 32);
    case Leaf::o40: return range(33, 40);
    case Leaf::o48: return range(41, 48);
    case Leaf::o64: return range(49, 64);
    case Leaf::o80: return range(65, 80, 3);
    case Leaf::o96: return range(81, 96, 3);
    case Leaf::o128: return range(97, 128, 3);
    case Leaf::p64: return range(65, 513, 28);
    case Leaf::m: return range(1, 701, 35);
    case Leaf::r1: return range(1, 20);
    case Leaf::r2: return range(2, 40, 2);
    case Leaf::r4: return range(4, 80, 4);
    case Leaf::r8: return range(8, 160, 8);
    case Leaf::r16: return range(16, 320, 16);
    case Leaf::count_: break;
    }
    return {};
}

// One random nest and range.
void try_kernel(const MoveKernelInfo &kernel, uint64_t block, Rng &rng,
                const FencedPages &typed_pages, const FencedPages &packed_pages) {
    const std::span<const LevelKind> shape = kernel.shape();
    RandomNest random(rng, shape, block, rng.chance(30));
    std::vector<Block> blocks;
    enumerate(random.nest, shape, 0, {}, blocks);

    std::size_t from = 0, to = blocks.size() - 1;
    if (!rng.chance(20)) {
        from = rng.below(blocks.size());
        to = from + rng.below(blocks.size() - from);
    }
    const std::size_t bytes = (to - from + 1) * block;
    const auto size = static_cast<std::size_t>(random.span.size());
    const std::span<char> typed = typed_pages.place(rng, size, rng.chance(50));
    const std::span<char> packed = packed_pages.place(rng, bytes, rng.chance(50));
    const auto displ_of_origin = static_cast<std::size_t>(-random.span.low);

    std::vector<char> expected_typed(typed.begin(), typed.end());
    std::vector<char> expected_packed(packed.begin(), packed.end());
    for (std::size_t i = from; i <= to; ++i) {
        char *const place = expected_packed.data() + (i - from) * block;
        char *const at = expected_typed.data() + displ_of_origin + blocks[i].displ;
        if (kernel.direction == Direction::pack)
            std::memcpy(place, at, block);
        else
            std::memcpy(at, place, block);
    }

    // Tables may hold absolute addresses, with an origin of NULL.
    char *origin = typed.data() + displ_of_origin;
    for (std::size_t d = 0; d < shape.size() && origin != nullptr; ++d)
        if (shape[d] != LevelKind::strided && rng.chance(50)) {
            random.move_level(d, reinterpret_cast<intptr_t>(origin));
            origin = nullptr;
        }
    kernel.function(random.nest, origin, packed.data(), blocks[from].at, blocks[to].at);

    CHECK(std::equal(typed.begin(), typed.end(), expected_typed.begin()));
    CHECK(std::equal(packed.begin(), packed.end(), expected_packed.begin()));
    CHECK(typed_pages.guards_hold(typed));
    CHECK(packed_pages.guards_hold(packed));
}

std::vector<std::vector<LevelKind>> all_shapes() {
    std::vector<std::vector<LevelKind>> shapes, longest{{}};
    for (unsigned levels = 1; levels <= max_levels; ++levels) {
        std::vector<std::vector<LevelKind>> longer;
        for (const auto &shape : longest)
            for (const LevelKind kind :
                 {LevelKind::strided, LevelKind::indexed_block, LevelKind::indexed}) {
                longer.push_back(shape);
                longer.back().push_back(kind);
            }
        shapes.insert(shapes.end(), longer.begin(), longer.end());
        longest = longer;
    }
    return shapes;
}

std::string expected_name(Direction direction, std::span<const LevelKind> shape,
                          const std::string &leaf) {
    std::string name = direction == Direction::pack ? "pack_" : "unpack_";
    for (const LevelKind kind : shape) name += "sbi"[static_cast<int>(kind)];
    return name + "_" + leaf;
}

constexpr const char *leaf_names[] = {"w1",  "w2",  "w4",  "w8",  "w16", "o3",  "o8",  "o16",
                                      "o24", "o32", "o40", "o48", "o64", "o80", "o96", "o128",
                                      "p64", "m",   "r1",  "r2",  "r4",  "r8",  "r16"};
static_assert(std::size(leaf_names) == static_cast<std::size_t>(Leaf::count_));

bool is_run(Leaf leaf) {
    return leaf >= Leaf::r1;
}

} // namespace

TEST_CASE("move kernels move the blocks of their range and nothing else") {
    const FencedPages typed(std::size_t{1} << 26), packed(std::size_t{1} << 25);
    for (const KernelSet *set : kernel_sets())
        for (const MoveKernelInfo &kernel : set->moves) {
            const uint64_t name_seed = ucdtest::mix_seed(1, kernel.name());
            const std::vector<uint64_t> sizes = block_sizes(kernel.leaf);
            const uint64_t trials = sizes.size() > 1 ? 2 : 12;
            for (const uint64_t block : sizes)
                for (uint64_t trial = 0; trial < trials; ++trial) {
                    const uint64_t seed = ucdtest::mix_seed(name_seed, block * 16 + trial);
                    INFO(set->instructions << ' ' << kernel.name() << ", blocks of " << block
                                           << ", seed " << seed);
                    Rng rng(seed);
                    try_kernel(kernel, block, rng, typed, packed);
                }
        }
}

TEST_CASE("rows that exceed the caches") {
    const uint64_t count = 4099;
    const int64_t distance = 8200;
    const FencedPages typed_pages(count * distance);
    Rng rng(11);
    const auto typed = typed_pages.place(rng, 0, false);
    for (const KernelSet *set : kernel_sets())
        for (const LevelKind outer : {LevelKind::strided, LevelKind::indexed_block})
            for (const uint64_t block : {4, 8})
                for (const bool backwards : {false, true})
                    for (const std::size_t misalignment : {0, 8, 3}) {
                        INFO(set->instructions << ", blocks of " << block << ", " << backwards
                                               << ", misaligned by " << misalignment);
                        // One long row, alone and inside of a level with two of it.
                        const int64_t second_row = 64;
                        const int64_t displs[] = {0, second_row};
                        Nest nest{};
                        nest.block = block;
                        nest.level[0] = {2, second_row, displs, nullptr};
                        nest.level[1] = {count, backwards ? -distance : distance, nullptr, nullptr};
                        char *const origin =
                            typed.data() + (backwards ? (count - 1) * distance : 0);
                        for (uint64_t i = 0; i < count; ++i)
                            for (const int64_t row : displs) {
                                char *const at = typed.data() + i * distance + row;
                                for (uint64_t b = 0; b < block; ++b)
                                    at[b] = static_cast<char>(rng.bits());
                            }
                        std::vector<char> packed(2 * count * block + 64 + misalignment, 0x5a);
                        char *const begin =
                            packed.data() +
                            (64 - reinterpret_cast<uintptr_t>(packed.data()) % 64) % 64 +
                            misalignment;
                        const LevelKind shape[] = {outer, LevelKind::strided};
                        const MoveKernelInfo &kernel = *set->moves.find(
                            Direction::pack, std::span(shape), leaf_for_block(block));
                        const Position first{{0, 5, 0}, {}}, last{{1, count - 2, 0}, {}};
                        kernel.function(nest, origin, begin, first, last);
                        std::size_t wrong = 0;
                        const char *p = begin;
                        for (int64_t row = 0; row < 2; ++row)
                            for (uint64_t i = row == 0 ? 5 : 0; i < count - (row == 1); ++i) {
                                const uint64_t place = backwards ? count - 1 - i : i;
                                wrong +=
                                    std::memcmp(p, typed.data() + place * distance + displs[row],
                                                block) != 0;
                                p += block;
                            }
                        CHECK(wrong == 0);
                        CHECK(std::all_of(packed.data(), begin, [](char b) { return b == 0x5a; }));
                        CHECK(std::all_of(static_cast<const char *>(p),
                                          static_cast<const char *>(packed.data() + packed.size()),
                                          [](char b) { return b == 0x5a; }));
                    }
}

TEST_CASE("the move table finds each kernel, and the portable one where a leaf does not fit") {
    std::set<std::string> names;
    std::set<MoveKernel> functions;
    for (const auto &shape : all_shapes()) {
        const bool runs = shape.back() == LevelKind::indexed;
        for (const Direction direction : {Direction::pack, Direction::unpack})
            for (int i = 0; i < static_cast<int>(Leaf::count_); ++i) {
                const Leaf leaf = static_cast<Leaf>(i);
                const bool fits = is_run(leaf) == runs;
                const std::string name = expected_name(direction, shape,
                                                       fits   ? leaf_names[i]
                                                       : runs ? "r1"
                                                              : "m");
                const MoveKernelInfo &kernel = move_kernel(direction, shape, leaf);
                CHECK(kernel.name() == name);
                CHECK(kernel.function != nullptr);
                names.insert(name);
                functions.insert(kernel.function);
            }
    }
    for (const KernelSet *set : kernel_sets()) CHECK(set->moves.size() == names.size());
#if defined(__AARCH64EL__)
    const std::string by_default = "neon";
#else
    const std::string by_default = "baseline";
#endif
    CHECK(kernel_sets().back()->instructions == by_default);
    CHECK(functions.size() == names.size());
    for (const MoveKernelInfo &kernel : kernel_sets()[0]->moves)
        CHECK(&move_kernel(kernel.direction, kernel.shape(), kernel.leaf) == &kernel);
}

TEST_CASE("leaves by size") {
    for (uint64_t bytes = 1; bytes <= 600; ++bytes) {
        INFO(bytes);
        const Leaf leaf = leaf_for_block(bytes);
        CHECK_FALSE(is_run(leaf));
        const auto sizes = block_sizes(leaf);
        if (leaf != Leaf::m) CHECK(sizes.front() <= bytes);
        if (bytes <= 64) CHECK(std::count(sizes.begin(), sizes.end(), bytes) == 1);
        if (leaf == Leaf::m) CHECK(bytes > 512);
        CHECK(is_run(leaf_for_runs(bytes)));
    }
    CHECK(leaf_for_runs(1) == Leaf::r1);
    CHECK(leaf_for_runs(6) == Leaf::r2);
    CHECK(leaf_for_runs(12) == Leaf::r4);
    CHECK(leaf_for_runs(8) == Leaf::r8);
    CHECK(leaf_for_runs(24) == Leaf::r8);
    CHECK(leaf_for_runs(128) == Leaf::r16);
}

} // namespace move_kernels_test
