// Types that a program of constructors makes: bounds, all that is listed of them, packing,
// unpacking, copies, reductions and conversions as the type map has them, byte by byte, and again
// through the flattened form.
#include "subjects.hpp"
#include "target.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/exercise.hpp"
#include "support/moves/listings.hpp"

#include <algorithm>

using namespace ucdtest;
using namespace ucdtest::fuzz;

namespace {

void check_moves(Case &one, const Subject &subject, Input &input) {
    Rng &rng = one.rng();
    GuardedBuffer memory(rng, subject.range);
    GuardedBuffer packed = packed_buffer(rng, subject.size() + 8);
    const MemoryLocation where = place(subject, memory);
    for (int i = 0; i < 2; ++i) {
        const auto [from, to] = range_of(input, subject.size());
        check_pack(one, where, from, to - from, packed);
        check_unpack(one, packed, to - from, where, from);
    }
    check_pack(one, where, 0, subject.size() + 8, packed);
    check_in_pieces(one, true, where, packed);
    check_in_pieces(one, false, where, packed);
}

void check_reduction(Case &one, ucd_op_t op, const ReducedSubject &what, Input &input) {
    Rng &rng = one.rng();
    GuardedBuffer memory(rng, what.subject.range);
    GuardedBuffer packed = packed_buffer(rng, what.subject.size() + 64);
    const MemoryLocation where = place(what.subject, memory);
    const auto [first, last] = range_of(input, what.elements.size());
    check_reductions(one, op, what, where, first, last, packed);
}

void check_copy(Case &one, const Subject &source, const Subject &target) {
    Rng &rng = one.rng();
    if (overlaps(target.bytes)) return;
    GuardedBuffer in(rng, source.range), out(rng, target.range);
    const MemoryLocation from = place(source, in), to = place(target, out);
    const bool fits = source.size() <= target.size();
    for (std::size_t i = 0; fits && i < source.size(); ++i)
        *out.expected(target.bytes[i]) = *in.actual(source.bytes[i]);
    std::uintptr_t actual = untouched;
    const int rc =
        call_copy(rng, from.address, from.count, from.type, to.address, to.count, to.type, &actual);
    if (fits)
        one.succeed(rc, "copy");
    else if (rc != UCD_ERR__TRUNCATED)
        one.fail("a copy that does not fit returned ", ucd_strerror(rc));
    if (actual != (fits ? source.size() : untouched)) one.fail("copied ", actual, " bytes");
    require_intact(one, out, "target of the copy");
    require_intact(one, in, "source of the copy");
}

// The type of the same bytes, from its flattened form.
void check_flattened(Case &one, const Subject &subject) {
    std::uintptr_t size = 0;
    one.succeed(ucd_flatten_size(subject.type(), &size), "ucd_flatten_size");
    FlatBytes bytes(size);
    one.succeed(ucd_flatten(subject.type(), bytes.data(), size), "ucd_flatten");
    detail::Handle copy;
    one.succeed(ucd_unflatten(&copy.type, bytes.data(), size), "ucd_unflatten");
    check_bounds(one, subject, copy.type);
    check_listings(one, listed_flattened(subject, copy.type));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    start_library();
    Input input(data, size);
    Case one = case_of("constructors", data, size);
    const std::vector<ProgramType> stack = read_program(input);
    const ProgramType &type = stack.back();
    const ReducedSubject what =
        with_elements(subject_of(one, type, count_of(input, type, 6), "type"));
    const Subject &subject = what.subject;
    check_bounds(one, subject, subject.type());
    if (!subject.map->by_reference) {
        check_listings(one, listed(subject));
        check_flattened(one, subject);
    }
    check_moves(one, subject, input);
    if (const ucd_op_t op = op_of(input, what); op != UCD_OP__REPLACE)
        check_reduction(one, op, what, input);
    if (const auto pair = converted_pair(one, type, what)) check_conversion(one, *pair);
    if (stack.size() > 1) {
        const ProgramType &other = stack[stack.size() - 2];
        check_copy(one, subject, subject_of(one, other, count_of(input, other, 6), "target"));
    }
    accepted += subject.size() > 0;
    return 0;
}
