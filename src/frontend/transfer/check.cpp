#include "transfer/check.h"

#include "element_runs.h"
#include "prepared/element_match.h"
#include "prepared/type_cache.h"

namespace ucd {

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

Status check_many(uintptr_t count, const Type &type, const char *argument, uint64_t &total) {
    total = 0;
    if (count == 0 || type.size == 0) return success;
    int64_t reach = 0, edge = 0;
    const bool far =
        __builtin_mul_overflow(count, type.size, &total) || total > INT64_MAX ||
        __builtin_mul_overflow(static_cast<int64_t>(count - 1), type.extent(), &reach) ||
        __builtin_add_overflow(reach, reach < 0 ? type.true_lb : type.true_ub, &edge);
    if (far) [[unlikely]]
        return fail(UCD_ERR__OVERFLOW,
                    "%s is %ju; that many of a type of size %ju and extent %jd do not fit",
                    argument, static_cast<uintmax_t>(count), static_cast<uintmax_t>(type.size),
                    static_cast<intmax_t>(type.extent()));
    return success;
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
    const char *const argument = m.direction == Direction::pack ? "inoffset" : "outoffset";
    UCD_TRY(check_boundary(argument, *m.type, m.count, total, m.offset));
    const uint64_t whole =
        element_floor_of(*m.type, m.count, total, m.offset + m.length) - m.offset;
    if (whole == 0 && m.offset < total) return fail_no_element(m.length);
    m.length = whole;
    return success;
}

namespace {

// Checks that both types consist of numbers.
Status check_convertible(const CheckedCopy &c) {
    for (const Type *type : {c.from_type, c.to_type})
        if ((type->ops & convertible_bit) == 0)
            return fail_unsupported(c.op, *type, convertible_bit);
    return success;
}

} // namespace

Status check_sides(ucd_type_t intype, ucd_type_t outtype, ucd_op_t op, CheckedCopy &c,
                   uint64_t &in_total, uint64_t &out_total) {
    UCD_TRY(resolve(intype, "intype", c.from_type));
    UCD_TRY(resolve(outtype, "outtype", c.to_type));
    UCD_TRY(check_op(op));
    c.op = static_cast<Op>(op);
    UCD_TRY(is_conversion(c.op) ? check_convertible(c) : check_op(op, *c.from_type));
    UCD_TRY(check_count(c.from.count, *c.from_type, "incount", in_total));
    UCD_TRY(check_count(c.to.count, *c.to_type, "outcount", out_total));
    if (c.from.offset > in_total) return fail_offset("inoffset", c.from.offset, in_total);
    if (c.to.offset > out_total) return fail_offset("outoffset", c.to.offset, out_total);
    c.length = std::min(c.length, in_total - c.from.offset);
    if (!is_conversion(c.op)) c.length = std::min(c.length, out_total - c.to.offset);
    c.to_length = c.length;
    return success;
}

Status match_elements(CheckedCopy &c, uint64_t in_bytes, uint64_t out_bytes) {
    c.length = c.to_length = 0;
    if (in_bytes == 0 || out_bytes == 0) return success;
    MatchedRuns runs(c.from, elements_of(*c.from_type), in_bytes, c.to, elements_of(*c.to_type),
                     out_bytes);
    for (MatchedRun run; runs.next(in_bytes - c.length, out_bytes - c.to_length, run);) {
        if (!is_convertible(run.from, run.to))
            return fail(UCD_ERR__NOT_SUPPORTED, "%s from %s to %s is not defined",
                        op_name(c.op).data(), element_name(run.from).c_str(),
                        element_name(run.to).c_str());
        c.length += run.from_bytes();
        c.to_length += run.to_bytes();
    }
    return success;
}

namespace {

Status match_conversion(CheckedCopy &c, uint64_t in_total, uint64_t out_total) {
    const uint64_t asked = c.length, room = out_total - c.to.offset;
    UCD_TRY(match_elements(c, asked, room));
    const bool none_fits = c.length == 0 && c.from.offset < in_total && room > 0;
    return none_fits ? fail_no_element(asked) : success;
}

} // namespace

Status check_elements(CheckedCopy &c, uint64_t in_total, uint64_t out_total) {
    UCD_TRY(check_boundary("inoffset", *c.from_type, c.from.count, in_total, c.from.offset));
    UCD_TRY(check_boundary("outoffset", *c.to_type, c.to.count, out_total, c.to.offset));
    if (is_conversion(c.op)) return match_conversion(c, in_total, out_total);
    const uint64_t end = c.from.offset + c.length;
    const uint64_t whole =
        element_floor_of(*c.from_type, c.from.count, in_total, end) - c.from.offset;
    if (whole == 0 && c.from.offset < in_total && c.to.offset < out_total)
        return fail_no_element(c.length);
    c.length = c.to_length = whole;
    if (same_elements(c, *c.from_type, *c.to_type)) return success;
    return fail(UCD_ERR__INVALID_ARG,
                "outtype has other elements than intype; they must be equal under a reduction");
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
    if (d.intype == UCD_TYPE__NULL) UCD_TRY(check_packed_side("inoffset", d.inoffset));
    if (d.outtype == UCD_TYPE__NULL) UCD_TRY(check_packed_side("outoffset", d.outoffset));
    const bool is_plain = d.intype == UCD_TYPE__NULL && d.outtype == UCD_TYPE__NULL;
    if (is_plain && op != UCD_OP__REPLACE)
        return fail(
            UCD_ERR__INVALID_ARG,
            "intype and outtype are NULL; packed bytes become packed bytes by REPLACE only");
    UCD_TRY(check_move(decode(d, m), d.intype != UCD_TYPE__NULL ? "intype" : "outtype", op, m));
    if (is_plain && m.typed == nullptr && m.length > 0) return fail_null_packed("inbuf");
    return success;
}

Status check_member(const ucd_move_t &d, ucd_op_t op, CheckedMember &m) {
    m.is_copy = d.intype != UCD_TYPE__NULL && d.outtype != UCD_TYPE__NULL;
    m.is_plain = d.intype == UCD_TYPE__NULL && d.outtype == UCD_TYPE__NULL;
    if (!m.is_copy) return check_member(d, op, m.move);
    if (!is_zero(d.reserved)) return fail_reserved();
    decode(m.copy, d.inbuf, d.incount, d.inoffset, d.outbuf, d.outcount, d.outoffset, d.bytes);
    uint64_t in_total, out_total;
    UCD_TRY(check_sides(d.intype, d.outtype, op, m.copy, in_total, out_total));
    return op == UCD_OP__REPLACE ? success : check_elements(m.copy, in_total, out_total);
}

} // namespace ucd
