#include "transfer/conversion.h"

#include "host_lists.h"
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
    bool is_packed() const { return in_place_ != nullptr; }
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

// Converts from layout to layout where all elements of a side are of one kind. Returns false if it
// did nothing.
bool convert_equal_elements(const CheckedCopy &c, const Limits &limits) {
    const auto part_of = [](const Type &type) { return converted_part(elements_of(type).kind); };
    const Element from = part_of(*c.from_type), to = part_of(*c.to_type);
    if (from == Element::none || to == Element::none) return false;
    const uint64_t begin = c.from.offset / packed_size(from);
    if (begin != c.to.offset / packed_size(to)) return false;
    return convert_in_one_pass(stream_of(*c.from_type, c.from), stream_of(*c.to_type, c.to), begin,
                               begin + c.length / packed_size(from),
                               {from, to, c.op == Op::convert_sat, limits.threads});
}

} // namespace

Status convert_on_host(Context &context, const CheckedCopy &c, const Limits &limits) {
    MatchedRuns runs(c.from, elements_of(*c.from_type), c.length, c.to, elements_of(*c.to_type),
                     c.to_length);
    ConvertedSide from(*c.from_type, c.from, c.length, Direction::pack, limits),
        to(*c.to_type, c.to, c.to_length, Direction::unpack, limits);
    const bool packed = from.is_packed() && to.is_packed();
    if (!packed && c.length > chunk_bytes / 2 && convert_equal_elements(c, limits)) return success;
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
