// Every constructor: what a type says of itself, what pack, unpack and I/O vectors do with it, and
// what becomes of it as bytes.
#include "support/catch.hpp"

#include "yaksa_build.hpp"

#include "support/buffers/guarded_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace moves_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

constexpr std::uintptr_t untouched = 0x5a5a5a5a5a5a;

struct Said {
    std::uintptr_t size = untouched;
    std::intptr_t lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    friend bool operator==(const Said &, const Said &) = default;
};

Said said_of(const Case &one, yaksa_type_t type) {
    Said said;
    succeed(one, yaksa_type_get_size(type, &said.size), "get_size");
    succeed(one, yaksa_type_get_extent(type, &said.lb, &said.extent), "get_extent");
    succeed(one, yaksa_type_get_true_extent(type, &said.true_lb, &said.true_extent),
            "get_true_extent");
    return said;
}

void check_bounds(const Case &one, const TypeMap &map, yaksa_type_t type) {
    const Said said = said_of(one, type);
    if (said == Said{map.size, map.lb, map.extent, map.true_lb, map.true_extent}) return;
    one.fail("size ", said.size, ", lb ", said.lb, ", extent ", said.extent, ", true ",
             said.true_lb, " and ", said.true_extent, "; not ", map.size, ", ", map.lb, ", ",
             map.extent, ", ", map.true_lb, " and ", map.true_extent);
}

GuardedBuffer typed_buffer(Rng &rng, const YaksaSubject &subject) {
    return GuardedBuffer(rng, touched_range(subject.bytes));
}

void check_buffer(const Case &one, const ImageBuffer &buffer, const char *what) {
    if (buffer.first_difference()) one.fail(what, ": ", buffer.difference());
}

// Sometimes with a request: on the host there is nothing to wait for.
void check_pack(Case &one, const YaksaSubject &subject, yaksa_type_t type, std::size_t offset,
                std::size_t room) {
    Rng &rng = one.rng();
    const std::size_t end = subject.boundary(offset + std::min(room, subject.size() - offset));
    const std::size_t bytes = end > offset ? end - offset : 0;
    const GuardedBuffer source = typed_buffer(rng, subject);
    GuardedBuffer packed = packed_buffer(rng, room);
    for (std::size_t i = 0; i < bytes; ++i)
        *packed.expected(static_cast<std::intptr_t>(i)) = *source.actual(subject.bytes[offset + i]);
    std::uintptr_t actual = untouched;
    if (rng.chance(50)) {
        succeed(one,
                yaksa_pack(source.base(), subject.count, type, offset, packed.base(), room, &actual,
                           nullptr, YAKSA_OP__REPLACE),
                "pack");
    } else {
        yaksa_request_t request = 17;
        succeed(one,
                yaksa_ipack(source.base(), subject.count, type, offset, packed.base(), room,
                            &actual, nullptr, YAKSA_OP__REPLACE, &request),
                "ipack");
        if (request != YAKSA_REQUEST__NULL) one.fail("a request on the host");
    }
    if (actual != bytes)
        one.fail("packed ", actual, " bytes of ", offset, "+", room, ", not ", bytes);
    check_buffer(one, packed, "pack");
    check_buffer(one, source, "the source of pack");
}

void check_unpack(Case &one, const YaksaSubject &subject, yaksa_type_t type, std::size_t offset,
                  std::size_t room) {
    Rng &rng = one.rng();
    const std::size_t end = subject.boundary(offset + std::min(room, subject.size() - offset));
    const std::size_t bytes = end > offset ? end - offset : 0;
    GuardedBuffer packed = packed_buffer(rng, room);
    GuardedBuffer target = typed_buffer(rng, subject);
    for (std::size_t i = 0; i < bytes; ++i)
        *target.expected(subject.bytes[offset + i]) = *packed.actual(static_cast<std::intptr_t>(i));
    std::uintptr_t actual = untouched;
    if (rng.chance(50)) {
        succeed(one,
                yaksa_unpack(packed.base(), room, target.base(), subject.count, type, offset,
                             &actual, nullptr, YAKSA_OP__REPLACE),
                "unpack");
    } else {
        yaksa_request_t request = 17;
        succeed(one,
                yaksa_iunpack(packed.base(), room, target.base(), subject.count, type, offset,
                              &actual, nullptr, YAKSA_OP__REPLACE, &request),
                "iunpack");
        if (request != YAKSA_REQUEST__NULL) one.fail("a request on the host");
    }
    if (actual != bytes)
        one.fail("unpacked ", actual, " bytes of ", offset, "+", room, ", not ", bytes);
    check_buffer(one, target, "unpack");
}

std::size_t random_offset(Rng &rng, const YaksaSubject &subject) {
    return rng.chance(30) ? rng.below(subject.size() + 1)
                          : subject.boundary(rng.below(subject.size() + 1));
}

std::size_t random_room(Rng &rng, const YaksaSubject &subject, std::size_t offset) {
    return rng.chance(50) ? rng.mostly_small(subject.size() + 8)
                          : subject.size() - offset + rng.below(9);
}

void check_moves(Case &one, const YaksaSubject &subject, yaksa_type_t type) {
    Rng &rng = one.rng();
    check_pack(one, subject, type, 0, subject.size());
    for (int i = 0; i < 4; ++i) {
        const std::size_t offset = random_offset(rng, subject);
        check_pack(one, subject, type, offset, random_room(rng, subject, offset));
    }
    if (subject.size() == 0 || overlaps(subject.bytes)) return;
    check_unpack(one, subject, type, 0, subject.size());
    for (int i = 0; i < 4; ++i) {
        const std::size_t offset = random_offset(rng, subject);
        check_unpack(one, subject, type, offset, random_room(rng, subject, offset));
    }
}

// Those of each element, not joined; of a contiguous type one for all.
std::vector<Segment> yaksa_segments(const YaksaSubject &subject) {
    const std::vector<Segment> of_one = segments(byte_map(subject.map, 1));
    const bool contiguous =
        of_one.size() <= 1 && subject.map.extent == static_cast<std::intptr_t>(subject.map.size);
    if (contiguous) return {{subject.map.true_lb, subject.size()}};
    std::vector<Segment> all;
    for (std::size_t i = 0; i < subject.count; ++i) {
        for (const Segment &segment : of_one)
            all.push_back({segment.displ + static_cast<std::intptr_t>(i) * subject.map.extent,
                           segment.bytes});
    }
    return all;
}

void check_iov(Case &one, const YaksaSubject &subject, yaksa_type_t type) {
    Rng &rng = one.rng();
    const std::vector<Segment> all = yaksa_segments(subject);
    const char *const buffer = reinterpret_cast<const char *>(rng.bits() & ~std::uint64_t{63});
    std::uintptr_t length = untouched;
    succeed(one, yaksa_iov_len(subject.count, type, &length), "iov_len");
    if (length != all.size()) one.fail(length, " segments, not ", all.size());

    const auto check_part = [&](std::size_t from, std::size_t room) {
        const std::size_t wanted = from < all.size() ? std::min(room, all.size() - from) : 0;
        const iovec canary = {nullptr, untouched};
        std::vector<iovec> iov(room + 1, canary);
        std::uintptr_t written = untouched;
        succeed(one, yaksa_iov(buffer, subject.count, type, from, iov.data(), room, &written),
                "iov");
        if (written != wanted)
            one.fail(written, " segments from ", from, ", room ", room, ", not ", wanted);
        for (std::size_t i = 0; i < iov.size(); ++i) {
            const bool is_part = i < wanted;
            const auto at = reinterpret_cast<std::uintptr_t>(iov[i].iov_base);
            const std::uintptr_t right = is_part
                                             ? reinterpret_cast<std::uintptr_t>(buffer) +
                                                   static_cast<std::uintptr_t>(all[from + i].displ)
                                             : 0;
            if (at != right || iov[i].iov_len != (is_part ? all[from + i].bytes : untouched))
                one.fail("segment ", from + i, " of ", all.size(), " is wrong");
        }
    };
    check_part(0, all.size());
    const std::size_t chunk = 1 + rng.mostly_small(20);
    for (std::size_t from = 0; from <= all.size(); from += chunk) check_part(from, chunk);
    check_part(rng.below(all.size() + 2), rng.below(4));

    for (int i = 0; i < 3; ++i) {
        const std::uintptr_t most = rng.below(subject.size() + 10);
        std::size_t number = 0, bytes = 0;
        while (number < all.size() && bytes + all[number].bytes <= most)
            bytes += all[number++].bytes;
        std::uintptr_t found = untouched, covered = untouched;
        succeed(one, yaksa_iov_len_max(subject.count, type, most, &found, &covered), "iov_len_max");
        if (found != number || covered != bytes)
            one.fail(found, " segments of ", covered, " bytes in ", most, ", not ", number, " of ",
                     bytes);
    }
}

// From an odd address to an odd one.
YaksaType as_bytes_and_back(const Case &one, yaksa_type_t type) {
    std::uintptr_t size = 0;
    succeed(one, yaksa_flatten_size(type, &size), "flatten_size");
    std::vector<char> bytes(size + 2, 'x'), again(size + 2, 'y');
    succeed(one, yaksa_flatten(type, bytes.data() + 1), "flatten");
    if (bytes.front() != 'x' || bytes.back() != 'x') one.fail("flatten wrote beyond its size");
    // No byte behind it is read as a part of it.
    std::memcpy(again.data(), bytes.data() + 1, size);
    yaksa_type_t made = 0;
    succeed(one, yaksa_unflatten(&made, again.data()), "unflatten");
    if (made <= UINT32_MAX) one.fail("unflatten gave no new handle");
    std::uintptr_t size_again = 0;
    succeed(one, yaksa_flatten_size(made, &size_again), "flatten_size of the copy");
    if (size_again != size) one.fail("the copy takes ", size_again, " bytes, not ", size);
    return YaksaType(made);
}

void check_all(Case &one, const YaksaSubject &subject) {
    check_bounds(one, subject.map, subject.type());
    check_moves(one, subject, subject.type());
    check_iov(one, subject, subject.type());
    const YaksaType copy = as_bytes_and_back(one, subject.type());
    check_bounds(one, subject.map, copy.get());
    check_moves(one, subject, copy.get());
    check_iov(one, subject, copy.get());
}

} // namespace

TEST_CASE("predefined types of yaksa") {
    const YaksaSession session;
    std::size_t leaf = 0;
    run_cases("yaksa predefined", yaksa_leaves().size(), [&](Case &one) {
        const YaksaLeaf &known = yaksa_leaves()[leaf++ % yaksa_leaves().size()];
        check_all(one, yaksa_subject(one, recipes::leaf(known.type), one.rng().below(20)));
    });
}

TEST_CASE("random types of yaksa") {
    const YaksaSession session;
    run_cases("yaksa random", 4000, [](Case &one) { check_all(one, random_yaksa_subject(one)); });
}

TEST_CASE("structs on types from bytes are rounded up as on the originals") {
    const YaksaSession session;
    std::size_t next = 0;
    run_cases("yaksa struct on bytes", yaksa_leaves().size(), [&](Case &one) {
        const YaksaLeaf &known = yaksa_leaves()[next++ % yaksa_leaves().size()];
        const YaksaSubject old = yaksa_subject(one, vector(2, 1, 2, leaf(known.type)), 1);
        const YaksaType copy = as_bytes_and_back(one, old.type());
        const RecipePtr recipe =
            structure({1, 1}, {0, old.map.ub() + 1}, {old.recipe, leaf(UCD_TYPE__CHAR)});
        const yaksa_type_t types[] = {copy.get(), YAKSA_TYPE__CHAR};
        const Struct &node = std::get<Struct>(recipe->node);
        yaksa_type_t made = 0;
        succeed(one,
                yaksa_type_create_struct(2, node.blocklengths.data(), node.displs.data(), types,
                                         nullptr, &made),
                "create_struct");
        check_bounds(one, yaksa_map(*recipe), YaksaType(made).get());
    });
}

// Few of the random types have them: lists with members of zero size, structs of one type, bounds
// that turn round, elements that touch.
TEST_CASE("bounds by yaksa's rule") {
    const YaksaSession session;
    const RecipePtr integer = leaf(UCD_TYPE__INT), letter = leaf(UCD_TYPE__CHAR);
    const RecipePtr marker = resized(contig(0, integer), -8, 3);
    const RecipePtr odd = resized(integer, -3, 9), backwards = resized(integer, 6, -9);
    const std::vector<RecipePtr> all = {
        hvector(3, 1, 9, integer),
        vector(3, 2, -2, odd),
        vector(3, 2, 3, backwards),
        hvector(3, 4, -7, backwards),
        contig(3, backwards),
        contig(1, odd),
        contig(1, marker),
        contig(4, marker),
        hvector(2, 0, 100, integer),
        indexed({1, 0, 2}, {3, -50, 0}, integer),
        indexed_block(2, {0, 1, -4}, backwards),
        hindexed({1, 1}, {0, 5}, integer),
        structure({1, 1}, {0, 5}, {integer, integer}),
        structure({1, 1}, {0, 5}, {integer, leaf(UCD_TYPE__UINT32_T)}),
        structure({1, 1}, {0, 5}, {integer, dup(dup(integer))}),
        structure({1, 1}, {0, 5}, {integer, contig(1, integer)}),
        structure({1, 1}, {0, 5}, {integer, contig(2, integer)}),
        structure({1, 1}, {0, 5}, {integer, letter}),
        structure({1, 3, 0}, {1, 9, 100}, {leaf(UCD_TYPE__DOUBLE), letter, letter}),
        structure({1, 1}, {0, 4}, {integer, marker}),
        structure({1, 1, 1}, {-20, 0, 30}, {marker, integer, resized(contig(0, integer), 0, 0)}),
        structure({1, 2}, {4, 16}, {odd, backwards}),
        structure({1, 1}, {0, 12}, {leaf(UCD_TYPE__SHORT_INT), leaf(UCD_TYPE__BYTE)}),
        subarray({4, 5}, {2, 3}, {1, 2}, UCD_ORDER__C, odd),
        subarray({4, 5}, {2, 3}, {1, 2}, UCD_ORDER__FORTRAN, integer),
        subarray({4, 5}, {2, 0}, {1, 2}, UCD_ORDER__C, integer),
        resized(vector(3, 1, 2, integer), 0, 20),
        hvector(4, 1, 6, resized(structure({1, 1}, {0, 4}, {integer, letter}), 0, 5)),
    };
    std::size_t next = 0;
    run_cases("yaksa bounds", all.size(),
              [&](Case &one) { check_all(one, yaksa_subject(one, all[next++ % all.size()], 3)); });
}

TEST_CASE("no part of an element is moved") {
    const YaksaSession session;
    run_cases("yaksa partial", 300, [](Case &one) {
        const YaksaSubject subject = random_yaksa_subject(
            one, {UCD_TYPE__INT, UCD_TYPE__SHORT_INT, UCD_TYPE__CHAR, UCD_TYPE__C_DOUBLE_COMPLEX});
        if (subject.size() > 100) return;
        for (std::size_t offset = 0; offset <= subject.size(); ++offset) {
            if (subject.boundary(offset) != offset) continue;
            for (std::size_t room = 0; room <= subject.size() - offset + 1; ++room)
                check_pack(one, subject, subject.type(), offset, room);
        }
    });
}

} // namespace moves_test
