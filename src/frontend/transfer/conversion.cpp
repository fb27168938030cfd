#include "transfer/conversion.h"

#include "transfer/host.h"
#include "transfer/route.h"

#include <algorithm>
#include <utility>

namespace ucd {

void PackedConversions::add(const MatchedRun &run, const char *from, char *to) {
    moves_[count_++] = packed_conversion(run, op_, limits_, from, to);
}

Status PackedConversions::run_on_host(Context &context) {
    Owner<Event> done; // stays null: the host's backend has finished on return
    const MoveList list(std::span<const CopyMove>(moves_).first(std::exchange(count_, 0)));
    return context.host().launch(0, list, done);
}

namespace {

constexpr uint64_t chunk_bytes = 16384;

// A side of a conversion: packed elements in place, or a chunk for some of them.
class ConvertedSide {
public:
    ConvertedSide(const Type &type, const CopyMove::Side &side, uint64_t length,
                  Direction direction, const Limits &limits)
        : move_(move_of_side(type, side, length, direction, Op::replace, limits)), length_(length) {
        if (is_contiguous(type, side, length, in_place_)) return;
        in_place_ = nullptr;
        move_.packed = chunk_;
    }

    // How many bytes of the rest may be converted at once.
    uint64_t room() const {
        return in_place_ != nullptr ? length_ - done_ : std::min(length_ - done_, chunk_bytes);
    }
    char *packed() { return in_place_ != nullptr ? in_place_ + done_ : chunk_; }

    // Moves the next bytes between the layout and the chunk.
    Status move(Context &context, uint64_t bytes) {
        if (in_place_ != nullptr) return success;
        CheckedMove part = move_;
        part.offset += done_;
        part.length = bytes;
        return run_on_host(context, part);
    }
    void advance(uint64_t bytes) { done_ += bytes; }
    bool completed() const { return done_ == length_; }

private:
    CheckedMove move_;
    const uint64_t length_;
    char *in_place_ = nullptr;
    uint64_t done_ = 0;
    alignas(64) char chunk_[chunk_bytes];
};

} // namespace

Status convert_on_host(Context &context, const CheckedCopy &c, const Limits &limits) {
    MatchedRuns runs(c.from, elements_of(*c.from_type), c.length, c.to, elements_of(*c.to_type),
                     c.to_length);
    ConvertedSide from(*c.from_type, c.from, c.length, Direction::pack, limits),
        to(*c.to_type, c.to, c.to_length, Direction::unpack, limits);
    PackedConversions conversions(c.op, limits);
    while (!from.completed()) {
        uint64_t from_bytes = 0, to_bytes = 0;
        for (MatchedRun run; !conversions.full() &&
                             runs.next(from.room() - from_bytes, to.room() - to_bytes, run);) {
            conversions.add(run, from.packed() + from_bytes, to.packed() + to_bytes);
            from_bytes += run.from_bytes();
            to_bytes += run.to_bytes();
        }
        UCD_TRY(from.move(context, from_bytes));
        UCD_TRY(conversions.run_on_host(context));
        UCD_TRY(to.move(context, to_bytes));
        from.advance(from_bytes);
        to.advance(to_bytes);
    }
    return success;
}

} // namespace ucd
