// The arguments of an operation: as the program passes them, and checked.
#pragma once

#include "rma/rma_message.h"
#include "types/known_types.h"

#include <memory>
#include <ucd_ucx_rma.h>

namespace ucd_ucx::rma {

// The function that starts operations of this verb.
const char *name_of(Verb verb);

// Of `sent` and `received`, those that an operation does not have are empty.
struct RmaArguments {
    Verb verb;
    ucp_ep_h ep;
    Data sent, received;
    const ucd_ucx_window_key_t *key;
    intptr_t displacement;
    Data target; // has no buffer
    ucd_op_t op; // REPLACE for those that do not accumulate
    const ucd_ucx_param_t *param;
};

// A buffer of the origin, and what the operation owns of it.
struct OriginBuffer : Data {
    OwnedType kept_type;
    std::unique_ptr<const BufferHints> own_hints; // null if the hints belong to another object
};

struct CheckedArguments {
    // `type` is set already, and `hints` are those of the call. What the program may free after the
    // call is copied, except for the type that is sent.
    Status check(const RmaArguments &arguments, ucd_info_t hints, TypesOfOrigin &types,
                 const BufferHints &for_host);
    // Keeps the type that is sent, for an operation that starts after the call returns.
    Status hold();
    // The address of the buffer's data, if it is one segment of host memory and no driver has to be
    // asked; else null.
    char *contiguous(const OriginBuffer &buffer) const;

    uint64_t sent_bytes() const { return sends ? bytes : 0; }
    uint64_t granule() const { return accumulates(verb) && bytes > 0 ? type->element_bytes : 1; }

    Verb verb = Verb::put;
    bool sends = false;
    ucd_op_t op = UCD_OP__REPLACE;
    int64_t displacement = 0;
    uint64_t count = 0; // of the target's type
    uint64_t bytes = 0; // of the packed stream
    TypePtr type;
    ContentId window = {};
    OriginBuffer sent, received;
    OwnedInfo info; // keys for transfers

private:
    Status check_type(ucd_type_t target, TypesOfOrigin &types, OriginBuffer &buffer) const;
};

} // namespace ucd_ucx::rma
