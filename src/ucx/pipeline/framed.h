// A header and a packed stream as one message, without a buffer between: a generic UCP datatype
// whose operations have a Frame for their buffer.
#pragma once

#include "datatype/typed_buffer.h"
#include "pipeline/message.h"

#include <memory>

namespace ucd_ucx {

struct Frame {
    const TypedBuffer *buffer = nullptr;
    Header header; // to be sent, or received
    Direction direction = Direction::send;
    std::size_t prefix = sizeof(Header); // 0: the header goes another way
    int failure = UCD_SUCCESS;           // of packing or unpacking

    // What has come for a device's memory, to be unpacked at once: each fragment would wait for the
    // device. Empty if the header did not come first, when nothing tells how much there will be.
    std::unique_ptr<char[]> gathered;
    bool began_unpacking = false;
};

extern const ucp_generic_dt_ops_t frame_callbacks;

} // namespace ucd_ucx
