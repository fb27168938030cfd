// One look at the descriptors of a batch: whether all members go the same way.
#pragma once

#include "transfer/arguments.h"
#include "transfer/submission.h"

#include <algorithm>
#include <span>

namespace ucd {

// Of some of many: it only says whether a batch is worth being remembered.
template <class Desc>
uint64_t digest_of(std::span<const Desc> descs) {
    constexpr std::size_t some = 256;
    const std::size_t step = std::max<std::size_t>(descs.size() / some, 1);
    std::size_t digest = descs.size();
    for (std::size_t i = 0; i < descs.size(); i += step) {
        const MoveArguments a = arguments_of(descs[i], UCD_OP__REPLACE);
        for (const uintptr_t word :
             {reinterpret_cast<uintptr_t>(a.typed), a.count, reinterpret_cast<uintptr_t>(a.type),
              a.offset, reinterpret_cast<uintptr_t>(a.packed), a.packed_bytes})
            digest = (digest ^ word) * 0x9E3779B97F4A7C15;
    }
    return digest;
}

// True if one device moves all members, by the dispatch: each one's addresses are looked at. False
// also if a member is wrong, or has lists that are by reference.
template <class Desc>
bool survey_batch(Submission &submission, std::span<const Desc> descs, ucd_op_t op,
                  Dispatch &dispatch) {
    const Type *type = nullptr;
    ucd_type_t handle = UCD_TYPE__NULL;
    uintptr_t start = 0; // of the type's first byte
    for (const Desc &desc : descs) {
        const MoveArguments a = arguments_of(desc, op);
        if (a.type != handle || type == nullptr) {
            if (!resolve(a.type, "type", type).ok() || type->by_reference) return false;
            handle = a.type;
            if (type->size > 0) start = reinterpret_cast<uintptr_t>(first_byte(*type, nullptr));
        }
        const auto typed = reinterpret_cast<uintptr_t>(a.typed),
                   packed = reinterpret_cast<uintptr_t>(a.packed);
        const bool is_empty = type->size == 0 || a.count == 0 || a.packed_bytes == 0;
        if (!is_empty && !submission.is_alike(typed + start, packed, dispatch)) return false;
    }
    return submission.has_dispatch();
}

} // namespace ucd
