#include "transfer/arguments.h"

#include "element_runs.h"
#include "prepared/type_cache.h"
#include "types/ops.h"

namespace ucd {

Status check_op(ucd_op_t op) {
    if (op < 0 || op >= static_cast<int>(Op::count_)) [[unlikely]]
        return fail(UCD_ERR__INVALID_ARG, "op is %d; no op has that value", op);
    return success;
}

Status fail_op(ucd_op_t op, const Type &type) {
    UCD_TRY(check_op(op));
    return fail_unsupported(static_cast<Op>(op), type);
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

namespace {

const char *offset_name(Direction direction) {
    return direction == Direction::pack ? "inoffset" : "outoffset";
}

} // namespace

Status round_to_elements(const MoveArguments &a, const Type &type, uint64_t total,
                         Direction direction, uint64_t &length) {
    const Elements &elements = elements_of(type);
    const auto floor = [&](uint64_t position) {
        return element_floor(elements, a.count, total, position);
    };
    if (floor(a.offset) != a.offset)
        return fail(UCD_ERR__INVALID_ARG,
                    "%s is %ju; with a reduction it must lie on an element boundary",
                    offset_name(direction), static_cast<uintmax_t>(a.offset));
    const uint64_t whole = floor(a.offset + length) - a.offset;
    if (whole == 0 && a.offset < total)
        return fail(UCD_ERR__TRUNCATED, "%ju bytes hold no whole element",
                    static_cast<uintmax_t>(length));
    length = whole;
    return success;
}

Status fail_offset(uintptr_t offset, uint64_t total, Direction direction) {
    return fail(UCD_ERR__INVALID_ARG, "%s is %ju; it must be at most the packed size, %ju",
                offset_name(direction), static_cast<uintmax_t>(offset),
                static_cast<uintmax_t>(total));
}

Status fail_null_packed(Direction direction) {
    return fail(UCD_ERR__INVALID_ARG, "%s is NULL; it may be only where 0 bytes move",
                direction == Direction::pack ? "outbuf" : "inbuf");
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
    std::snprintf(name, sizeof name, "descs[%ju]", static_cast<uintmax_t>(index));
    prefix_last_error(name);
    return status;
}

} // namespace ucd
