#include "transfer/check.h"

#include "element_runs.h"
#include "prepared/element_match.h"
#include "prepared/type_cache.h"
#include "types/predefined.h"

namespace ucd {

const Type &byte_type() {
    return predefined_type(predefined_with(Element::byte));
}

CheckedMove CheckedMove::input_half(char *address) const {
    CheckedMove half(from.address, from.count, from.offset, address, 0, 0, length);
    half.from_type = from_type;
    half.to_length = length;
    half.limits = limits;
    return half;
}

CheckedMove CheckedMove::output_half(char *address) const {
    CheckedMove half(address, 0, 0, to.address, to.count, to.offset, to_length);
    half.to_type = to_type;
    half.to_length = to_length;
    half.limits = limits;
    if (is_reduction(op)) half.op = op;
    return half;
}

Status check_op(ucd_op_t op) {
    if (op < 0 || op >= static_cast<int>(Op::count_)) [[unlikely]]
        return fail(UCD_ERR__INVALID_ARG, "op is %d; no op has that value", op);
    return success;
}

Status fail_op(ucd_op_t op, const Type &type) {
    UCD_TRY(check_op(op));
    const auto known = static_cast<Op>(op);
    if (!is_conversion(known)) return fail_unsupported(known, type);
    return fail(UCD_ERR__INVALID_ARG, "op is %s, which needs two types; packed bytes have none",
                op_name(known).data());
}

// By itself, so that counts that fit need no room for the text.
[[gnu::noinline]] static Status fail_many(uintptr_t count, const Type &type, const char *argument) {
    return fail(UCD_ERR__OVERFLOW,
                "%s is %s; that many of a type of size %ju and extent %jd do not fit", argument,
                ucd_base::CountText(count).text, static_cast<uintmax_t>(type.size),
                static_cast<intmax_t>(type.extent()));
}

Status check_many(uintptr_t count, const Type &type, const char *argument, uint64_t &total) {
    total = 0;
    if (count == 0 || type.size == 0) return success;
    int64_t reach = 0, edge = 0;
    const bool far =
        __builtin_mul_overflow(count, type.size, &total) || total > INT64_MAX ||
        __builtin_mul_overflow(static_cast<int64_t>(count - 1), type.extent(), &reach) ||
        __builtin_add_overflow(reach, reach < 0 ? type.true_lb : type.true_ub, &edge);
    return far ? fail_many(count, type, argument) : success;
}

Status fail_offset(const char *argument, uintptr_t offset, uint64_t total) {
    return fail(UCD_ERR__INVALID_ARG, "%s is %ju; it must be at most the packed size, %ju",
                argument, static_cast<uintmax_t>(offset), static_cast<uintmax_t>(total));
}

Status fail_null_packed(const char *argument) {
    return fail(UCD_ERR__INVALID_ARG, "%s is NULL; it may be only where 0 bytes move", argument);
}

Status check_places_known(const Type &type) {
    if (!type.by_reference) [[likely]]
        return success;
    return fail(UCD_ERR__NOT_SUPPORTED,
                "the type has indices by reference, which are read only when data moves");
}

Status fail_reserved() {
    return fail(UCD_ERR__INVALID_ARG, "reserved is not zero");
}

Status fail_at_member(uintptr_t index, Status status) {
    char name[48];
    std::snprintf(name, sizeof name, "moves[%ju]", static_cast<uintmax_t>(index));
    prefix_last_error(name);
    return status;
}

namespace {

uint64_t element_floor_of(const Type &type, uint64_t count, uint64_t total, uint64_t position) {
    return element_floor(elements_of(type), count, total, position);
}

Status check_boundary(const char *argument, const Type &type, uint64_t count, uint64_t total,
                      uint64_t offset) {
    if (element_floor_of(type, count, total, offset) == offset) return success;
    return fail(UCD_ERR__INVALID_ARG, "%s is %ju; with this op it must lie on an element boundary",
                argument, static_cast<uintmax_t>(offset));
}

Status fail_no_element(uint64_t bytes) {
    return fail(UCD_ERR__TRUNCATED, "%ju bytes hold no whole element",
                static_cast<uintmax_t>(bytes));
}

} // namespace

Status round_to_elements(CheckedMove &m, uint64_t total) {
    const Side &side = m.typed();
    const char *const argument = m.direction() == Direction::pack ? "inoffset" : "outoffset";
    UCD_TRY(check_boundary(argument, m.type(), side.count, total, side.offset));
    const uint64_t end = side.offset + m.length;
    const uint64_t whole = element_floor_of(m.type(), side.count, total, end) - side.offset;
    if (whole == 0 && side.offset < total) return fail_no_element(m.length);
    m.length = whole;
    return success;
}

namespace {

// Checks that both types consist of numbers.
Status check_convertible(const CheckedMove &m) {
    for (const Type *type : {m.from_type, m.to_type})
        if ((type->ops & convertible_bit) == 0)
            return fail_unsupported(m.op, *type, convertible_bit);
    return success;
}

// For a reduction of which both sides begin at element boundaries: names the first two elements
// that differ. Sizes are not compared.
Status check_same_elements(const CheckedMove &m, const Type &from, uint64_t in_bytes,
                           const Type &to, uint64_t out_bytes) {
    MatchedRuns runs(m.from, elements_of(from), in_bytes, m.to, elements_of(to), out_bytes);
    uint64_t left = m.length;
    for (MatchedRun run; left > 0 && runs.next(UINT64_MAX, UINT64_MAX, run);) {
        if (run.from != run.to)
            return fail(UCD_ERR__INVALID_ARG,
                        "outtype has other elements than intype: %s where that has %s; they must "
                        "be equal under a reduction",
                        element_name(run.to).c_str(), element_name(run.from).c_str());
        left -= std::min(left, run.from_bytes());
    }
    return success;
}

} // namespace

Status check_sides(ucd_type_t intype, ucd_type_t outtype, ucd_op_t op, CheckedMove &m,
                   uint64_t &in_total, uint64_t &out_total) {
    UCD_TRY(resolve(intype, "intype", m.from_type));
    UCD_TRY(resolve(outtype, "outtype", m.to_type));
    UCD_TRY(check_op(op));
    m.op = static_cast<Op>(op);
    UCD_TRY(is_conversion(m.op) ? check_convertible(m) : check_op(op, *m.from_type));
    UCD_TRY(check_count(m.from.count, *m.from_type, "incount", in_total));
    UCD_TRY(check_count(m.to.count, *m.to_type, "outcount", out_total));
    if (m.from.offset > in_total) return fail_offset("inoffset", m.from.offset, in_total);
    if (m.to.offset > out_total) return fail_offset("outoffset", m.to.offset, out_total);
    m.length = std::min(m.length, in_total - m.from.offset);
    if (!is_conversion(m.op)) m.length = std::min(m.length, out_total - m.to.offset);
    m.to_length = m.length;
    // Before the caller finds that sizes differ, because other types are the likely reason.
    const uint64_t in_rest = in_total - m.from.offset;
    if (m.op != Op::replace && !is_conversion(m.op) && m.length < in_rest && m.from.offset == 0 &&
        m.to.offset == 0)
        return check_same_elements(m, *m.from_type, in_rest, *m.to_type, out_total);
    return success;
}

Status match_elements(CheckedMove &m, uint64_t in_bytes, uint64_t out_bytes) {
    m.length = m.to_length = 0;
    if (in_bytes == 0 || out_bytes == 0) return success;
    MatchedRuns runs(m.from, elements_of(*m.from_type), in_bytes, m.to, elements_of(*m.to_type),
                     out_bytes);
    for (MatchedRun run; runs.next(in_bytes - m.length, out_bytes - m.to_length, run);) {
        if (!is_convertible(run.from, run.to))
            return fail(UCD_ERR__NOT_SUPPORTED, "%s from %s to %s is not defined",
                        op_name(m.op).data(), element_name(run.from).c_str(),
                        element_name(run.to).c_str());
        m.length += run.from_bytes();
        m.to_length += run.to_bytes();
    }
    return success;
}

namespace {

Status match_conversion(CheckedMove &m, uint64_t in_total, uint64_t out_total) {
    const uint64_t asked = m.length, room = out_total - m.to.offset;
    UCD_TRY(match_elements(m, asked, room));
    const bool none_fits = m.length == 0 && m.from.offset < in_total && room > 0;
    return none_fits ? fail_no_element(asked) : success;
}

} // namespace

Status check_elements(CheckedMove &m, uint64_t in_total, uint64_t out_total) {
    UCD_TRY(check_boundary("inoffset", *m.from_type, m.from.count, in_total, m.from.offset));
    UCD_TRY(check_boundary("outoffset", *m.to_type, m.to.count, out_total, m.to.offset));
    if (is_conversion(m.op)) return match_conversion(m, in_total, out_total);
    const uint64_t end = m.from.offset + m.length;
    const uint64_t whole =
        element_floor_of(*m.from_type, m.from.count, in_total, end) - m.from.offset;
    if (whole == 0 && m.from.offset < in_total && m.to.offset < out_total)
        return fail_no_element(m.length);
    m.length = m.to_length = whole;
    const Element only = m.from_type->element;
    const bool is_same = only != Element::none && only == m.to_type->element;
    if (m.length == 0 || is_same) return success;
    return check_same_elements(m, *m.from_type, in_total - m.from.offset, *m.to_type,
                               out_total - m.to.offset);
}

namespace {

// Requires that a packed side has no offset. `argument` names it.
Status check_packed_side(const char *argument, uintptr_t offset) {
    if (offset == 0) [[likely]]
        return success;
    return fail(UCD_ERR__INVALID_ARG, "%s is %ju; of a packed side it must be 0", argument,
                static_cast<uintmax_t>(offset));
}

} // namespace

Status check_member(const ucd_move_t &d, ucd_op_t op, CheckedMove &m) {
    if (!is_zero(d.reserved)) return fail_reserved();
    const bool typed_in = d.intype != UCD_TYPE__NULL, typed_out = d.outtype != UCD_TYPE__NULL;
    m.from = side_of(d.inbuf, d.incount, d.inoffset);
    m.to = side_of(d.outbuf, d.outcount, d.outoffset);
    m.length = d.bytes;
    if (typed_in && typed_out) {
        uint64_t in_total, out_total;
        UCD_TRY(check_sides(d.intype, d.outtype, op, m, in_total, out_total));
        return op == UCD_OP__REPLACE ? success : check_elements(m, in_total, out_total);
    }
    if (!typed_in) {
        UCD_TRY(check_packed_side("inoffset", d.inoffset));
        m.length = std::min(m.length, d.incount);
    }
    if (!typed_out) {
        UCD_TRY(check_packed_side("outoffset", d.outoffset));
        m.length = std::min(m.length, d.outcount);
    }
    if (typed_in) return check_move(d.intype, "intype", op, Direction::pack, m);
    if (typed_out) return check_move(d.outtype, "outtype", op, Direction::unpack, m);
    if (op != UCD_OP__REPLACE)
        return fail(
            UCD_ERR__INVALID_ARG,
            "intype and outtype are NULL; packed bytes become packed bytes by REPLACE only");
    m.from_type = m.to_type = nullptr;
    m.op = Op::replace;
    uint64_t total;
    UCD_TRY(check_count(m.length, byte_type(), "incount", total));
    m.to_length = m.length;
    return check_packed(m);
}

} // namespace ucd
