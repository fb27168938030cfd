// The forms in which one and the same move can be asked for: blocking, with a request that is
// waited for or tested, as a member of a list, by a plan, and with hints that change nothing for
// host memory. Picks one at random.
#pragma once

#include "support/random/rng.hpp"

#include <ucd.h>

#include <cstddef>
#include <cstdint>

namespace ucdtest {

int call_pack(Rng &rng, const void *inbuf, std::uintptr_t count, ucd_type_t type,
              std::uintptr_t offset, void *outbuf, std::uintptr_t room, std::uintptr_t *actual,
              ucd_op_t op = UCD_OP__REPLACE);
int call_unpack(Rng &rng, const void *inbuf, std::uintptr_t size, void *outbuf,
                std::uintptr_t count, ucd_type_t type, std::uintptr_t offset,
                std::uintptr_t *actual, ucd_op_t op = UCD_OP__REPLACE);
int call_copy(Rng &rng, const void *inbuf, std::uintptr_t incount, ucd_type_t intype, void *outbuf,
              std::uintptr_t outcount, ucd_type_t outtype, std::uintptr_t *actual,
              ucd_op_t op = UCD_OP__REPLACE);

// A list of one move: in a call, or as a plan, which may get its addresses after it was made.
// `consumed`: bytes of the input's stream; of what is no conversion they are as many as `actual`.
int call_move(Rng &rng, ucd_move_t move, std::uintptr_t *actual, ucd_info_t info, ucd_op_t op,
              bool may_rebase, std::uintptr_t *consumed = nullptr);
// Such a list, or the function for packs, unpacks or copies, which take no part of both streams.
int call_any(Rng &rng, const ucd_move_t &move, std::uintptr_t *actual, ucd_info_t info, ucd_op_t op,
             bool may_rebase);

// Which bytes of the two streams a copy moves: all of the source to the start of the target, or
// a part that both have.
struct CopyRange {
    bool is_part = false;
    std::size_t in_offset = 0, out_offset = 0, bytes = 0;
    std::uintptr_t limit = UINTPTR_MAX; // ucd_move_t.bytes, which may be more than there is
};
// Any part of two streams of so many bytes.
CopyRange random_range(Rng &rng, std::size_t source, std::size_t target);

// Ends a request in one of the ways that there are; the status of the work.
int finish(Rng &rng, ucd_request_t &request);

// A value that no call leaves in an output argument by chance.
inline constexpr std::uintptr_t untouched = 0x5a5a5a5a5a5a5a5a;

} // namespace ucdtest
