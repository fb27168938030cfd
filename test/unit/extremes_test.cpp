// Arguments at the edges: nothing at all, absolute, and far beyond 32 bits.
#include "support/catch.hpp"

#include "support/moves/move_now.hpp"
#include "support/moves/recipe_build.hpp"
#include "support/oracle/byte_map.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <sys/mman.h>
#include <vector>

namespace extremes_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

const RecipePtr byte = leaf(UCD_TYPE__BYTE), int_ = leaf(UCD_TYPE__INT),
                double_ = leaf(UCD_TYPE__DOUBLE);
const ucd_op_t replace = UCD_OP__REPLACE;

// Each constructor around `old`, with nothing in it.
std::vector<RecipePtr> emptied(const RecipePtr &old) {
    const int C = UCD_ORDER__C, F = UCD_ORDER__FORTRAN, CYCLIC = UCD_DISTRIBUTE__CYCLIC;
    return {
        contig(0, old),
        vector(0, 3, 5, old),
        vector(3, 0, 5, old),
        hvector(0, 3, -5, old),
        hvector(3, 0, -5, old),
        indexed_block(3, {}, old),
        indexed_block(0, {5, -6}, old),
        hindexed_block(0, {INTPTR_MAX, INTPTR_MIN}, old),
        indexed({}, {}, old),
        indexed({0, 0}, {3, -4}, old),
        hindexed({0, 0}, {INTPTR_MAX, INTPTR_MIN}, old),
        structure({}, {}, {}),
        structure({0, 0}, {INTPTR_MAX, INTPTR_MIN}, {old, double_}),
        subarray({4, 5}, {0, 5}, {4, 0}, C, old),
        subarray({0, 5}, {0, 5}, {0, 0}, F, old),
        darray(3, 2, {2, 5}, {CYCLIC, CYCLIC}, {1, 1}, {3, 1}, C, old),
        darray(1, 0, {0}, {CYCLIC}, {1}, {1}, F, old),
        ndarray({3, 0, 2}, {INTPTR_MAX, INTPTR_MAX, INTPTR_MIN}, old),
    };
}

// The same with something in them, if there is something in `old`.
std::vector<RecipePtr> filled(const RecipePtr &old) {
    return {
        contig(3, old),
        dup(old),
        vector(2, 3, -4, old),
        hvector(2, 3, 9, old),
        indexed_block(2, {1, -5}, old),
        hindexed_block(2, {1, -5}, old),
        indexed({1, 2}, {7, -7}, old),
        hindexed({1, 2}, {7, -7}, old),
        structure({1, 2}, {3, -90}, {old, old}),
        subarray({4, 5}, {2, 3}, {1, 2}, UCD_ORDER__FORTRAN, old),
        darray(2, 0, {5}, {UCD_DISTRIBUTE__CYCLIC}, {2}, {2}, UCD_ORDER__C, old),
        ndarray({2, 3}, {-7, 0}, old),
        resized(old, -3, 50),
    };
}

void check_empty(const RecipePtr &recipe) {
    INFO(to_text(*recipe));
    const TypeMap map = type_map(*recipe);
    REQUIRE(map.size == 0);
    const BuiltType built(recipe);
    const ucd_type_t t = built.get();
    for (const std::uintptr_t count : {std::uintptr_t{0}, std::uintptr_t{1}, UINTPTR_MAX}) {
        std::uintptr_t size = 7, other = 7;
        std::intptr_t lb = 7, extent = 7;
        CHECK((ucd_get_size(t, &size) == UCD_SUCCESS && size == 0));
        CHECK(ucd_get_extent(t, &lb, &extent) == UCD_SUCCESS);
        CHECK((lb == map.lb && extent == map.extent));
        CHECK(ucd_get_true_extent(t, &lb, &extent) == UCD_SUCCESS);
        CHECK((lb == 0 && extent == 0));
        ucd_layout_t layout;
        std::memset(static_cast<void *>(&layout), 0x5a, sizeof layout);
        layout.struct_size = sizeof layout;
        ucd_layout_t wanted = {};
        wanted.struct_size = sizeof wanted;
        wanted.contiguous = 1;
        CHECK(ucd_get_layout(count, t, &layout) == UCD_SUCCESS);
        CHECK(std::memcmp(&layout, &wanted, sizeof layout) == 0);
        size = 7;
        CHECK((ucd_iov_len(count, t, &size) == UCD_SUCCESS && size == 0));
        CHECK((ucd_iov_len_max(count, t, 100, &size, &other) == UCD_SUCCESS && size == 0 &&
               other == 0));
        iovec entry = {};
        CHECK((ucd_iov(nullptr, count, t, 0, &entry, 1, &size) == UCD_SUCCESS && size == 0));
        CHECK((ucd_iov_bytes(nullptr, count, t, 0, 9, &entry, 1, &size, &other) == UCD_SUCCESS &&
               size == 0));
        for (const ucd_op_t op : {replace, ucd_op_t{UCD_OP__SUM}, ucd_op_t{UCD_OP__MAXLOC}}) {
            // No op is refused: nothing in the type lacks it.
            size = 7;
            CHECK((ucd_pack(nullptr, count, t, 0, nullptr, 0, &size, nullptr, op) == UCD_SUCCESS &&
                   size == 0));
            CHECK((ucd_pack(nullptr, count, t, 0, nullptr, 9, &size, nullptr, op) == UCD_SUCCESS &&
                   size == 0));
            CHECK(
                (ucd_unpack(nullptr, 9, nullptr, count, t, 0, &size, nullptr, op) == UCD_SUCCESS &&
                 size == 0));
            CHECK((ucd_copy(nullptr, count, t, nullptr, count, t, &size, nullptr, op) ==
                       UCD_SUCCESS &&
                   size == 0));
        }
    }
    std::uintptr_t needed = 0;
    std::vector<char> text(1 << 16);
    CHECK(ucd_describe(t, text.data(), text.size(), &needed) == UCD_SUCCESS);
    CHECK(std::strlen(text.data()) + 1 == needed);
}

// Address space without memory, but for the pages that a test asks for.
class Reserved {
public:
    explicit Reserved(std::size_t bytes) : bytes_(bytes) {
        base_ = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    Reserved(const Reserved &) = delete;
    Reserved &operator=(const Reserved &) = delete;
    ~Reserved() {
        if (available()) munmap(base_, bytes_);
    }
    // Some machines and tools do not give that much.
    bool available() const { return base_ != MAP_FAILED; }
    unsigned char *base() const { return static_cast<unsigned char *>(base_); }
    // Lets [at, at + bytes) be used; whole pages around it are.
    unsigned char *open(std::size_t at, std::size_t bytes) {
        const std::size_t page = 4096, begin = at / page * page,
                          end = (at + bytes + page - 1) / page * page;
        REQUIRE(mprotect(base() + begin, end - begin, PROT_READ | PROT_WRITE) == 0);
        return base() + at;
    }

private:
    std::size_t bytes_;
    void *base_;
};

const std::uintptr_t K = 1024, M = K * K, G = K * M, T = K * G;
std::intptr_t s(std::uintptr_t n) {
    return static_cast<std::intptr_t>(n);
}

// Packs 64 bytes of the stream, of which only those bytes and a few around them have memory, and
// unpacks them again. Byte i of the 64 lies at `displ(i)`.
template <class Displ>
void check_far(Reserved &space, const RecipePtr &recipe, std::uintptr_t count,
               std::uintptr_t offset, Displ displ) {
    INFO(count << " x " << to_text(*recipe) << " from " << offset);
    const BuiltType type(recipe);
    unsigned char packed[64], wanted[64];
    for (std::uintptr_t i = 0; i < 64; ++i)
        *space.open(displ(i), 1) = wanted[i] = static_cast<unsigned char>(i * 3 + 1);
    std::uintptr_t entries = 0, bytes = 0;
    CHECK(pack_now(space.base(), count, type.get(), offset, packed, 64, nullptr, replace) == 64);
    CHECK(std::memcmp(packed, wanted, 64) == 0);
    for (std::uintptr_t i = 0; i < 64; ++i) space.base()[displ(i)] = 0;
    CHECK(unpack_now(wanted, 64, space.base(), count, type.get(), offset, nullptr, replace) == 64);
    for (std::uintptr_t i = 0; i < 64; ++i) CHECK(space.base()[displ(i)] == wanted[i]);
    iovec pieces[64];
    REQUIRE(ucd_iov_bytes(space.base(), count, type.get(), offset, 64, pieces, 64, &entries,
                          &bytes) == UCD_SUCCESS);
    CHECK(bytes == 64);
    std::uintptr_t at = 0;
    for (std::uintptr_t i = 0; i < entries; ++i)
        for (std::uintptr_t j = 0; j < pieces[i].iov_len; ++j, ++at)
            CHECK(static_cast<unsigned char *>(pieces[i].iov_base) + j == space.base() + displ(at));
}

} // namespace

TEST_CASE("Nothing in any constructor, and nothing in that") {
    for (const RecipePtr &empty : emptied(int_)) {
        check_empty(empty);
        for (const RecipePtr &outer : filled(empty)) check_empty(outer);
        for (const RecipePtr &outer : emptied(empty)) check_empty(outer);
    }
}

TEST_CASE("Absolute displacements of several objects") {
    std::vector<double> a(10);
    std::vector<int> b(10);
    char c = 'c';
    for (int i = 0; i < 10; ++i) {
        a[static_cast<std::size_t>(i)] = i;
        b[static_cast<std::size_t>(i)] = -i;
    }
    const auto address = [](const void *p) { return reinterpret_cast<std::intptr_t>(p); };
    const BuiltType type(
        structure({3, 2, 1}, {address(&a[2]), address(&b[5]), address(&c)}, {double_, int_, byte}));
    struct {
        double a[3];
        int b[2];
        char c;
    } out = {};
    CHECK(pack_now(nullptr, 1, type.get(), 0, &out, 33, nullptr, replace) == 33);
    CHECK((out.a[0] == 2 && out.a[2] == 4 && out.b[0] == -5 && out.b[1] == -6 && out.c == 'c'));
}

TEST_CASE("2^40 elements that are one in memory") {
    const int value = std::bit_cast<int>(std::array<unsigned char, 4>{1, 2, 3, 4});
    const std::uintptr_t n = std::uintptr_t{1} << 40;
    for (const auto &[recipe, count] : std::vector<std::pair<RecipePtr, std::uintptr_t>>{
             {contig(s(n), ndarray({4}, {0}, resized(int_, 0, 0))), 1},
             {contig(s(n), resized(ndarray({4}, {0}, int_), 0, 0)), 1},
             {ndarray({s(n), 4}, {0, 0}, int_), 1},
             {ndarray({1 << 20, 1 << 20, 4}, {0, 0, 0}, int_), 1},
             {hvector(s(n), 1, 0, hindexed_block(1, {0, 0, 0, 0}, int_)), 1},
             {resized(hindexed({2, 1, 1}, {0, 0, 0}, resized(int_, 0, 0)), 0, 0), n},
         }) {
        INFO(count << " x " << to_text(*recipe));
        const BuiltType type(recipe);
        ucd_layout_t layout = {};
        layout.struct_size = sizeof layout;
        REQUIRE(ucd_get_layout(count, type.get(), &layout) == UCD_SUCCESS);
        CHECK(layout.bytes == 16 * n);
        CHECK(layout.segments == 4 * n);
        CHECK((layout.min_segment == 4 && layout.max_segment == 4));
        CHECK((layout.low == 0 && layout.high == 4 && layout.contiguous == 0));
        for (const std::uintptr_t offset : {std::uintptr_t{0}, 4 * G + 2, 8 * n + 3, 16 * n - 9}) {
            unsigned char packed[9] = {};
            std::uintptr_t moved = 0;
            REQUIRE(ucd_pack(&value, count, type.get(), offset, packed, 9, &moved, nullptr,
                             replace) == UCD_SUCCESS);
            REQUIRE(moved == 9);
            for (std::uintptr_t i = 0; i < 9; ++i) REQUIRE(packed[i] == (offset + i) % 4 + 1);
        }
        int sums[2] = {1, 2};
        std::uintptr_t moved = 0;
        REQUIRE(ucd_pack(&value, count, type.get(), 16 * n - 8, sums, 100, &moved, nullptr,
                         UCD_OP__SUM) == UCD_SUCCESS);
        CHECK((moved == 8 && sums[0] == value + 1 && sums[1] == value + 2));
        std::uintptr_t number = 0, bytes = 0;
        REQUIRE(ucd_iov_len_max(count, type.get(), 12 * n + 3, &number, &bytes) == UCD_SUCCESS);
        CHECK((number == 3 * n && bytes == 12 * n));
    }
}

// An emulator of a process keeps a note of each page, of which these are half a billion.
TEST_CASE("Bytes beyond 2^40, where nothing else has memory", "[native]") {
    Reserved space(2 * T + M);
    if (!space.available()) return;
    const auto contiguous = [](std::uintptr_t offset) {
        return [=](std::uintptr_t i) { return offset + i; };
    };
    check_far(space, contig(s(2 * T), byte), 1, T + 5, contiguous(T + 5));
    check_far(space, contig(s(T / 4), int_), 2, 2 * T - 64, contiguous(2 * T - 64));
    check_far(space, int_, T / 2, T + G + 2, contiguous(T + G + 2));
    // 8 of 256 bytes.
    const auto strided = [](std::uintptr_t offset) {
        return [=](std::uintptr_t i) { return (offset + i) / 8 * 256 + (offset + i) % 8; };
    };
    const RecipePtr column = vector(s(8 * G), 1, 32, double_);
    check_far(space, column, 1, 63 * G + 3, strided(63 * G + 3));
    check_far(space, vector(s(4 * G), 1, 32, double_), 1, 4 * G + 5, strided(4 * G + 5));
    check_far(space, resized(double_, 0, 256), 8 * G, 40 * G + 1, strided(40 * G + 1));
    check_far(space, ndarray({1 << 12, 1 << 21}, {s(512 * M), 256}, double_), 1, 33 * G + 7,
              strided(33 * G + 7));
    // Blocks that are far apart.
    const RecipePtr far = hindexed_block(
        1,
        {0, s(T), s(7 * G), s(2 * T - 16), s(T + 5000), 300, 600, 4000, 8000, 12000, 16000, 20000},
        double_);
    const ByteMap far_bytes = byte_map(*far, 1);
    check_far(space, far, 1, 3,
              [&](std::uintptr_t i) { return static_cast<std::uintptr_t>(far_bytes[i + 3]); });
    // Part of a matrix of 2^40 bytes, by rows and by columns.
    const auto part = [](std::uintptr_t offset, std::uintptr_t row, std::uintptr_t width) {
        return [=](std::uintptr_t i) {
            return (1 + (offset + i) / width) * row + 3 + (offset + i) % width;
        };
    };
    check_far(space, subarray({s(M), s(M)}, {s(M / 2), 1000}, {1, 3}, UCD_ORDER__C, byte), 1,
              400 * M + 990, part(400 * M + 990, M, 1000));
    check_far(space, subarray({s(M), s(M)}, {5, s(M / 2)}, {3, 1}, UCD_ORDER__FORTRAN, byte), 1,
              2 * M + 1, part(2 * M + 1, M, 5));
    // Runs of 2^32 elements and more.
    check_far(space, hindexed({s(G), s(5 * G), s(3 * G)}, {0, s(64 * G), s(1500 * G)}, int_), 1,
              20 * G + 2, contiguous(64 * G + 16 * G + 2));
}

TEST_CASE("More segments than 2^32") {
    const std::uintptr_t n = 8 * G;
    const BuiltType column(vector(s(n), 1, 4, leaf(UCD_TYPE__SHORT)));
    std::uintptr_t number = 0, bytes = 0;
    REQUIRE(ucd_iov_len(1, column.get(), &number) == UCD_SUCCESS);
    CHECK(number == n);
    iovec entries[2];
    REQUIRE(ucd_iov(nullptr, 1, column.get(), n - 1, entries, 2, &number) == UCD_SUCCESS);
    CHECK((number == 1 && reinterpret_cast<std::uintptr_t>(entries[0].iov_base) == (n - 1) * 8));
    REQUIRE(ucd_iov_len_max(1, column.get(), n + 1, &number, &bytes) == UCD_SUCCESS);
    CHECK((number == n / 2 && bytes == n));
}

} // namespace extremes_test
