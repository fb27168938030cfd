// One look at the descriptors of a batch: whether all members go the same way.
#pragma once

#include "transfer/arguments.h"
#include "transfer/submission.h"

#include <span>

namespace ucd {

struct BatchSurvey {
    Dispatch dispatch;
    uint64_t digest = 0;              // of all descriptors
    std::shared_ptr<KeptTypes> types; // of the members
};

// True if one device moves all members, none of them by lists that are by reference. False also if
// a member is wrong. If the call is `hinted`, its hints have given the dispatch, and no address is
// looked at.
template <class Desc>
bool survey_batch(Submission &submission, std::span<const Desc> descs, ucd_op_t op, bool hinted,
                  BatchSurvey &survey) {
    const Type *type = nullptr;
    ucd_type_t handle = UCD_TYPE__NULL;
    uintptr_t start = 0; // of the type's first byte
    uint64_t digest = 0;
    for (const Desc &desc : descs) {
        const MoveArguments a = arguments_of(desc, op);
        if (a.type != handle || type == nullptr) {
            if (!resolve(a.type, "type", type).ok() || type->by_reference) return false;
            handle = a.type;
            if (survey.types == nullptr) survey.types = std::make_shared<KeptTypes>();
            survey.types->add(*type);
            if (!hinted && type->size > 0)
                start = reinterpret_cast<uintptr_t>(first_byte(*type, nullptr));
        }
        const auto typed = reinterpret_cast<uintptr_t>(a.typed),
                   packed = reinterpret_cast<uintptr_t>(a.packed);
        // Numbers that are all odd, so that no argument is lost.
        digest = (digest << 7 | digest >> 57) ^
                 (typed * 0x9E3779B97F4A7C15 + packed * 0xC2B2AE3D27D4EB4F);
        digest += reinterpret_cast<uintptr_t>(a.type) + a.count * 0x165667B19E3779F9 +
                  a.offset * 0x85EBCA77C2B2AE63 + a.packed_bytes * 0x27D4EB2F165667C5;
        if (hinted) continue;
        const bool is_empty = type->size == 0 || a.count == 0 || a.packed_bytes == 0;
        if (!is_empty && !submission.is_alike(typed + start, packed, survey.dispatch)) return false;
    }
    survey.digest = digest;
    return hinted || submission.has_dispatch();
}

} // namespace ucd
