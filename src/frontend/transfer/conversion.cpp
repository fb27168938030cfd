#include "transfer/conversion.h"

#include "host_functions.h"
#include "transfer/host.h"
#include "transfer/route.h"

#include <algorithm>
#include <utility>

namespace ucd {

void PackedConversions::add(const MatchedRun &run, const char *from, char *to) {
    moves_[count_++] = packed_conversion(run, op_, limits_, from, to);
}

void PackedConversions::run() {
    for (const Move &move : std::span(moves_).first(std::exchange(count_, 0))) run_move(move);
}

namespace {

constexpr uint64_t chunk_bytes = 16384;

// A side of a conversion: packed elements in place, or a chunk for some of them.
class ConvertedSide {
public:
    // `half` is a half of the conversion, whose packed side is not set.
    explicit ConvertedSide(const CheckedMove &half) : move_(half) {
        if (is_contiguous(half.type(), half.typed(), half.length, in_place_)) return;
        (half.direction() == Direction::pack ? move_.to : move_.from).address = chunk_;
    }

    // How many bytes of the rest may be converted at once.
    uint64_t room() const {
        return in_place_ != nullptr ? move_.length - done_
                                    : std::min(move_.length - done_, chunk_bytes);
    }
    bool is_packed() const { return in_place_ != nullptr; }
    char *packed() { return in_place_ != nullptr ? in_place_ + done_ : chunk_; }

    // Moves the next bytes between the layout and the chunk.
    Status move(Context &context, uint64_t bytes) {
        if (in_place_ != nullptr) return success;
        CheckedMove part = move_;
        (part.direction() == Direction::pack ? part.from : part.to).offset += done_;
        part.length = bytes;
        return run_on_host(context, part);
    }
    void advance(uint64_t bytes) { done_ += bytes; }
    bool completed() const { return done_ == move_.length; }

private:
    CheckedMove move_;
    char *in_place_ = nullptr;
    uint64_t done_ = 0;
    alignas(64) char chunk_[chunk_bytes];
};

// Converts from layout to layout where all elements of a side are of one kind. Returns false if it
// did nothing.
bool convert_equal_elements(const CheckedMove &m) {
    const auto part_of = [](const Type &type) { return converted_part(elements_of(type).kind); };
    const Element from = part_of(*m.from_type), to = part_of(*m.to_type);
    if (from == Element::none || to == Element::none) return false;
    const uint64_t begin = m.from.offset / packed_size(from);
    if (begin != m.to.offset / packed_size(to)) return false;
    return convert_in_one_pass(stream_of(*m.from_type, m.from), stream_of(*m.to_type, m.to), begin,
                               begin + m.length / packed_size(from),
                               {from, to, m.op == Op::convert_sat, m.limits.threads});
}

} // namespace

Status convert_on_host(Context &context, const CheckedMove &m) {
    MatchedRuns runs(m.from, elements_of(*m.from_type), m.length, m.to, elements_of(*m.to_type),
                     m.to_length);
    ConvertedSide from(m.input_half(nullptr)), to(m.output_half(nullptr));
    const bool packed = from.is_packed() && to.is_packed();
    if (!packed && m.length > chunk_bytes / 2 && convert_equal_elements(m)) return success;
    PackedConversions conversions(m.op, m.limits);
    while (!from.completed()) {
        uint64_t from_bytes = 0, to_bytes = 0;
        for (MatchedRun run; !conversions.full() &&
                             runs.next(from.room() - from_bytes, to.room() - to_bytes, run);) {
            conversions.add(run, from.packed() + from_bytes, to.packed() + to_bytes);
            from_bytes += run.from_bytes();
            to_bytes += run.to_bytes();
        }
        UCD_TRY(from.move(context, from_bytes));
        conversions.run();
        UCD_TRY(to.move(context, to_bytes));
        from.advance(from_bytes);
        to.advance(to_bytes);
    }
    return success;
}

} // namespace ucd
