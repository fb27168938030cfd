#include "move_arguments.h"

#include "boundary.h"
#include "element_runs.h"
#include "ops.h"

namespace ucd {

Status check_op(ucd_op_t op) {
    if (op < 0 || op >= static_cast<int>(Op::count_)) [[unlikely]]
        return fail(UCD_ERR__INVALID_ARG, "op is %d; no op has that value", op);
    return success;
}

Status check_op(ucd_op_t op, const Type &type) {
    UCD_TRY(check_op(op));
    if ((type.ops & op_bit(static_cast<Op>(op))) == 0) [[unlikely]]
        return fail_unsupported(static_cast<Op>(op), type);
    return success;
}

Status check_count(uintptr_t count, const Type &type, const char *argument, uint64_t &total) {
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

namespace {

// Reductions take whole elements only.
Status round_to_elements(const char *offset_name, uint64_t total, Transfer &t) {
    const Elements &elements = elements_of(*t.type);
    const auto floor = [&](uint64_t position) {
        return element_floor(elements, t.count, total, position);
    };
    if (floor(t.offset) != t.offset)
        return fail(UCD_ERR__INVALID_ARG,
                    "%s is %ju; with a reduction it must lie on an element boundary", offset_name,
                    static_cast<uintmax_t>(t.offset));
    const uint64_t whole = floor(t.offset + t.length) - t.offset;
    if (whole == 0 && t.offset < total)
        return fail(UCD_ERR__TRUNCATED, "%ju bytes hold no whole element",
                    static_cast<uintmax_t>(t.length));
    t.length = whole;
    return success;
}

} // namespace

Status check_move(const MoveArguments &a, Direction direction, Transfer &t) {
    const bool pack = direction == Direction::pack;
    UCD_TRY(resolve(a.type, "type", t.type));
    UCD_TRY(check_op(a.op, *t.type));
    uint64_t total;
    UCD_TRY(check_count(a.count, *t.type, pack ? "incount" : "outcount", total));
    const char *offset_name = pack ? "inoffset" : "outoffset";
    if (a.offset > total) [[unlikely]]
        return fail(UCD_ERR__INVALID_ARG, "%s is %ju; it must be at most the packed size, %ju",
                    offset_name, static_cast<uintmax_t>(a.offset), static_cast<uintmax_t>(total));
    t.count = a.count;
    t.offset = a.offset;
    t.length = total - a.offset < a.packed_bytes ? total - a.offset : a.packed_bytes;
    t.laid_out = static_cast<char *>(const_cast<void *>(a.laid_out));
    t.packed = static_cast<char *>(const_cast<void *>(a.packed));
    if (a.op != UCD_OP__REPLACE && total > 0) UCD_TRY(round_to_elements(offset_name, total, t));
    if (t.packed == nullptr && t.length > 0) [[unlikely]]
        return fail(UCD_ERR__INVALID_ARG, "%s is NULL; it may be only where 0 bytes move",
                    pack ? "outbuf" : "inbuf");
    return success;
}

namespace {

Status check_reserved(const uint64_t (&reserved)[2]) {
    if (reserved[0] != 0 || reserved[1] != 0)
        return fail(UCD_ERR__INVALID_ARG, "reserved is not zero");
    return success;
}

} // namespace

Status check_member(const ucd_pack_desc_t &d, ucd_op_t op, Direction direction, Transfer &t) {
    UCD_TRY(check_reserved(d.reserved));
    return check_move({d.inbuf, d.incount, d.type, d.inoffset, d.outbuf, d.max_pack_bytes, op},
                      direction, t);
}

Status check_member(const ucd_unpack_desc_t &d, ucd_op_t op, Direction direction, Transfer &t) {
    UCD_TRY(check_reserved(d.reserved));
    return check_move({d.outbuf, d.outcount, d.type, d.outoffset, d.inbuf, d.insize, op}, direction,
                      t);
}

Status at_member(uintptr_t index, Status status) {
    if (status.ok()) return status;
    char name[48];
    std::snprintf(name, sizeof name, "descs[%ju]", static_cast<uintmax_t>(index));
    prefix_last_error(name);
    return status;
}

} // namespace ucd
