// Decodes the arguments of all calls that move data into the move that a backend gets, and checks
// them.
#pragma once

#include "direction.h"
#include "move.h"
#include "status.h"
#include "types/ops.h"
#include "types/type.h"

#include <ucd.h>

#include <algorithm>

namespace ucd {

// A pack or an unpack of a type. Its plan, its elements and the memory of its sides are not known
// yet.
struct CheckedMove : Move {
    const Type *type = nullptr;
};

// Same, for a copy from one layout to another.
struct CheckedCopy : CopyMove {
    const Type *from_type = nullptr, *to_type = nullptr;
    uint64_t to_length = 0; // bytes of the output's stream; differs from `length` in conversions
};

// ---- common checks -----------------------------------------------------------------------------

// Checks that the op exists, that every element of the type supports it, and that it is not a
// conversion, which needs two types. Failures, here and below, are worded in functions that are not
// inlined, because these checks are on the path of every call.
Status fail_op(ucd_op_t op, const Type &type);

[[gnu::always_inline]] inline Status check_op(ucd_op_t op, const Type &type) {
    const bool known = static_cast<unsigned>(op) < static_cast<unsigned>(Op::convert);
    if (!known || (type.ops & op_bit(static_cast<Op>(op))) == 0) [[unlikely]]
        return fail_op(op, type);
    return success;
}

// Checks that the op exists.
Status check_op(ucd_op_t op);

// Computes the packed size of `count` of the type, and checks that this and the bounds do not
// overflow.
Status check_many(uintptr_t count, const Type &type, const char *argument, uint64_t &total);

inline Status check_count(uintptr_t count, const Type &type, const char *argument,
                          uint64_t &total) {
    if (count != 1) return check_many(count, type, argument, total);
    total = type.size;
    return success;
}

// `argument` is inoffset or outoffset.
Status fail_offset(const char *argument, uintptr_t offset, uint64_t total);
// `argument` is inbuf or outbuf.
Status fail_null_packed(const char *argument);

// For functions that need the displacements of the type without reading memory of the caller.
Status check_places_known(const Type &type);

// ---- packs and unpacks --------------------------------------------------------------------------

// Reductions move whole elements only: rounds the move's length down. `total` is the packed size of
// the whole object.
Status round_to_elements(CheckedMove &m, uint64_t total);

// Decodes the arguments of a pack or an unpack. The length is that of the packed buffer, until
// check_move() reduces it to the data that there is.
[[gnu::always_inline]] inline void decode(CheckedMove &m, Direction direction, const void *typed,
                                          uintptr_t count, uintptr_t offset, const void *packed,
                                          uintptr_t packed_bytes) {
    m.direction = direction;
    m.typed = static_cast<char *>(const_cast<void *>(typed));
    m.packed = static_cast<char *>(const_cast<void *>(packed));
    m.count = count;
    m.offset = offset;
    m.length = packed_bytes;
}

// Checks the decoded move. On success with length 0, there is nothing to do. `argument` is the name
// of the type's argument.
[[gnu::always_inline]] inline Status check_move(ucd_type_t handle, const char *argument,
                                                ucd_op_t op, CheckedMove &m) {
    const bool pack = m.direction == Direction::pack;
    const Type *type;
    UCD_TRY(resolve(handle, argument, type));
    UCD_TRY(check_op(op, *type));
    uint64_t total;
    UCD_TRY(check_count(m.count, *type, pack ? "incount" : "outcount", total));
    if (m.offset > total) [[unlikely]]
        return fail_offset(pack ? "inoffset" : "outoffset", m.offset, total);
    m.type = type;
    m.op = static_cast<Op>(op);
    m.length = std::min(m.length, total - m.offset);
    // The whole stream always consists of whole elements.
    if (op != UCD_OP__REPLACE && m.length < total) UCD_TRY(round_to_elements(m, total));
    if (m.packed == nullptr && m.length > 0) [[unlikely]]
        return fail_null_packed(pack ? "outbuf" : "inbuf");
    return success;
}

// ---- copies -------------------------------------------------------------------------------------

// Decodes the arguments of a copy. The length is the maximum that the caller asks for, until it is
// checked.
inline void decode(CheckedCopy &c, const void *inbuf, uintptr_t incount, uintptr_t inoffset,
                   void *outbuf, uintptr_t outcount, uintptr_t outoffset, uintptr_t bytes) {
    c.from.typed = static_cast<char *>(const_cast<void *>(inbuf));
    c.from.count = incount;
    c.from.offset = inoffset;
    c.to.typed = static_cast<char *>(outbuf);
    c.to.count = outcount;
    c.to.offset = outoffset;
    c.length = bytes;
}

// Checks both sides, and reduces the length to the data that both sides have; for conversions, that
// the input has. Sets `in_total` and
// `out_total` to their packed sizes.
Status check_sides(ucd_type_t intype, ucd_type_t outtype, ucd_op_t op, CheckedCopy &c,
                   uint64_t &in_total, uint64_t &out_total);

// For reductions and conversions: checks that both sides begin at element boundaries and have
// elements in the range that the op can combine. Rounds the range down to whole elements.
Status check_elements(CheckedCopy &c, uint64_t in_total, uint64_t out_total);

// For conversions: sets the lengths to the elements that both sides have in so many bytes from
// their offsets on. NOT_SUPPORTED if some of them cannot be converted.
Status match_elements(CheckedCopy &c, uint64_t in_bytes, uint64_t out_bytes);

// ---- members of a list --------------------------------------------------------------------------

// A checked member is one of these two.
struct CheckedMember {
    CheckedMove move;
    CheckedCopy copy;
    bool is_copy = false;
    bool is_plain =
        false; // packed bytes become packed bytes: both buffers are the caller's packed ones
    // Of the output's stream, and of the input's.
    uint64_t length() const { return is_copy ? copy.to_length : move.length; }
    uint64_t consumed() const { return is_copy ? copy.length : move.length; }
};

Status fail_reserved();
Status fail_at_member(uintptr_t index, Status status);

inline bool is_zero(const uint64_t (&reserved)[4]) {
    return (reserved[0] | reserved[1] | reserved[2] | reserved[3]) == 0;
}

// Whether a member is a pack, or an unpack, as `direction` asks. Other members are copies. A move
// from packed bytes to packed bytes counts as a pack of elements of type BYTE.
inline bool is_move(const ucd_move_t &d, Direction direction) {
    return direction == Direction::pack ? d.outtype == UCD_TYPE__NULL
                                        : d.intype == UCD_TYPE__NULL && d.outtype != UCD_TYPE__NULL;
}

// Decodes a member of which one type is null.
[[gnu::always_inline]] inline ucd_type_t decode(const ucd_move_t &d, CheckedMove &m) {
    if (d.intype != UCD_TYPE__NULL) {
        decode(m, Direction::pack, d.inbuf, d.incount, d.inoffset, d.outbuf,
               std::min(d.outcount, d.bytes));
        return d.intype;
    }
    if (d.outtype != UCD_TYPE__NULL) {
        decode(m, Direction::unpack, d.outbuf, d.outcount, d.outoffset, d.inbuf,
               std::min(d.incount, d.bytes));
        return d.outtype;
    }
    const uintptr_t bytes = std::min({d.incount, d.outcount, d.bytes});
    decode(m, Direction::pack, d.inbuf, bytes, 0, d.outbuf, bytes);
    return UCD_TYPE__BYTE;
}

// Checks a member that is a pack or an unpack.
Status check_member(const ucd_move_t &d, ucd_op_t op, CheckedMove &m);

// Checks any member.
Status check_member(const ucd_move_t &d, ucd_op_t op, CheckedMember &m);

// Writes how many bytes move.
inline void write_lengths(ucd_move_t &d, const CheckedMember &m) {
    d.actual_bytes = m.length();
    d.consumed_bytes = m.consumed();
}

// Prefixes the message of a failure with the member's index.
inline Status at_member(uintptr_t index, Status status) {
    return status.ok() ? status : fail_at_member(index, status);
}

} // namespace ucd
