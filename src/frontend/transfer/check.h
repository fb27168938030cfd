// The arguments of every call that moves data: decoded into the move that a backend is given, and
// checked, in one place.
#pragma once

#include "direction.h"
#include "move.h"
#include "status.h"
#include "types/ops.h"
#include "types/type.h"

#include <ucd.h>

#include <algorithm>

namespace ucd {

// A pack or an unpack of a type. Its plan and its elements are not known yet, nor where its sides
// are.
struct CheckedMove : Move {
    const Type *type = nullptr;
};

// The same from one layout to another.
struct CheckedCopy : CopyMove {
    const Type *from_type = nullptr, *to_type = nullptr;
};

// ---- what moves have in common ------------------------------------------------------------------

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

// `argument` is inoffset or outoffset.
Status fail_offset(const char *argument, uintptr_t offset, uint64_t total);
// `argument` is inbuf or outbuf.
Status fail_null_packed(const char *argument);

// Of functions that need the places of a type's bytes without reading any memory.
Status check_places_known(const Type &type);

// ---- packs and unpacks --------------------------------------------------------------------------

// Reductions take whole elements only: shortens the move's length to that. `total` is the packed
// size of all that the move has.
Status round_to_elements(CheckedMove &m, uint64_t total);

// What a pack or an unpack is given. Its length is what the packed buffer has, or has room for,
// until check_move() has cut it to what there is to move.
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

// Checks what was decoded. On success with length 0 there is nothing to do. `argument` is what the
// caller named the type.
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
    // The whole stream is whole elements.
    if (op != UCD_OP__REPLACE && m.length < total) UCD_TRY(round_to_elements(m, total));
    if (m.packed == nullptr && m.length > 0) [[unlikely]]
        return fail_null_packed(pack ? "outbuf" : "inbuf");
    return success;
}

// ---- copies -------------------------------------------------------------------------------------

// What a copy is given. Its length is the most that is asked for, until it is checked.
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

// Checks both sides, and cuts the length to what both of them have. `in_total` and `out_total` are
// their packed sizes.
Status check_sides(ucd_type_t intype, ucd_type_t outtype, ucd_op_t op, CheckedCopy &c,
                   uint64_t &in_total, uint64_t &out_total);

// Of a reduction: that both sides are at element boundaries, and have the same elements in the
// range, which is shortened to whole ones.
Status check_elements(CheckedCopy &c, uint64_t in_total, uint64_t out_total);

// ---- members of a list --------------------------------------------------------------------------

// One of the two is what a member becomes.
struct CheckedMember {
    CheckedMove move;
    CheckedCopy copy;
    bool is_copy = false;
    bool is_plain =
        false; // packed bytes become packed bytes: both buffers are the caller's packed ones
    uint64_t length() const { return is_copy ? copy.length : move.length; }
};

Status fail_reserved();
Status fail_at_member(const char *list, uintptr_t index, Status status);

inline Status check_reserved(const uint64_t (&reserved)[2]) {
    if ((reserved[0] | reserved[1]) != 0) [[unlikely]]
        return fail_reserved();
    return success;
}

// Whether a member is a pack, or an unpack, if that is what is asked for. Others are copies.
inline bool is_move(const ucd_pack_desc_t &, Direction direction) {
    return direction == Direction::pack;
}
inline bool is_move(const ucd_unpack_desc_t &, Direction direction) {
    return direction == Direction::unpack;
}
// Packed bytes that become packed bytes are packed as that many elements of type BYTE.
inline bool is_move(const ucd_move_t &d, Direction direction) {
    return direction == Direction::pack ? d.outtype == UCD_TYPE__NULL
                                        : d.intype == UCD_TYPE__NULL && d.outtype != UCD_TYPE__NULL;
}

[[gnu::always_inline]] inline ucd_type_t decode(const ucd_pack_desc_t &d, CheckedMove &m) {
    decode(m, Direction::pack, d.inbuf, d.incount, d.inoffset, d.outbuf, d.max_pack_bytes);
    return d.type;
}
[[gnu::always_inline]] inline ucd_type_t decode(const ucd_unpack_desc_t &d, CheckedMove &m) {
    decode(m, Direction::unpack, d.outbuf, d.outcount, d.outoffset, d.inbuf, d.insize);
    return d.type;
}
// One of the types is null.
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
[[gnu::always_inline]] inline Status check_member(const ucd_pack_desc_t &d, ucd_op_t op,
                                                  CheckedMove &m) {
    UCD_TRY(check_reserved(d.reserved));
    return check_move(decode(d, m), "type", op, m);
}
[[gnu::always_inline]] inline Status check_member(const ucd_unpack_desc_t &d, ucd_op_t op,
                                                  CheckedMove &m) {
    UCD_TRY(check_reserved(d.reserved));
    return check_move(decode(d, m), "type", op, m);
}
Status check_member(const ucd_move_t &d, ucd_op_t op, CheckedMove &m);

// Checks any member.
template <class Desc>
[[gnu::always_inline]] inline Status check_member(const Desc &d, ucd_op_t op, CheckedMember &m) {
    m.is_copy = false;
    return check_member(d, op, m.move);
}
Status check_member(const ucd_move_t &d, ucd_op_t op, CheckedMember &m);

// What a list of descriptors is called in messages.
inline constexpr const char *name_of_list(const ucd_pack_desc_t *) {
    return "descs";
}
inline constexpr const char *name_of_list(const ucd_unpack_desc_t *) {
    return "descs";
}
inline constexpr const char *name_of_list(const ucd_move_t *) {
    return "moves";
}

// Puts the member's index before the message of what it failed with.
template <class Desc>
Status at_member(uintptr_t index, Status status) {
    return status.ok()
               ? status
               : fail_at_member(name_of_list(static_cast<const Desc *>(nullptr)), index, status);
}

} // namespace ucd
