// Copies from layout to layout.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/buffers/page_guard.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/move_list.hpp"
#include "support/moves/reducing.hpp"
#include "support/random/random_layouts.hpp"

#include <algorithm>
#include <numeric>

namespace copy_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

RecipeOptions target_options() {
    RecipeOptions options;
    options.unpack_safe = true;
    return options;
}

// Moves all of `source` to `target` and checks everything.
void check_copy(Case &one, const MemoryLocation &source, const MemoryLocation &target) {
    const std::size_t moved = source.bytes->size();
    for (std::size_t i = 0; i < moved; ++i) {
        *target.memory->expected((*target.bytes)[i]) = *source.memory->actual((*source.bytes)[i]);
    }
    std::uintptr_t actual = untouched;
    one.succeed(call_copy(one.rng(), source.address, source.count, source.type, target.address,
                          target.count, target.type, &actual),
                "copy");
    if (actual != moved) one.fail("copied ", actual, " bytes, not ", moved);
    require_intact(one, *target.memory, "target of the copy");
    require_intact(one, *source.memory, "source of the copy");
}

void check_refused_copy(Case &one, const MemoryLocation &source, const MemoryLocation &target,
                        int status, ucd_op_t op = UCD_OP__REPLACE) {
    std::uintptr_t actual = untouched;
    const int rc = call_copy(one.rng(), source.address, source.count, source.type, target.address,
                             target.count, target.type, &actual, op);
    if (rc != status) one.fail("copy returned ", ucd_strerror(rc), ", not ", ucd_strerror(status));
    if (actual != untouched) one.fail("actual was set to ", actual);
    require_intact(one, *target.memory, "target of a refused copy");
}

// Any two layouts: fits, fills a prefix, or is refused.
void check_any_copy(Case &one, const Subject &source, const Subject &target) {
    GuardedBuffer in(one.rng(), source.range), out(one.rng(), target.range);
    const MemoryLocation from = place(source, in), to = place(target, out);
    if (source.size() <= target.size()) {
        check_copy(one, from, to);
    } else {
        check_refused_copy(one, from, to, UCD_ERR__TRUNCATED);
    }
}

RecipePtr bytes_of(std::size_t size) {
    return contig(static_cast<std::intptr_t>(size), leaf(UCD_TYPE__BYTE));
}

void check_reducing_copy(Case &one, ucd_op_t op, const ReducedSubject &source,
                         const ReducedSubject &target) {
    Rng &rng = one.rng();
    GuardedBuffer in(rng, source.subject.range), out(rng, target.subject.range);
    const MemoryLocation from = place(source.subject, in), to = place(target.subject, out);
    set_typed_values(rng, source, from);
    set_typed_values(rng, target, to);
    const std::size_t elements = source.elements.size(), bytes = source.subject.size();
    std::vector<std::byte> result = gathered(to, 0, bytes);
    reduce_stream(op, source.elements, 0, elements, result.data(), gathered(from, 0, bytes).data());
    std::uintptr_t actual = untouched;
    one.succeed(call_copy(rng, from.address, from.count, from.type, to.address, to.count, to.type,
                          &actual, op),
                "reducing copy");
    if (actual != bytes) one.fail(op_name(op), " copied ", actual, " bytes, not ", bytes);
    expect_reduced(target, to, 0, elements, std::move(result));
    require_intact(one, out, op_name(op));
    require_intact(one, in, "source of a reducing copy");
}

ucd_op_t random_reduction(Rng &rng) {
    return all_ops()[1 + rng.below(all_ops().size() - 1)].op;
}

} // namespace

TEST_CASE("copy between two random layouts of any sizes") {
    run_cases("copy any", 8000, [](Case &one) {
        const Subject source = random_subject(one, {}, 5, "source");
        const Subject target = random_subject(one, target_options(), 5, "target");
        check_any_copy(one, source, target);
    });
}

// Loops of two and loops of four have counts that divide each other: together there is one loop for
// each power of two.
TEST_CASE("copies between layouts whose loops have no common one") {
    const auto nested = [](const Ints &counts) {
        RecipePtr type = leaf(UCD_TYPE__INT);
        std::intptr_t extent = 4;
        for (const std::intptr_t count : counts) {
            type = hvector(count, 1, extent + 4, type);
            extent = count * (extent + 4);
        }
        return type;
    };
    for (std::size_t fours = 2; fours < 7; ++fours) {
        Ints shifted(fours + 1, 4);
        shifted.front() = shifted.back() = 2;
        Case one("loops", fours);
        const Subject source = make_subject(one, nested(shifted), 1, "source"),
                      target = make_subject(one, nested(Ints(fours, 4)), 1, "target");
        check_any_copy(one, source, target);
        check_any_copy(one, target, source);
    }
}

TEST_CASE("any range of one layout goes to any place in another") {
    run_cases("copy ranges", 8000, [](Case &one) {
        Rng &rng = one.rng();
        const Subject source = random_subject(one, target_options(), 5, "source");
        const Subject target = random_subject(one, target_options(), 5, "target");
        GuardedBuffer in(rng, source.range), out(rng, target.range);
        const CopyRange range = random_range(rng, source.size(), target.size());
        for (std::size_t i = 0; i < range.bytes; ++i)
            *out.expected(target.bytes[range.out_offset + i]) =
                *in.actual(source.bytes[range.in_offset + i]);
        const ucd_move_t move =
            part_move(in.base(), source.count, source.type(), range.in_offset, out.base(),
                      target.count, target.type(), range.out_offset, range.limit);
        std::uintptr_t actual = untouched;
        one.succeed(call_move(rng, move, &actual, UCD_INFO__NULL, UCD_OP__REPLACE, true), "move");
        if (actual != range.bytes) one.fail("moved ", actual, " bytes, not ", range.bytes);
        require_intact(one, out, "target of a range");
        require_intact(one, in, "source of a range");
    });
}

// Of a type to another place in it, so that the elements are the same there.
TEST_CASE("any range of elements is combined with one of another place") {
    run_cases("copy reduced ranges", 4000, [](Case &one) {
        Rng &rng = one.rng();
        const ucd_op_t op = random_reduction(rng);
        RecipeOptions options = target_options();
        options.max_bytes = 512;
        options.elements = types_supporting(op);
        const RandomType type = random_type(rng, options);
        const ReducedSubject source = with_elements(
            make_subject(one, type.recipe, random_count(rng, type, options, 3), "source"));
        const ReducedSubject target = with_elements(make_subject(
            one, same_elements_elsewhere(rng, *type.map), source.subject.count + 2, "target"));
        const std::size_t elements = source.elements.size();
        if (elements == 0) return;
        const std::size_t first = rng.below(elements),
                          last = first + 1 + rng.below(elements - first);
        const std::size_t one_more = rng.below(3) * type.map->size;
        const std::size_t from = source.offset_of(first), bytes = source.offset_of(last) - from;
        const std::size_t to = from + one_more;
        const std::size_t out_first = first + one_more / type.map->size * type.map->entries.size();
        GuardedBuffer in(rng, source.subject.range), out(rng, target.subject.range);
        const MemoryLocation in_place = place(source.subject, in),
                             out_place = place(target.subject, out);
        set_typed_values(rng, source, in_place);
        set_typed_values(rng, target, out_place);
        std::vector<std::byte> result = gathered(out_place, to, to + bytes);
        reduce_stream(op, source.elements, first, last, result.data(),
                      gathered(in_place, from, from + bytes).data());
        // A limit within an element is rounded down.
        const std::size_t slack =
            last < elements ? rng.below(source.offset_of(last + 1) - from - bytes) : 0;
        const ucd_move_t move =
            part_move(in.base(), source.subject.count, source.subject.type(), from, out.base(),
                      target.subject.count, target.subject.type(), to, bytes + slack);
        std::uintptr_t actual = untouched;
        one.succeed(call_move(rng, move, &actual, UCD_INFO__NULL, op, true), "reducing move");
        if (actual != bytes) one.fail(op_name(op), " moved ", actual, " bytes, not ", bytes);
        expect_reduced(target, out_place, out_first, out_first + (last - first), std::move(result));
        require_intact(one, out, op_name(op));
        require_intact(one, in, "source of a reducing move");
    });
}

TEST_CASE("copy between random layouts of equal size") {
    run_cases("copy equal", 6000, [](Case &one) {
        // So many of each that both are the same number of bytes, if that is not too many.
        Rng &rng = one.rng();
        RecipeOptions options = target_options();
        options.max_bytes = 256;
        options.max_span = 4096;
        const RandomType a = random_type(rng, options), b = random_type(rng, options);
        const std::size_t common = std::gcd(a.map->size, b.map->size);
        if (common == 0) return;
        const std::size_t of_a = b.map->size / common, of_b = a.map->size / common;
        if (of_a > 40 || of_b > 40) return;
        const Subject source = make_subject(one, a.recipe, of_a, "source");
        const Subject target = make_subject(one, b.recipe, of_b, "target");
        GuardedBuffer in(rng, source.range), out(rng, target.range);
        if (overlaps(target.bytes)) return;
        check_copy(one, place(source, in), place(target, out));
    });
}

TEST_CASE("copy from and to plain bytes") {
    run_cases("copy bytes", 5000, [](Case &one) {
        Rng &rng = one.rng();
        const Subject typed = random_subject(one, target_options());
        const std::size_t more = rng.chance(50) ? 0 : rng.below(30);
        const std::size_t less =
            rng.chance(50) ? 0 : rng.below(std::min<std::size_t>(30, typed.size() + 1));
        check_any_copy(one, typed, make_subject(one, bytes_of(typed.size() + more), 1, "to"));
        check_any_copy(one, make_subject(one, bytes_of(typed.size() - less), 1, "from"), typed);
        if (typed.size() != 0) {
            const Subject short_by_one = make_subject(one, bytes_of(1), typed.size() - 1, "short");
            check_any_copy(one, typed, short_by_one);
        }
    });
}

TEST_CASE("copy between layouts whose other pages are forbidden") {
    run_cases("copy guarded", 2000, [](Case &one) {
        Rng &rng = one.rng();
        const auto placement = [&] {
            return rng.chance(50) ? Placement::first_byte_begins_page
                                  : Placement::last_byte_ends_page;
        };
        const Subject source = random_nonempty_subject(one, {}, 5, "source");
        const Subject target = random_nonempty_subject(one, target_options(), 5, "target");
        if (source.size() > target.size()) return;
        PageGuardedBuffer in(rng, source.bytes, 0, source.size(), placement());
        PageGuardedBuffer out(rng, target.bytes, 0, source.size(), placement());
        BuiltType shifted_in, shifted_out;
        const bool absolute = rng.chance(30);
        check_copy(one, absolute ? absolute_place(rng, source, in, shifted_in) : place(source, in),
                   absolute ? absolute_place(rng, target, out, shifted_out) : place(target, out));
    });
}

TEST_CASE("reducing copies between layouts of the same elements") {
    run_cases("copy reduce", 5000, [](Case &one) {
        Rng &rng = one.rng();
        const ucd_op_t op = random_reduction(rng);
        RecipeOptions options = target_options();
        options.max_bytes = 512;
        options.elements = types_supporting(op);
        const RandomType type = random_type(rng, options);
        const RecipePtr elsewhere = same_elements_elsewhere(rng, *type.map);
        const std::size_t count = random_count(rng, type, options, 3);
        // `elsewhere` does not overlap itself from one element to the next: its extent covers it.
        Subject a = make_subject(one, type.recipe, count, "one layout");
        // More room than data: the elements need to agree as far as the input goes.
        Subject b = make_subject(one, elsewhere, count + rng.below(2), "another");
        const bool swap = a.size() == b.size() && rng.chance(50);
        const ReducedSubject first = with_elements(std::move(a)),
                             second = with_elements(std::move(b));
        check_reducing_copy(one, op, swap ? second : first, swap ? first : second);
    });
}

// A part of the stream that ended within an element would be combined with a part of one.
TEST_CASE("reducing copies of many elements of different sizes") {
    run_cases("copy reduce much", 10, [](Case &one) {
        Rng &rng = one.rng();
        const RecipePtr number = leaf(UCD_TYPE__INT32_T), wide = leaf(UCD_TYPE__DOUBLE),
                        narrow = leaf(UCD_TYPE__INT16_T);
        const RecipePtr apart = structure({1, 1, 1}, {0, 8, 20}, {number, wide, narrow}),
                        turned = structure({1, 1, 1}, {12, 0, 24}, {number, wide, narrow});
        const std::size_t count = 3000 + rng.below(3000);
        const ReducedSubject from = with_elements(make_subject(one, apart, count, "apart")),
                             to = with_elements(make_subject(one, turned, count, "turned"));
        check_reducing_copy(one, UCD_OP__SUM, from, to);
    });
}

TEST_CASE("reducing copies between different elements are refused") {
    run_cases("copy mismatch", 3000, [](Case &one) {
        Rng &rng = one.rng();
        const ucd_op_t op = UCD_OP__SUM;
        RecipeOptions options = target_options();
        options.max_bytes = 512;
        options.elements = {UCD_TYPE__INT32_T, UCD_TYPE__FLOAT, UCD_TYPE__DOUBLE,
                            UCD_TYPE__UINT16_T};
        const Subject source = random_nonempty_subject(one, options, 3, "source");
        // One element is replaced by another of the same size, class or both unlike it.
        RecipePtr other = same_elements_elsewhere(rng, *source.map);
        Struct changed = std::get<Struct>(other->node);
        const std::size_t victim = rng.below(changed.types.size());
        const ucd_type_t old = source.map->entries[victim].type->handle;
        const ucd_type_t replacement = old == UCD_TYPE__INT32_T  ? UCD_TYPE__FLOAT
                                       : old == UCD_TYPE__FLOAT  ? UCD_TYPE__INT32_T
                                       : old == UCD_TYPE__DOUBLE ? UCD_TYPE__INT64_T
                                                                 : UCD_TYPE__FLOAT16;
        changed.types[victim] = leaf(replacement);
        other = structure(changed.blocklengths, changed.displs, changed.types);
        const Subject target = make_subject(one, other, source.count, "target");
        GuardedBuffer in(rng, source.range), out(rng, target.range);
        check_refused_copy(one, place(source, in), place(target, out), UCD_ERR__INVALID_ARG, op);
        // REPLACE does not mind.
        check_copy(one, place(source, in), place(target, out));
    });
}

} // namespace copy_test
