// The arguments of every call that moves data, checked in one place.
#pragma once

#include "direction.h"
#include "status.h"
#include "transfer/transfer.h"
#include "types/ops.h"

#include <ucd.h>

namespace ucd {

// Pack and unpack have the same arguments under different names.
struct MoveArguments {
    const void *typed;
    uintptr_t count;
    ucd_type_t type;
    uintptr_t offset;
    const void *packed;
    uintptr_t packed_bytes; // room in, or size of, the packed buffer
    ucd_op_t op;
};

// A known op that every element of the type takes. What fails is worded out of line, here and
// below: these checks are on the path of every call.
Status fail_op(ucd_op_t op, const Type &type);

inline Status check_op(ucd_op_t op, const Type &type) {
    const bool known = static_cast<unsigned>(op) < static_cast<unsigned>(Op::count_);
    if (!known || (type.ops & op_bit(static_cast<Op>(op))) == 0) [[unlikely]]
        return fail_op(op, type);
    return success;
}

// A known op.
Status check_op(ucd_op_t op);

// `count` of the type as one object: its packed size, if that and its bounds do not overflow.
Status check_many(uintptr_t count, const Type &type, const char *argument, uint64_t &total);

inline Status check_count(uintptr_t count, const Type &type, const char *argument,
                          uint64_t &total) {
    if (count != 1) return check_many(count, type, argument, total);
    total = type.size;
    return success;
}

// Reductions take whole elements only: shortens `length` to that.
Status round_to_elements(const MoveArguments &arguments, const Type &type, uint64_t total,
                         Direction direction, uint64_t &length);

Status fail_offset(uintptr_t offset, uint64_t total, Direction direction);
Status fail_null_packed(Direction direction);

// What a pack or an unpack call amounts to. On success with t.length == 0 there is nothing to do.
[[gnu::always_inline]] inline Status check_move(const MoveArguments &a, Direction direction,
                                                Transfer &t) {
    // No address of `t` or `a` leaves this function where all goes well, so that both stay in
    // registers: stored field by field and loaded by the two, they would stall the processor.
    const Type *type;
    UCD_TRY(resolve(a.type, "type", type));
    UCD_TRY(check_op(a.op, *type));
    uint64_t total;
    UCD_TRY(
        check_count(a.count, *type, direction == Direction::pack ? "incount" : "outcount", total));
    if (a.offset > total) [[unlikely]]
        return fail_offset(a.offset, total, direction);
    uint64_t length = total - a.offset < a.packed_bytes ? total - a.offset : a.packed_bytes;
    // The whole stream is whole elements.
    if (a.op != UCD_OP__REPLACE && length < total) {
        uint64_t whole = length;
        const MoveArguments copy = a;
        UCD_TRY(round_to_elements(copy, *type, total, direction, whole));
        length = whole;
    }
    t.type = type;
    t.count = a.count;
    t.offset = a.offset;
    t.length = length;
    t.typed = static_cast<char *>(const_cast<void *>(a.typed));
    t.packed = static_cast<char *>(const_cast<void *>(a.packed));
    if (t.packed == nullptr && t.length > 0) [[unlikely]]
        return fail_null_packed(direction);
    return success;
}

// Of functions that need the places of a type's bytes without reading any memory.
Status check_places_known(const Type &type);

Status fail_reserved();
Status fail_at_member(uintptr_t index, Status status);

[[gnu::always_inline]] inline MoveArguments arguments_of(const ucd_pack_desc_t &d, ucd_op_t op) {
    return {d.inbuf, d.incount, d.type, d.inoffset, d.outbuf, d.max_pack_bytes, op};
}
[[gnu::always_inline]] inline MoveArguments arguments_of(const ucd_unpack_desc_t &d, ucd_op_t op) {
    return {d.outbuf, d.outcount, d.type, d.outoffset, d.inbuf, d.insize, op};
}

// A member of a batch.
template <class Desc>
[[gnu::always_inline]] inline Status check_member(const Desc &d, ucd_op_t op, Direction direction,
                                                  Transfer &t) {
    if ((d.reserved[0] | d.reserved[1]) != 0) [[unlikely]]
        return fail_reserved();
    return check_move(arguments_of(d, op), direction, t);
}

// Puts the member's index before the message of what it failed with.
inline Status at_member(uintptr_t index, Status status) {
    return status.ok() ? status : fail_at_member(index, status);
}

} // namespace ucd
