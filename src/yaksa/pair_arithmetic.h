// Ops on types with pairs. ucd.h has MAXLOC and MINLOC for them; yaksa combines each member on its
// own. Rare, so it is done in packed form: a chunk of the stream at a time, and run by run.
#pragma once

#include "type.h"

#include <cstdint>

namespace ucd_yaksa {

// A range of whole elements of a stream.
struct Range {
    std::uintptr_t count = 0;
    const Type *type = nullptr;
    std::uintptr_t offset = 0, length = 0;
};

// outbuf = outbuf op the range of inbuf's stream. The work is complete on return.
int pack_pairs(const void *inbuf, const Range &range, void *outbuf, ucd_info_t hints, ucd_op_t op);
// The range of outbuf's stream = itself op inbuf.
int unpack_pairs(const void *inbuf, void *outbuf, const Range &range, ucd_info_t hints,
                 ucd_op_t op);

} // namespace ucd_yaksa
