// Moving data between wherever it lies. The one path of every pack, unpack, copy and batch: a range
// of a packed stream, where both of its sides are, and how to get it there.
#pragma once

#include "context.h"
#include "request.h"
#include "type.h"

#include <memory>
#include <span>

namespace ucd {

// One validated member of a call.
struct Transfer {
    const Type *type = nullptr;
    uint64_t count = 0;
    char *laid_out = nullptr; // the address of displacement 0
    char *packed = nullptr;   // where stream byte `offset` is or goes
    uint64_t offset = 0, length = 0;
};

// Starts all members but those of length 0; `operation` stays null if everything was complete on
// return. Host-to-host members run inside the call; nothing waits for a device. A failure starts
// nothing; what several members fail with has the member's index before it.
Status start(Context &context, std::span<const Transfer> members, Direction direction, Op op,
             const Hints &hints, std::unique_ptr<Operation> &operation);

} // namespace ucd
