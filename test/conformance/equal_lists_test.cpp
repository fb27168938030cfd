// Types that have the same lists at several places, under other children: nothing that depends on a
// child may be shared with them.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/moves/exercise.hpp"
#include "support/moves/flat_bytes.hpp"
#include "support/moves/moving.hpp"

#include <algorithm>
#include <array>

namespace equal_lists_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

// Irregular blocks: their lengths, and the distances from the first byte of one to that of the
// next.
struct Blocks {
    std::size_t blocks;
    std::intptr_t length, lengths; // the shortest, and how many there are
    std::intptr_t gap, gaps;       // the same of what is between two blocks
};

RecipePtr over(const Blocks &b, std::intptr_t each, const RecipePtr &old) {
    Ints lengths, displs;
    std::intptr_t at = 0;
    for (std::size_t i = 0; i < b.blocks; ++i) {
        const auto k = static_cast<std::intptr_t>(i * i % 1009);
        lengths.push_back(b.length + k % b.lengths);
        displs.push_back(at);
        at += lengths.back() * each + b.gap + k % 11 % b.gaps;
    }
    return hindexed(lengths, displs, old);
}

// Some children touch the next one, whose bytes then begin no segment: equal children are unequal
// entries, but not those of the list below. The last block is in front of the others, so that
// children end 40 bytes behind their first byte, as some neighbours in the list are apart.
RecipePtr touching(std::intptr_t blocks) {
    Ints displs{0};
    for (std::intptr_t i = 0; i < blocks; ++i) displs.push_back(80 + 44 * i + i * i % 7 * 4);
    displs.push_back(36);
    return hindexed_block(1, displs, hindexed_block(1, displs, leaf(UCD_TYPE__INT)));
}

// Runs of blocks of which some touch, of two sizes and in units of their size.
RecipePtr two_widths() {
    Ints wide, narrow;
    std::intptr_t at = 0;
    for (std::intptr_t i = 0; i < 2000; ++i) {
        for (std::intptr_t k = 0; k <= i * i % 7 % 2; ++k) {
            wide.push_back(at + 16 * k);
            narrow.push_back(at + 8 * k);
        }
        at += 100 + i * i % 11 * 16;
    }
    return structure({1, 1}, {0, at},
                     {hindexed_block(2, wide, leaf(UCD_TYPE__DOUBLE)),
                      hindexed_block(1, narrow, leaf(UCD_TYPE__DOUBLE))});
}

// Segments in chunks of one and of some, from every place that is a multiple of a step.
void check_segments(const Case &one, const ByteMap &bytes, ucd_type_t type) {
    const std::vector<Segment> wanted = segments(bytes);
    std::uintptr_t number = 0, covered = 0;
    one.succeed(ucd_iov_len(1, type, &number), "ucd_iov_len");
    if (number != wanted.size()) one.fail(number, " segments, not ", wanted.size());
    const std::size_t step = 1 + wanted.size() / 50000;
    std::uintptr_t offset = 0;
    std::array<iovec, 5> found;
    for (std::size_t from = 0; from < wanted.size(); offset += wanted[from++].bytes) {
        if (from % step != 0) continue;
        const std::size_t room = 1 + from % found.size();
        const std::size_t expected = std::min(room, wanted.size() - from);
        const auto check = [&](const char *call) {
            bool right = number == expected;
            for (std::size_t i = 0; right && i < expected; ++i)
                right =
                    reinterpret_cast<std::intptr_t>(found[i].iov_base) == wanted[from + i].displ &&
                    found[i].iov_len == wanted[from + i].bytes;
            if (!right) one.fail(call, " from segment ", from, ", room ", room, ": other segments");
        };
        one.succeed(ucd_iov(nullptr, 1, type, from, found.data(), room, &number), "ucd_iov");
        check("ucd_iov");
        one.succeed(ucd_iov_bytes(nullptr, 1, type, offset, UINTPTR_MAX, found.data(), room,
                                  &number, &covered),
                    "ucd_iov_bytes");
        check("ucd_iov_bytes");
        one.succeed(ucd_iov_len_max(1, type, offset, &number, &covered), "ucd_iov_len_max");
        if (number != from || covered != offset)
            one.fail("ucd_iov_len_max of ", offset, " bytes: ", number, ", not ", from);
    }
}

void check_boxes(const Case &one, const ByteMap &bytes, ucd_type_t type) {
    std::uintptr_t listed = 0, total = 0;
    one.succeed(ucd_get_boxes(1, type, 0, nullptr, 0, &listed, &total), "ucd_get_boxes");
    std::vector<ucd_box_t> boxes(total);
    for (std::uintptr_t first = 0; first < total; first += listed)
        one.succeed(ucd_get_boxes(1, type, first, boxes.data() + first,
                                  std::min<std::uintptr_t>(total - first, 1000), &listed, &total),
                    "ucd_get_boxes");
    ByteMap found;
    for (const ucd_box_t &box : boxes) {
        if (box.offset != found.size() || box.dims > 2) one.fail("another box");
        for (std::uint64_t i = 0; i < box.count[0]; ++i)
            for (std::uint64_t j = 0; j < (box.dims > 1 ? box.count[1] : 1); ++j)
                for (std::uint64_t k = 0; k < box.block; ++k)
                    found.push_back(box.start + static_cast<std::int64_t>(i) * box.stride[0] +
                                    static_cast<std::int64_t>(j) * box.stride[1] +
                                    static_cast<std::int64_t>(k));
    }
    if (found != bytes) one.fail("the boxes are other bytes");
}

void check_moves(Case &one, const Subject &subject, ucd_type_t type) {
    GuardedBuffer memory(one.rng(), subject.range);
    GuardedBuffer packed = packed_buffer(one.rng(), subject.size());
    MemoryLocation where = place(subject, memory);
    where.type = type;
    const std::size_t middle = subject.size() / 2 + 3;
    check_pack(one, where, 0, subject.size(), packed);
    packed.randomise(one.rng());
    check_pack(one, where, middle, subject.size() / 3, packed);
    packed.randomise(one.rng());
    check_unpack(one, packed, subject.size(), where, 0);
    packed.randomise(one.rng());
    check_unpack(one, packed, subject.size() / 3, where, middle);
}

void check_all(Case &one, const Subject &subject, ucd_type_t type) {
    check_segments(one, subject.bytes, type);
    check_boxes(one, subject.bytes, type);
    check_moves(one, subject, type);
    exercise(type, subject.size() / 2);
}

} // namespace

TEST_CASE("Types with equal lists under other children") {
    const RecipePtr byte = leaf(UCD_TYPE__BYTE), number = leaf(UCD_TYPE__INT);
    const Blocks few{10, 90, 20, 20, 5}, some{100, 5, 3, 20, 5}, many{300, 4, 3, 8, 9},
        spread{100, 5, 3, 40, 11}, short_one{12, 4, 3, 8, 3};
    const RecipePtr recipes[] = {
        over(few, 1, over(few, 1, byte)),
        over(some, 1, over(some, 1, byte)),
        over(some, 4, over(some, 4, number)),
        over(many, 1, over(many, 1, byte)),
        // A list of other blocks in between.
        over(short_one, 1, over({20, 4, 2, 8, 3}, 1, contig(2, over(short_one, 1, byte)))),
        // Equal displacements under other lengths, and the other way round.
        over({100, 5, 4, 40, 11}, 4, over(spread, 4, number)),
        over(spread, 4, over({100, 5, 3, 41, 11}, 4, number)),
        touching(300),
        two_widths(),
    };
    run_cases("equal lists", std::size(recipes), [&](Case &one) {
        const Subject subject = make_subject(one, recipes[one.number() % std::size(recipes)], 1);
        check_all(one, subject, subject.type());
        std::uintptr_t size = 0;
        one.succeed(ucd_flatten_size(subject.type(), &size), "ucd_flatten_size");
        FlatBytes bytes(size);
        one.succeed(ucd_flatten(subject.type(), bytes.data(), size), "ucd_flatten");
        ucd_type_t made = UCD_TYPE__NULL;
        one.succeed(ucd_unflatten(&made, bytes.data(), size), "ucd_unflatten");
        const BuiltType again(made);
        check_all(one, subject, made);
    });
}

} // namespace equal_lists_test
