// Lists of moves: one function for each kind of member, and calls of a whole list.
#pragma once

#include <ucd.h>

#include <cstdint>
#include <vector>

namespace ucdtest {

// No type, nor the NULL of a packed side.
inline const ucd_type_t no_type = reinterpret_cast<ucd_type_t>(std::uintptr_t{4000});

using MoveList = std::vector<ucd_move_t>;

// At most `bytes` of one side's stream from one offset on to the other side's from another on.
inline ucd_move_t part_move(const void *inbuf, std::uintptr_t incount, ucd_type_t intype,
                            std::uintptr_t inoffset, void *outbuf, std::uintptr_t outcount,
                            ucd_type_t outtype, std::uintptr_t outoffset,
                            std::uintptr_t bytes = UINTPTR_MAX) {
    ucd_move_t move = UCD_MOVE__INIT;
    move.inbuf = inbuf;
    move.incount = incount;
    move.intype = intype;
    move.inoffset = inoffset;
    move.outbuf = outbuf;
    move.outcount = outcount;
    move.outtype = outtype;
    move.outoffset = outoffset;
    move.bytes = bytes;
    return move;
}

// The arguments of ucd_copy, ucd_pack and ucd_unpack.
inline ucd_move_t copy_move(const void *inbuf, std::uintptr_t incount, ucd_type_t intype,
                            void *outbuf, std::uintptr_t outcount, ucd_type_t outtype) {
    return part_move(inbuf, incount, intype, 0, outbuf, outcount, outtype, 0);
}
inline ucd_move_t pack_move(const void *inbuf, std::uintptr_t count, ucd_type_t type,
                            std::uintptr_t offset, void *outbuf, std::uintptr_t room) {
    return part_move(inbuf, count, type, offset, outbuf, room, UCD_TYPE__NULL, 0);
}
inline ucd_move_t unpack_move(const void *inbuf, std::uintptr_t size, void *outbuf,
                              std::uintptr_t count, ucd_type_t type, std::uintptr_t offset) {
    return part_move(inbuf, size, UCD_TYPE__NULL, 0, outbuf, count, type, offset);
}

// The buffers of moves, as plans take other ones.
struct MoveBuffers {
    explicit MoveBuffers(const MoveList &moves) {
        for (const ucd_move_t &move : moves) {
            in.push_back(move.inbuf);
            out.push_back(move.outbuf);
        }
    }
    std::vector<const void *> in;
    std::vector<void *> out;
};

inline int start(MoveList &moves, ucd_request_t *request, ucd_info_t info = UCD_INFO__NULL,
                 ucd_op_t op = UCD_OP__REPLACE) {
    return ucd_imove(moves.data(), moves.size(), info, op, request);
}
// Starts all, and waits.
inline int move_all(MoveList &moves, ucd_info_t info = UCD_INFO__NULL,
                    ucd_op_t op = UCD_OP__REPLACE) {
    ucd_request_t request = UCD_REQUEST__NULL;
    const int rc = start(moves, &request, info, op);
    return rc == UCD_SUCCESS ? ucd_wait(&request) : rc;
}
inline int move_all(MoveList &&moves, ucd_info_t info = UCD_INFO__NULL) {
    return move_all(moves, info);
}

} // namespace ucdtest
