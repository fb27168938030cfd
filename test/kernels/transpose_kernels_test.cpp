// Every transpose kernel, on random matrices, against a copy entry by entry; what lies between the
// entries must stay as it is.
#include "kernel_set.h"

#include "support/catch.hpp"
#include "support/random/rng.hpp"

#include <cstring>
#include <vector>

using namespace ucd;
using namespace ucd::seq;
using ucdtest::Rng;

namespace {

std::vector<uint64_t> blocks_of(Leaf leaf) {
    std::vector<uint64_t> blocks;
    for (uint64_t bytes = 1; bytes < 64; ++bytes)
        if (leaf_for_block(bytes) == leaf) blocks.push_back(bytes);
    if (blocks.empty()) blocks = {1, 5, 63}; // any: right for every size
    return blocks;
}

struct Case {
    Matrix matrix;
    std::size_t origin, span; // bytes before, and of, the laid-out side

    Case(Rng &rng, uint64_t block, uint64_t most) : matrix{} {
        Matrix &m = matrix;
        m.block = block;
        m.rows = 1 + rng.below(most);
        m.columns = 1 + rng.below(most);
        const bool dense = rng.chance(70);
        const auto row = static_cast<int64_t>(block + (dense ? 0 : rng.below(70)));
        // Columns that keep apart, at times a round number of bytes.
        const uint64_t gap = rng.chance(30) ? 0 : rng.below(200);
        auto column = static_cast<int64_t>(m.rows) * row + static_cast<int64_t>(gap);
        if (rng.chance(30)) column = (column + 2047) / 2048 * 2048;
        m.packed_row = m.columns * block + (rng.chance(30) ? rng.below(50) : 0);
        if (rng.chance(30)) m.packed_row = (m.packed_row + 63) / 64 * 64;
        const auto rows = static_cast<int64_t>(m.rows), columns = static_cast<int64_t>(m.columns);
        const int64_t low_rows = rng.chance(20) ? (rows - 1) * row : 0;
        const int64_t low_columns = rng.chance(20) ? (columns - 1) * column : 0;
        m.row_stride = low_rows > 0 ? -row : row;
        m.column_stride = low_columns > 0 ? -column : column;
        origin = static_cast<std::size_t>(low_rows + low_columns);
        span = static_cast<std::size_t>((rows - 1) * row + (columns - 1) * column) + block;
    }
};

std::vector<char> random_bytes(Rng &rng, std::size_t size) {
    std::vector<char> bytes(size);
    for (char &b : bytes) b = static_cast<char>(rng.bits());
    return bytes;
}

void check(const TransposeKernelInfo &kernel, Rng &rng, const Case &one) {
    const Matrix &m = one.matrix;
    constexpr std::size_t guard = 128;
    // Both sides at addresses of every kind, also such that fill whole cache lines.
    const auto shift = [&] { return rng.chance(50) ? 0 : rng.below(64); };
    const std::size_t packed_bytes = (m.rows - 1) * m.packed_row + m.columns * m.block;
    std::vector<char> typed = random_bytes(rng, one.span + 2 * guard + 64);
    std::vector<char> packed = random_bytes(rng, packed_bytes + 2 * guard + 64);
    const auto place = [&](std::vector<char> &bytes) {
        const auto begin = reinterpret_cast<uintptr_t>(bytes.data()) + guard;
        return bytes.data() + guard + (64 - begin % 64) % 64 - 64 + shift();
    };
    char *const at = place(typed) + one.origin, *const to = place(packed);
    std::vector<char> expected_typed = typed, expected_packed = packed;
    const bool pack = kernel.direction == Direction::pack;
    for (uint64_t i = 0; i < m.rows; ++i)
        for (uint64_t j = 0; j < m.columns; ++j) {
            const std::ptrdiff_t there = at - typed.data() +
                                         static_cast<int64_t>(i) * m.row_stride +
                                         static_cast<int64_t>(j) * m.column_stride;
            const std::ptrdiff_t here =
                to - packed.data() + static_cast<std::ptrdiff_t>(i * m.packed_row + j * m.block);
            if (pack)
                std::memcpy(expected_packed.data() + here, typed.data() + there, m.block);
            else
                std::memcpy(expected_typed.data() + there, packed.data() + here, m.block);
        }
    kernel.function(m, at, to);
    INFO(kernel.name << ", " << m.rows << " rows of " << m.columns << ", block " << m.block
                     << ", strides " << m.row_stride << " and " << m.column_stride);
    CHECK(typed == expected_typed);
    CHECK(packed == expected_packed);
}

} // namespace

TEST_CASE("every transpose kernel, on random matrices") {
    Rng rng(20261121);
    for (const KernelSet *set : kernel_sets())
        for (const TransposeKernelInfo &kernel : set->transposes) {
            INFO(set->instructions);
            for (const uint64_t block : blocks_of(kernel.leaf))
                for (int i = 0; i < 12; ++i) check(kernel, rng, Case(rng, block, 150));
        }
}

TEST_CASE("transpose kernels, on matrices beyond the caches") {
    Rng rng(20261122);
    for (const KernelSet *set : kernel_sets())
        for (const TransposeKernelInfo &kernel : set->transposes) {
            if (kernel.leaf != Leaf::w8 && kernel.leaf != Leaf::w16) continue;
            const uint64_t block = kernel.leaf == Leaf::w8 ? 8 : 16;
            Case one(rng, block, 1);
            Matrix &m = one.matrix;
            m.rows = 1000;
            m.columns = 6 * 1048576 / block / m.rows + 9;
            m.row_stride = static_cast<int64_t>(block);
            m.column_stride = static_cast<int64_t>(1000 * block);
            m.packed_row = (m.columns * block + 63) / 64 * 64;
            one.origin = 0;
            one.span = static_cast<std::size_t>(m.column_stride) * m.columns;
            for (int i = 0; i < 2; ++i) check(kernel, rng, one);
        }
}

TEST_CASE("the transpose table finds each kernel, and the portable one for other leaves") {
    for (const Direction direction : {Direction::pack, Direction::unpack})
        for (int i = 0; i < static_cast<int>(Leaf::count_); ++i) {
            const TransposeKernel kernel = transpose_kernel(direction, static_cast<Leaf>(i));
            REQUIRE(kernel != nullptr);
            bool own = false;
            for (const TransposeKernelInfo &info : all_transpose_kernels())
                if (info.direction == direction && info.leaf == static_cast<Leaf>(i)) {
                    own = true;
                    CHECK(info.function == kernel);
                    CHECK(transpose_kernel_name(direction, info.leaf) == std::string(info.name));
                }
            if (!own) CHECK(kernel == transpose_kernel(direction, Leaf::m));
        }
}
