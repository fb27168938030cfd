// Arrays whose packed order is another than that in memory, in the memory of devices: packed,
// unpacked and copied to arrays in other orders, whole and in parts, on whatever backend the
// program is linked with.
#include "support/catch.hpp"

#include "support/moves/batch_moves.hpp"
#include "support/moves/device_moves.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

namespace device_permuted_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

struct ArrayItem {
    RecipePtr type;
    std::intptr_t bytes;
};

ArrayItem random_entry(Rng &rng) {
    const RecipePtr byte = leaf(UCD_TYPE__BYTE);
    const ArrayItem entries[] = {{byte, 1},
                                 {leaf(UCD_TYPE__SHORT), 2},
                                 {leaf(UCD_TYPE__FLOAT), 4},
                                 {leaf(UCD_TYPE__DOUBLE), 8},
                                 {contig(2, leaf(UCD_TYPE__DOUBLE)), 16},
                                 {contig(2, byte), 2},
                                 {contig(3, byte), 3},
                                 {contig(12, byte), 12}};
    return entries[rng.below(std::size(entries))];
}

// The number of entries along each of two to eight axes, at least one of which is long enough for
// tiles.
Ints random_shape(Rng &rng, std::intptr_t max_entries) {
    Ints shape(2 + rng.below(7));
    std::intptr_t room = max_entries;
    for (std::intptr_t &count : shape) {
        const std::intptr_t longest = rng.chance(30) ? 150 : 12;
        count = rng.between(1, std::max<std::intptr_t>(1, std::min(room, longest)));
        room /= count;
    }
    rng.shuffle(shape);
    return shape;
}

// The array in a random order of memory, with gaps, upwards and downwards.
RecipePtr in_any_order(Rng &rng, const Ints &shape, const ArrayItem &entry) {
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (rng.chance(85)) rng.shuffle(order);
    const bool with_gaps = rng.chance(30), downwards = rng.chance(20);
    Ints strides(shape.size());
    std::intptr_t stride = entry.bytes;
    for (const std::size_t axis : order) {
        strides[axis] = downwards && rng.chance(30) ? -stride : stride;
        stride *= shape[axis];
        if (with_gaps && rng.chance(40)) stride += rng.between(0, 3) * entry.bytes;
    }
    return ndarray(shape, strides, entry.type);
}

// Buffers start anywhere; mostly one that starts where an entry may.
std::unique_ptr<DeviceBuffer> buffer_for(Rng &rng, TouchedRange range, const ArrayItem &entry,
                                         std::size_t rest = 0) {
    const auto unit = static_cast<std::size_t>(entry.bytes & -entry.bytes);
    const bool anywhere = rng.chance(15);
    for (;;) {
        auto buffer = std::make_unique<DeviceBuffer>(rng, range, device0);
        const auto at = reinterpret_cast<std::uintptr_t>(buffer->real_base());
        if (anywhere || (at - rest) % unit == 0) return buffer;
    }
}

void check_both_ways(Case &one, const ReducedSubject &what, const ArrayItem &entry) {
    Rng &rng = one.rng();
    const std::size_t size = what.subject.size();
    const auto typed = buffer_for(rng, what.subject.range, entry);
    for (int part = 0; part < 3; ++part) {
        const std::size_t offset = part == 0 ? 0 : rng.below(size);
        std::size_t length = part == 0 ? size : 1 + rng.below(size - offset);
        if (part == 2) length = size - offset;
        const auto packed = buffer_for(rng, {0, static_cast<std::intptr_t>(size)}, entry, offset);
        const DeviceMove move{one, UCD_OP__REPLACE, what, *typed, *packed, offset, length};
        check_device_pack(move, "kernel");
        check_device_unpack(move, "kernel");
    }
}

} // namespace

TEST_CASE("arrays in any order of their axes are packed and unpacked in device memory") {
    DeviceSession session;
    run_cases("device permutations", 1200, [](Case &one) {
        Rng &rng = one.rng();
        const ArrayItem entry = random_entry(rng);
        const Ints shape = random_shape(rng, rng.chance(15) ? 20000 : 3000);
        const std::size_t count = rng.chance(20) ? 1 + rng.below(40) : 1;
        RecipePtr array = in_any_order(rng, shape, entry);
        if (count > 1) array = resized(array, 0, entry.bytes * rng.between(1, 2));
        const ReducedSubject what = with_elements(make_subject(one, array, count));
        if (overlaps(what.subject.bytes)) return;
        check_both_ways(one, what, entry);
    });
}

TEST_CASE("arrays in any order of their axes are copied to any other order in device memory") {
    DeviceSession session;
    run_cases("device permuted copies", 800, [](Case &one) {
        Rng &rng = one.rng();
        const ArrayItem entry = random_entry(rng);
        const Ints shape = random_shape(rng, rng.chance(15) ? 20000 : 3000);
        const auto array = [&](const char *role) {
            return with_elements(make_subject(one, in_any_order(rng, shape, entry), 1, role));
        };
        const ReducedSubject source = array("source"), target = array("target");
        const auto in = buffer_for(rng, source.subject.range, entry),
                   out = buffer_for(rng, target.subject.range, entry);
        check_device_copy({one, UCD_OP__REPLACE, source, *in, target, *out, {}}, "kernel");
        check_device_copy({one, UCD_OP__REPLACE, source, *in, target, *out,
                           random_range(rng, source.subject.size(), target.subject.size())},
                          "kernel");
    });
}

TEST_CASE("matrices of single bytes and pairs whose lines begin anywhere") {
    DeviceSession session;
    run_cases("device odd matrices", 200, [](Case &one) {
        Rng &rng = one.rng();
        const bool pairs = rng.chance(50);
        const ArrayItem entry{leaf(pairs ? UCD_TYPE__SHORT : UCD_TYPE__BYTE), pairs ? 2 : 1};
        const std::intptr_t rows = rng.between(30, 300), columns = rng.between(30, 300);
        const std::intptr_t pitch = columns + (rng.chance(50) ? rng.between(0, 5) : 0);
        const RecipePtr matrix =
            ndarray({columns, rows}, {entry.bytes, pitch * entry.bytes}, entry.type);
        check_both_ways(one, with_elements(make_subject(one, matrix, 1)), entry);
    });
}

TEST_CASE("images of a few channels, whose lines consist of vectors or not") {
    DeviceSession session;
    run_cases("device channels", 200, [](Case &one) {
        Rng &rng = one.rng();
        const bool pairs = rng.chance(50);
        const ArrayItem entry{leaf(pairs ? UCD_TYPE__SHORT : UCD_TYPE__BYTE), pairs ? 2 : 1};
        const std::intptr_t unit = rng.chance(80) ? 16 / entry.bytes : 1;
        const std::intptr_t channels = rng.between(2, 5), images = rng.between(1, 3);
        const std::intptr_t rows = rng.chance(50) ? 1 : rng.between(2, 20);
        // Lines of a part of a tile, of which it then has several, or of several tiles.
        const std::intptr_t most = rng.chance(70) ? 6000 : 40'000;
        const std::intptr_t positions = rng.between(1, most / channels / unit / rows) * unit;
        const std::intptr_t pitch = positions + rng.between(0, 2) * unit;
        const std::intptr_t plane = pitch * rows + rng.between(0, 2) * unit;
        const std::intptr_t image = plane * channels + rng.between(0, 2) * unit;
        const std::intptr_t bytes = entry.bytes, up = rng.chance(20) ? -bytes : bytes;
        const auto check = [&](const Ints &counts, const Ints &strides) {
            const RecipePtr array = ndarray(counts, strides, entry.type);
            check_both_ways(one, with_elements(make_subject(one, array, 1)),
                            {entry.type, unit * bytes});
        };
        check({images, rows, positions, channels}, {image * up, pitch * up, bytes, plane * up});
        check({images, channels, rows, positions},
              {image * up, bytes, pitch * channels * up, channels * bytes});
    });
}

} // namespace device_permuted_test
