// The jobs of a batch that is moved once, made of its descriptors when they are asked for.
#pragma once

#include "job.h"
#include "transfer/arguments.h"
#include "transfer/dispatch.h"

#include <algorithm>
#include <span>

namespace ucd {

// What is known of the last member. Those of one type and count tend to follow each other, and need
// no checks then.
class KnownMember {
public:
    // Of a member that was checked.
    KnownMember() = default;
    KnownMember(const MoveArguments &a, uint64_t total)
        : type_(a.type), count_(a.count), total_(total), is_known_(true) {}

    // Whether nothing can be wrong with this one.
    bool is_like(const MoveArguments &a, uint64_t reserved) const {
        return is_known_ && a.type == type_ && a.count == count_ && a.offset <= total_ &&
               a.packed != nullptr && reserved == 0;
    }
    // Of one that it is like, if there is no op.
    uint64_t length(const MoveArguments &a) const {
        return std::min<uint64_t>(total_ - a.offset, a.packed_bytes);
    }

private:
    ucd_type_t type_ = UCD_TYPE__NULL;
    uintptr_t count_ = 0;
    uint64_t total_ = 0; // bytes of the packed stream
    bool is_known_ = false;
};

template <class Desc>
uint64_t reserved_of(const Desc &desc) {
    return desc.reserved[0] | desc.reserved[1];
}

// Checks a member by itself.
template <class Desc>
Status check_member(const Desc &desc, ucd_op_t op, Direction direction, Transfer &t,
                    KnownMember &known) {
    UCD_TRY(check_member(desc, op, direction, t));
    uint64_t total;
    UCD_TRY(check_count(t.count, *t.type, "count", total));
    known = KnownMember(arguments_of(desc, op), total);
    return success;
}

template <class Desc>
class BatchJobs final : public JobMaker {
public:
    // Both live longer. The dispatch has no op.
    BatchJobs(const Dispatch &dispatch, std::span<const Desc> descs)
        : dispatch_(dispatch), descs_(descs) {}

    std::size_t size() const override { return descs_.size(); }

    Status make(std::size_t first, std::span<Job> jobs) const override {
        KnownMember known;
        const Plan *plan = nullptr; // its
        for (Job &job : jobs) {
            const Desc &desc = descs_[first++];
            const MoveArguments a = arguments_of(desc, UCD_OP__REPLACE);
            static_cast<JobSettings &>(job) = dispatch_.settings;
            if (plan != nullptr && known.is_like(a, reserved_of(desc))) [[likely]] {
                fill_job(plan, nullptr,
                         {nullptr, a.count, static_cast<char *>(const_cast<void *>(a.typed)),
                          static_cast<char *>(const_cast<void *>(a.packed)), a.offset,
                          known.length(a)},
                         job);
                continue;
            }
            Transfer t;
            plan = nullptr;
            UCD_TRY(at_member(first - 1, check_member(desc, UCD_OP__REPLACE,
                                                      dispatch_.settings.direction, t, known)));
            job.length = t.length;
            if (t.length == 0) continue; // a type without bytes may have no plan
            UCD_TRY(at_member(first - 1, complete_job(dispatch_.executor, t, job)));
            plan = job.plan;
        }
        return success;
    }

private:
    const Dispatch &dispatch_;
    const std::span<const Desc> descs_;
};

// Tells the caller how much of each member moves. All of them have been checked.
template <class Desc>
void write_lengths(std::span<Desc> descs, uintptr_t Desc::*actual, Direction direction,
                   ucd_op_t op) {
    KnownMember known;
    for (Desc &desc : descs) {
        const MoveArguments a = arguments_of(desc, op);
        if (op == UCD_OP__REPLACE && known.is_like(a, 0)) {
            desc.*actual = known.length(a);
            continue;
        }
        Transfer t;
        (void)check_member(desc, op, direction, t, known);
        desc.*actual = t.length;
    }
}

} // namespace ucd
