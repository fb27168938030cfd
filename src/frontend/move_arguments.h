// The arguments of every call that moves data, checked in one place.
#pragma once

#include "status.h"
#include "transfer.h"

#include <ucd.h>

namespace ucd {

// What a pack or an unpack call amounts to. On success with transfer.length == 0 there is nothing
// to do. Both directions have the same arguments but for who is called what.
struct MoveArguments {
    const void *laid_out;
    uintptr_t count;
    ucd_type_t type;
    uintptr_t offset;
    const void *packed;
    uintptr_t packed_bytes; // room in, or size of, the packed buffer
    ucd_op_t op;
};

Status check_move(const MoveArguments &arguments, Direction direction, Transfer &transfer);

inline Status check_pack(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
                         void *outbuf, uintptr_t max_pack_bytes, ucd_op_t op, Transfer &transfer) {
    return check_move({inbuf, incount, type, inoffset, outbuf, max_pack_bytes, op}, Direction::pack,
                      transfer);
}

inline Status check_unpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                           ucd_type_t type, uintptr_t outoffset, ucd_op_t op, Transfer &transfer) {
    return check_move({outbuf, outcount, type, outoffset, inbuf, insize, op}, Direction::unpack,
                      transfer);
}

// A member of a batch; at_member() puts its index before the message of what it failed with.
Status check_member(const ucd_pack_desc_t &desc, ucd_op_t op, Direction direction, Transfer &t);
Status check_member(const ucd_unpack_desc_t &desc, ucd_op_t op, Direction direction, Transfer &t);
Status at_member(uintptr_t index, Status status);

// A known op.
Status check_op(ucd_op_t op);

// A known op that every element of the type takes.
Status check_op(ucd_op_t op, const Type &type);

// `count` of the type as one object: its packed size, if that and its bounds do not overflow.
Status check_count(uintptr_t count, const Type &type, const char *argument, uint64_t &total);

} // namespace ucd
