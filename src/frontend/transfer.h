// Moving data between wherever it lies. The one path of every pack, unpack, copy and batch: a range
// of a packed stream, where both of its sides are, and how to get it there.
#pragma once

#include "context.h"
#include "derived.h"
#include "job.h"
#include "request.h"
#include "type.h"

#include <memory>
#include <span>
#include <vector>

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

// A batch all of whose members one device moves, as its hints say: the quick way.
class DirectBatch {
public:
    // Whether that is so; then all members that have bytes are added. What is wrong with a hint, the other
    // way says, of a member.
    bool prepare(const Context &context, const Hints &hints, Direction direction, Op op,
                 std::size_t members);

    Status add(const Transfer &t) {
        const Plan *plan;
        UCD_TRY(plan_of(*t.type, *backend_, backend_index_, t.count > 1, plan));
        types_.push_back(t.type);
        jobs_.push_back({.plan = plan,
                         .laid_out = t.laid_out,
                         .packed = t.packed,
                         .count = t.count,
                         .offset = t.offset,
                         .length = t.length,
                         .direction = direction_,
                         .limits = limits_});
        return success;
    }

    // Like start() below.
    Status start(std::unique_ptr<Operation> &operation);

private:
    Backend *backend_ = nullptr;
    unsigned backend_index_ = 0;
    int device_ = 0;
    Direction direction_{};
    Limits limits_;
    std::vector<Job> jobs_;
    std::vector<const Type *> types_;
};

} // namespace ucd
