// Ops on types with pairs. ucd.h supports only MAXLOC and MINLOC for pairs; yaksa combines each
// member separately. Since such calls are rare, the packed stream is processed in chunks, run by
// run.
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

// Computes outbuf = outbuf op (the range of inbuf's stream). The work is complete on return.
int pack_pairs(const void *inbuf, const Range &range, void *outbuf, ucd_info_t hints, ucd_op_t op);
// Computes (the range of outbuf's stream) = itself op inbuf.
int unpack_pairs(const void *inbuf, void *outbuf, const Range &range, ucd_info_t hints,
                 ucd_op_t op);

} // namespace ucd_yaksa
