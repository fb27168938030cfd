// The moves of a batch that is moved once, made of its descriptors when they are asked for.
#pragma once

#include "move.h"
#include "transfer/arguments.h"
#include "transfer/async_operation.h"
#include "transfer/dispatch.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace ucd {

// Whether a member moves as many bytes of the same type, from the same offset on, as one that was
// checked: then only its addresses are its own.
inline bool is_alike(const MoveArguments &a, const MoveArguments &checked) {
    return ((reinterpret_cast<uintptr_t>(a.type) ^ reinterpret_cast<uintptr_t>(checked.type)) |
            (a.count ^ checked.count) | (a.offset ^ checked.offset) |
            (a.packed_bytes ^ checked.packed_bytes)) == 0;
}

// How many threads pay for looking at so many members, `most` at most.
inline unsigned batch_threads(std::size_t members, uint32_t most) {
    // In a process that uses a GPU, starting and ending a thread takes 100 us and more.
    constexpr std::size_t worth_a_thread = 32768;
    return static_cast<unsigned>(std::clamp<std::size_t>(members / worth_a_thread, 1, most));
}

// The members of thread `i`.
struct Share {
    std::size_t begin, count;
};
inline Share share_of(std::size_t members, unsigned i, unsigned threads) {
    const std::size_t begin = members / threads * i + std::min<std::size_t>(i, members % threads);
    return {begin, members / threads + (i < members % threads ? 1 : 0)};
}

// Members that are checked as they come up.
template <class Desc>
class BatchMoves final : public MoveMaker {
public:
    // Both live longer. The dispatch has no op.
    BatchMoves(const Dispatch &dispatch, std::span<const Desc> descs, std::size_t before = 0)
        : dispatch_(dispatch), descs_(descs), before_(before) {}

    std::size_t members() const override { return descs_.size(); }

    Status make(std::size_t &first, Move &move, std::span<MoveAddresses> at,
                std::size_t &made) override {
        made = 0;
        Transfer t;
        for (; t.length == 0; ++first) {
            if (first == descs_.size()) return success;
            UCD_TRY(at_member(before_ + first, check(descs_[first], t)));
        }
        static_cast<MoveSettings &>(move) = dispatch_.settings;
        UCD_TRY(at_member(before_ + first - 1, complete_move(dispatch_.executor, t, move)));
        at[made++] = {t.typed, t.packed};
        const MoveArguments checked = arguments_of(descs_[first - 1], UCD_OP__REPLACE);
        for (; first < descs_.size() && made < at.size(); ++first) {
            const Desc &desc = descs_[first];
            const MoveArguments a = arguments_of(desc, UCD_OP__REPLACE);
            if (!is_alike(a, checked) || a.packed == nullptr ||
                (desc.reserved[0] | desc.reserved[1]) != 0)
                break;
            at[made++] = {static_cast<char *>(const_cast<void *>(a.typed)),
                          static_cast<char *>(const_cast<void *>(a.packed))};
        }
        return success;
    }

    unsigned divide() override {
        const unsigned threads = batch_threads(descs_.size(), dispatch_.settings.limits.threads);
        if (threads == 1) return 1;
        parts_.reserve(threads);
        for (unsigned i = 0; i < threads; ++i) {
            const Share share = share_of(descs_.size(), i, threads);
            parts_.emplace_back(dispatch_, descs_.subspan(share.begin, share.count), share.begin);
        }
        return threads;
    }
    MoveMaker &part(unsigned i) override { return parts_[i]; }
    void unite() override {
        for (const BatchMoves &part : parts_) {
            types_->add(*part.types_);
            found_references_ = found_references_ || part.found_references_;
        }
    }

    // Of the members that were asked for.
    std::shared_ptr<KeptTypes> types() const { return types_; }
    // Whether one of them needs lists that are by reference: those are looked for member by member,
    // and nothing was made.
    bool found_references() const { return found_references_; }

private:
    Status check(const Desc &desc, Transfer &t) {
        UCD_TRY(check_member(desc, UCD_OP__REPLACE, dispatch_.settings.direction, t));
        if (t.type->by_reference) {
            found_references_ = true;
            return fail(UCD_ERR__NOT_SUPPORTED, "a batch made at once reads no caller's indices");
        }
        types_->add(*t.type);
        return success;
    }

    const Dispatch &dispatch_;
    const std::span<const Desc> descs_;
    const std::size_t before_; // members of the batch
    std::vector<BatchMoves> parts_;
    const std::shared_ptr<KeptTypes> types_ = std::make_shared<KeptTypes>();
    bool found_references_ = false;
};

// Tells the caller how much of each member moves. All of them have been checked.
template <class Desc>
void write_lengths(std::span<Desc> descs, uintptr_t Desc::*actual, Direction direction,
                   ucd_op_t op) {
    Transfer t;
    MoveArguments checked{};
    for (Desc &desc : descs) {
        const MoveArguments a = arguments_of(desc, op);
        if (!is_alike(a, checked) || a.type == UCD_TYPE__NULL) {
            (void)check_member(desc, op, direction, t);
            checked = a;
        }
        desc.*actual = t.length;
    }
}

} // namespace ucd
