// Reductions: every op on every type that takes it, in contiguous and random layouts, in both
// directions, whole and in part; and everything that must be refused.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/buffers/page_guard.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/reducing.hpp"

#include <cfenv>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace reduction_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

// Less than the next element needs, so that the length is rounded down to what is asked for.
std::size_t random_excess(Rng &rng, ucd_op_t op, const ReducedSubject &what, std::size_t last) {
    if (op == UCD_OP__REPLACE && last < what.elements.size()) return 0; // it would not be rounded
    if (last < what.elements.size()) return rng.below(what.elements[last].type->size);
    return rng.below(20);
}

void check_ranges(Case &one, ucd_op_t op, Subject subject, int ranges) {
    Rng &rng = one.rng();
    const ReducedSubject what = with_elements(std::move(subject));
    const std::size_t elements = what.elements.size();
    GuardedBuffer memory(rng, what.subject.range);
    GuardedBuffer packed = packed_buffer(rng, what.subject.size() + 64);
    const auto check = [&](std::size_t first, std::size_t last) {
        check_reductions(one, op, what, place(what.subject, memory), first, last, packed,
                         random_excess(rng, op, what, last));
    };
    check(0, elements);
    for (int i = 0; i < ranges && elements > 0; ++i) {
        const std::size_t first = rng.below(elements);
        check(first, first + 1 + rng.below(elements - first));
    }
}

// Drawn until elements overlap only in ways that make sense to reduce.
RandomType random_reducible_type(Rng &rng, const RecipeOptions &options) {
    for (;;) {
        RandomType type = random_type(rng, options);
        if (has_consistent_overlap(*type.map, 1)) return type;
    }
}

Subject random_reducible_subject(Case &one, RecipeOptions options) {
    Rng &rng = one.rng();
    options.unpack_safe = rng.chance(80);
    const RandomType type = random_reducible_type(rng, options);
    std::size_t count = random_count(rng, type, options);
    if (!has_consistent_overlap(*type.map, count)) count = 1;
    return make_subject(one, type.recipe, count);
}

ucd_op_t random_reduction(Rng &rng) {
    return all_ops()[1 + rng.below(all_ops().size() - 1)].op;
}

// The types whose results depend on a thread's floating-point environment, without long double.
std::vector<ucd_type_t> floating_types(ucd_op_t op) {
    std::vector<ucd_type_t> found;
    for (const Predefined &type : all_predefined()) {
        const std::string_view name = type.name;
        const auto has = [&](const char *part) { return name.find(part) != name.npos; };
        if ((has("FLOAT") || has("DOUBLE") || has("COMPLEX")) && !has("LONG_DOUBLE") &&
            is_supported(op, type))
            found.push_back(type.handle);
    }
    return found;
}

struct Environment {
    const char *name;
    std::function<void()> set;
};

std::vector<Environment> environments() {
    std::vector<Environment> all;
#if defined(FE_UPWARD) && defined(FE_TOWARDZERO)
    all.push_back({"rounds upwards", [] { std::fesetround(FE_UPWARD); }});
    all.push_back({"rounds towards zero", [] { std::fesetround(FE_TOWARDZERO); }});
#endif
#if defined(__SSE__)
    all.push_back({"has no subnormal numbers", [] { _mm_setcsr(_mm_getcsr() | 0x8040); }});
#endif
    return all;
}

} // namespace

TEST_CASE("every op on every type that takes it, contiguous and strided") {
    for (const OpName &op : all_ops()) {
        const std::vector<ucd_type_t> types = types_supporting(op.op);
        const std::string name = std::string("reduce ") + op.name;
        run_cases(name.c_str(), 4 * types.size(), [&](Case &one) {
            const RecipePtr element = leaf(types[one.number() % types.size()]);
            // Long enough for vector loops and their remainders.
            const auto length = static_cast<std::intptr_t>(1 + one.rng().below(90));
            check_ranges(one, op.op, make_subject(one, element, static_cast<std::size_t>(length)),
                         2);
            check_ranges(one, op.op, make_subject(one, vector(length, 1, 2, element), 1), 1);
            check_ranges(one, op.op, make_subject(one, hvector(2, length, 3001, element), 1), 1);
        });
    }
}

TEST_CASE("reductions do not depend on the thread's floating-point environment") {
    for (const OpName &op : all_ops()) {
        const std::vector<ucd_type_t> types = floating_types(op.op);
        if (op.op == UCD_OP__REPLACE || types.empty()) continue;
        const std::string name = std::string("environments ") + op.name;
        run_cases(name.c_str(), 12 * types.size(), [&](Case &one) {
            Rng &rng = one.rng();
            // Contiguous elements, rows that are reduced in place, and rows that need a chunk.
            const RecipePtr element = leaf(types[one.number() % types.size()]);
            const auto number = static_cast<std::intptr_t>(200 + rng.below(400));
            const std::intptr_t block = one.number() % 3 == 1 ? 2 : 100;
            const Subject subject =
                one.number() % 3 == 0
                    ? make_subject(one, element, static_cast<std::size_t>(number))
                    : make_subject(one, hvector(number / block, block, 3001, element), 1);
            std::vector<char> memory(static_cast<std::size_t>(3001 * number)),
                packed(subject.size());
            // Small exponents, so that many values and results are subnormal, and rounded.
            const auto fill = [&](std::vector<char> &bytes) {
                for (char &byte : bytes)
                    byte = static_cast<char>(rng.chance(30) ? rng.below(3) : rng.bits());
            };
            fill(memory);
            fill(packed);
            const auto reduce = [&](const Environment *environment) {
                std::vector<char> into_packed = packed, into_memory = memory;
                std::uintptr_t moved = 0;
                std::fenv_t before;
                std::fegetenv(&before);
                if (environment != nullptr) environment->set();
                const int rc =
                    ucd_pack(memory.data(), subject.count, subject.type(), 0, into_packed.data(),
                             packed.size(), &moved, UCD_INFO__NULL, op.op);
                const int other =
                    ucd_unpack(packed.data(), packed.size(), into_memory.data(), subject.count,
                               subject.type(), 0, &moved, UCD_INFO__NULL, op.op);
                std::fesetenv(&before);
                one.succeed(rc, "pack");
                one.succeed(other, "unpack");
                into_packed.insert(into_packed.end(), into_memory.begin(), into_memory.end());
                return into_packed;
            };
            const std::vector<char> usual = reduce(nullptr);
            for (const Environment &environment : environments())
                if (reduce(&environment) != usual)
                    one.fail("the result differs in a thread that ", environment.name);
        });
    }
}

TEST_CASE("reductions in rows that are long enough to be reduced in place") {
    run_cases("reduce rows", 4000, [](Case &one) {
        Rng &rng = one.rng();
        const ucd_op_t op =
            rng.chance(70) ? rng.pick(std::vector<ucd_op_t>{UCD_OP__SUM, UCD_OP__MAX, UCD_OP__MIN})
                           : random_reduction(rng);
        const ucd_type_t type = rng.pick(types_supporting(op));
        const RecipePtr element = leaf(type);
        std::intptr_t lb = 0, size = 0;
        REQUIRE(ucd_get_extent(type, &lb, &size) == UCD_SUCCESS);
        const auto block = static_cast<std::intptr_t>(1 + rng.below(rng.chance(50) ? 4 : 80));
        const std::intptr_t count =
            700 / (block * size) + 1 + static_cast<std::intptr_t>(rng.below(4));
        std::intptr_t stride = block * size + static_cast<std::intptr_t>(1 + rng.below(100));
        if (rng.chance(20)) stride = -stride;
        const RecipePtr row = hvector(count, block, stride, element);
        const std::intptr_t span = count * (stride < 0 ? -stride : stride) + 7;
        check_ranges(
            one, op,
            make_subject(one, hvector(1 + static_cast<std::intptr_t>(rng.below(3)), 1, span, row),
                         1 + rng.below(2)),
            3);
    });
}

TEST_CASE("many elements with a gap inside, whose parts are in different rows") {
    run_cases("reduce gaps", 60, [](Case &one) {
        Rng &rng = one.rng();
        const RecipePtr element = leaf(rng.pick(std::vector<ucd_type_t>{
            UCD_TYPE__SHORT_INT, UCD_TYPE__DOUBLE_INT, UCD_TYPE__LONG_INT}));
        const ucd_op_t op = rng.chance(50) ? UCD_OP__MINLOC : UCD_OP__MAXLOC;
        const auto count = static_cast<std::intptr_t>(300 + rng.below(1000));
        check_ranges(one, op, make_subject(one, contig(count, element), 1), 4);
        check_ranges(one, op, make_subject(one, hvector(2, count, 20000, element), 2), 4);
    });
}

TEST_CASE("reductions in random layouts of one type") {
    run_cases("reduce one type", 15000, [](Case &one) {
        const ucd_op_t op = random_reduction(one.rng());
        RecipeOptions options;
        options.elements = {one.rng().pick(types_supporting(op))};
        check_ranges(one, op, random_reducible_subject(one, options), 2);
    });
}

TEST_CASE("reductions in random layouts of mixed types") {
    run_cases("reduce mixed types", 15000, [](Case &one) {
        const ucd_op_t op = random_reduction(one.rng());
        RecipeOptions options;
        options.elements = types_supporting(op);
        check_ranges(one, op, random_reducible_subject(one, options), 2);
    });
}

TEST_CASE("reductions touch only what is theirs") {
    run_cases("reduce guarded", 2000, [](Case &one) {
        Rng &rng = one.rng();
        const ucd_op_t op = random_reduction(rng);
        RecipeOptions options;
        options.elements = types_supporting(op);
        options.unpack_safe = true;
        const ReducedSubject what = with_elements(random_nonempty_subject(one, options));
        const auto placement = [&] {
            return rng.chance(50) ? Placement::first_byte_begins_page
                                  : Placement::last_byte_ends_page;
        };
        const std::size_t size = what.subject.size();
        PageGuardedBuffer memory(rng, what.subject.bytes, 0, size, placement());
        PageGuardedBuffer packed(rng, contiguous_bytes(size), 0, size, placement());
        const MemoryLocation where = place(what.subject, memory);
        check_reductions(one, op, what, where, 0, what.elements.size(), packed);
    });
}

TEST_CASE("ucd_op_is_supported and the calls agree with the table") {
    for (const OpName &op : all_ops()) {
        for (const Predefined &type : all_predefined()) {
            INFO(op.name << " on " << type.name);
            int supported = -1;
            REQUIRE(ucd_op_is_supported(op.op, type.handle, "seq", &supported) == UCD_SUCCESS);
            REQUIRE(supported == (is_supported(op.op, type) ? 1 : 0));
            if (supported) continue;
            const std::byte in[64] = {};
            std::byte out[64] = {};
            std::uintptr_t actual = untouched;
            const auto names_the_pair = [&] {
                const std::string message = ucd_last_error();
                INFO(message);
                REQUIRE(message.find(op.name) != std::string::npos);
                REQUIRE(message.find(type.name) != std::string::npos);
            };
            REQUIRE(ucd_pack(in, 1, type.handle, 0, out, sizeof out, &actual, UCD_INFO__NULL,
                             op.op) == UCD_ERR__NOT_SUPPORTED);
            names_the_pair();
            REQUIRE(ucd_unpack(in, type.size, out, 1, type.handle, 0, &actual, UCD_INFO__NULL,
                               op.op) == UCD_ERR__NOT_SUPPORTED);
            names_the_pair();
            REQUIRE(ucd_copy(in, 1, type.handle, out, 1, type.handle, &actual, UCD_INFO__NULL,
                             op.op) == UCD_ERR__NOT_SUPPORTED);
            names_the_pair();
            REQUIRE(actual == untouched);
        }
    }
}

TEST_CASE("a derived type takes an op if each of its elements does") {
    run_cases("derived support", 4000, [](Case &one) {
        Rng &rng = one.rng();
        const ucd_op_t op = random_reduction(rng);
        RecipeOptions options;
        // Two types, so that all, some and none of the elements may be good.
        for (int i = 0; i < 2; ++i) {
            options.elements.push_back(all_predefined()[rng.below(all_predefined().size())].handle);
        }
        options.max_bytes = 512;
        const Subject subject = random_nonempty_subject(one, options);
        const bool expected = is_supported(op, *subject.map);
        int supported = -1;
        one.succeed(ucd_op_is_supported(op, subject.type(), "seq", &supported),
                    "ucd_op_is_supported");
        if (supported != (expected ? 1 : 0)) one.fail(op_name(op), ": supported is ", supported);
        if (expected) return;
        GuardedBuffer memory(rng, subject.range);
        GuardedBuffer packed = packed_buffer(rng, subject.size());
        std::uintptr_t actual = untouched;
        const int rc = call_pack(rng, memory.base(), subject.count, subject.type(), 0,
                                 packed.base(), subject.size(), &actual, op);
        if (rc != UCD_ERR__NOT_SUPPORTED) one.fail(op_name(op), " returned ", ucd_strerror(rc));
        if (actual != untouched) one.fail("actual was set");
        require_intact(one, packed, "packed buffer of a refused reduction");
    });
}

TEST_CASE("reductions start and end at element boundaries") {
    run_cases("element boundaries", 4000, [](Case &one) {
        Rng &rng = one.rng();
        const ucd_op_t op = random_reduction(rng);
        RecipeOptions options;
        options.elements = types_supporting(op);
        options.unpack_safe = true;
        const ReducedSubject what = with_elements(random_nonempty_subject(one, options));
        const Subject &subject = what.subject;
        const StreamElement &element = what.elements[rng.below(what.elements.size())];
        GuardedBuffer memory(rng, subject.range);
        GuardedBuffer packed = packed_buffer(rng, subject.size());
        const auto require_refused = [&](std::size_t offset, std::size_t length, int status) {
            std::uintptr_t actual = untouched;
            int rc = call_pack(rng, memory.base(), subject.count, subject.type(), offset,
                               packed.base(), length, &actual, op);
            if (rc != status) one.fail("pack from ", offset, " returned ", ucd_strerror(rc));
            rc = call_unpack(rng, packed.base(), length, memory.base(), subject.count,
                             subject.type(), offset, &actual, op);
            if (rc != status) one.fail("unpack from ", offset, " returned ", ucd_strerror(rc));
            if (actual != untouched) one.fail("actual was set to ", actual);
            require_intact(one, memory, "layout of a refused reduction");
            require_intact(one, packed, "packed buffer of a refused reduction");
        };
        if (element.type->size > 1) {
            const std::size_t inside = 1 + rng.below(element.type->size - 1);
            const std::size_t offset = element.offset + inside;
            require_refused(offset, subject.size() - offset, UCD_ERR__INVALID_ARG);
            require_refused(element.offset, inside, UCD_ERR__TRUNCATED);
        }
        require_refused(subject.size() + 1, 0, UCD_ERR__INVALID_ARG);
        // At the end nothing remains, so nothing is too short.
        std::uintptr_t actual = untouched;
        one.succeed(call_pack(rng, memory.base(), subject.count, subject.type(), subject.size(),
                              packed.base(), rng.below(9), &actual, op),
                    "pack at the end");
        if (actual != 0) one.fail("packed ", actual, " bytes at the end");
        require_intact(one, packed, "packed buffer");
    });
}

} // namespace reduction_test
