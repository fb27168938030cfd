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

// A side as the caller gives it.
[[gnu::always_inline]] inline Side side_of(const void *address, uint64_t count = 0,
                                           uint64_t offset = 0) {
    return {nullptr, static_cast<char *>(const_cast<void *>(address)), count, offset};
}

// A move whose arguments have been checked. Its plans, its elements and the memory of its sides are
// not known yet: the types say what kind of move it is. A side without a type is packed bytes.
struct CheckedMove : Move {
    const Type *from_type = nullptr, *to_type = nullptr;
    uint64_t to_length = 0; // bytes of the output's stream; differs from `length` in conversions

    CheckedMove() = default;
    // Inlined, so that what is set here is not set to 0 before; and not from sides, which would be
    // stored in parts and read as a whole, for which the CPU waits.
    [[gnu::always_inline]] CheckedMove(const void *in, uint64_t in_count, uint64_t in_offset,
                                       const void *out, uint64_t out_count, uint64_t out_offset,
                                       uint64_t bytes)
        : Move{{nullptr, static_cast<char *>(const_cast<void *>(in)), in_count, in_offset},
               {nullptr, static_cast<char *>(const_cast<void *>(out)), out_count, out_offset},
               bytes} {}

    // These ask the types, because the plans of a Move are not known yet.
    bool is_copy() const { return from_type != nullptr && to_type != nullptr; }
    Direction direction() const {
        return from_type != nullptr ? Direction::pack : Direction::unpack;
    }
    // Of a pack or an unpack; of a copy, that of the input.
    const Type &type() const { return from_type != nullptr ? *from_type : *to_type; }
    const Side &typed() const { return from_type != nullptr ? from : to; }
    const Side &packed() const { return from_type != nullptr ? to : from; }
    // The halves of a copy: from the input to packed bytes at an address, and on to the output.
    CheckedMove input_half(char *address) const;
    CheckedMove output_half(char *address) const;
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

// Checks that packed sides have addresses.
inline Status check_packed(const CheckedMove &m) {
    if (m.from_type == nullptr && m.from.address == nullptr && m.length > 0) [[unlikely]]
        return fail_null_packed("inbuf");
    if (m.to_type == nullptr && m.to.address == nullptr && m.length > 0) [[unlikely]]
        return fail_null_packed("outbuf");
    return success;
}

// Reductions move whole elements only: rounds the move's length down. `total` is the packed size of
// the whole object.
Status round_to_elements(CheckedMove &m, uint64_t total);

// Decodes the arguments of a pack or an unpack. The length is that of the packed buffer, until
// check_move() reduces it to the data that there is.
[[gnu::always_inline]] inline CheckedMove decoded(Direction direction, const void *typed,
                                                  uintptr_t count, uintptr_t offset,
                                                  const void *packed, uintptr_t packed_bytes) {
    return direction == Direction::pack
               ? CheckedMove(typed, count, offset, packed, 0, 0, packed_bytes)
               : CheckedMove(packed, 0, 0, typed, count, offset, packed_bytes);
}

// Checks the decoded move. On success with length 0, there is nothing to do. `argument` is the name
// of the type's argument.
[[gnu::always_inline]] inline Status check_move(ucd_type_t handle, const char *argument,
                                                ucd_op_t op, Direction direction, CheckedMove &m) {
    const bool pack = direction == Direction::pack;
    const Side &typed = pack ? m.from : m.to;
    const Type *type;
    UCD_TRY(resolve(handle, argument, type));
    UCD_TRY(check_op(op, *type));
    uint64_t total;
    UCD_TRY(check_count(typed.count, *type, pack ? "incount" : "outcount", total));
    if (typed.offset > total) [[unlikely]]
        return fail_offset(pack ? "inoffset" : "outoffset", typed.offset, total);
    m.from_type = pack ? type : nullptr;
    m.to_type = pack ? nullptr : type;
    m.op = static_cast<Op>(op);
    m.length = std::min(m.length, total - typed.offset);
    // The whole stream always consists of whole elements.
    if (op != UCD_OP__REPLACE && m.length < total) UCD_TRY(round_to_elements(m, total));
    m.to_length = m.length;
    if ((pack ? m.to : m.from).address == nullptr && m.length > 0) [[unlikely]]
        return fail_null_packed(pack ? "outbuf" : "inbuf");
    return success;
}

// ---- copies -------------------------------------------------------------------------------------

// Checks both sides of a copy, and reduces the length to the data that both sides have; for
// conversions, that the input has. Sets `in_total` and `out_total` to their packed sizes.
Status check_sides(ucd_type_t intype, ucd_type_t outtype, ucd_op_t op, CheckedMove &m,
                   uint64_t &in_total, uint64_t &out_total);

// For reductions and conversions: checks that both sides begin at element boundaries and have
// elements in the range that the op can combine. Rounds the range down to whole elements.
Status check_elements(CheckedMove &m, uint64_t in_total, uint64_t out_total);

// For conversions: sets the lengths to the elements that both sides have in so many bytes from
// their offsets on. NOT_SUPPORTED if some of them cannot be converted.
Status match_elements(CheckedMove &m, uint64_t in_bytes, uint64_t out_bytes);

// ---- members of a list --------------------------------------------------------------------------

Status fail_reserved();
Status fail_at_member(uintptr_t index, Status status);

inline bool is_zero(const uint64_t (&reserved)[4]) {
    return (reserved[0] | reserved[1] | reserved[2] | reserved[3]) == 0;
}

// Whether a member is a pack, or an unpack, as `direction` asks. Other members are copies. A move
// from packed bytes to packed bytes counts as a pack.
inline bool is_move(const ucd_move_t &d, Direction direction) {
    return direction == Direction::pack ? d.outtype == UCD_TYPE__NULL
                                        : d.intype == UCD_TYPE__NULL && d.outtype != UCD_TYPE__NULL;
}

// Checks a member. If both sides are packed, neither gets a type.
Status check_member(const ucd_move_t &d, ucd_op_t op, CheckedMove &m);

const Type &byte_type();

// Makes a move from packed bytes to packed bytes a pack, because backends need a layout.
inline void use_bytes(CheckedMove &m) {
    if (m.from_type != nullptr || m.to_type != nullptr) [[likely]]
        return;
    m.from_type = &byte_type();
    m.from.count = m.length;
}

// Writes how many bytes move.
inline void write_lengths(ucd_move_t &d, const CheckedMove &m) {
    d.actual_bytes = m.to_length;
    d.consumed_bytes = m.length;
}

// Prefixes the message of a failure with the member's index.
inline Status at_member(uintptr_t index, Status status) {
    return status.ok() ? status : fail_at_member(index, status);
}

} // namespace ucd
