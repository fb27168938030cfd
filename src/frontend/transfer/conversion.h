// Conversions of elements that are packed, or on their way from one layout to another.
#pragma once

#include "prepared/element_match.h"
#include "transfer/check.h"
#include "transfer/context.h"
#include "transfer/staged.h"

#include <array>
#include <vector>

namespace ucd {

// The conversion of a run at these addresses.
inline Move packed_conversion(const MatchedRun &run, Op op, const Limits &limits, const char *from,
                              char *to) {
    Move move;
    move.from.address = const_cast<char *>(from);
    move.to.address = to;
    move.length = run.from_bytes();
    move.limits = limits;
    move.op = op;
    move.from_element = run.from;
    move.to_element = run.to;
    return move;
}

// Calls run(matched run, from, to) for the runs of parts that are packed at `from`, to be converted
// to `to`, until it fails.
template <class Run>
Status for_each_conversion(const std::vector<Part> &parts, const char *from, char *to, Run run) {
    for (const Part &part : parts) {
        uint64_t from_left = part.length, to_left = part.to_length;
        MatchedRuns runs(part.from, elements_of(*part.from_type), from_left, part.to,
                         *part.elements, to_left);
        for (MatchedRun matched; runs.next(from_left, to_left, matched);) {
            UCD_TRY(
                run(matched, from + (part.from_end() - from_left), to + (part.to_end() - to_left)));
            from_left -= matched.from_bytes();
            to_left -= matched.to_bytes();
        }
    }
    return success;
}

// Collects conversions between packed elements, and has a backend perform them.
class PackedConversions {
public:
    PackedConversions(Op op, const Limits &limits) : op_(op), limits_(limits) {}

    bool full() const { return count_ == moves_.size(); }
    // Adds a run at these addresses. There must be room.
    void add(const MatchedRun &run, const char *from, char *to);
    // Performs and removes all.
    void run();

private:
    const Op op_;
    const Limits limits_;
    std::size_t count_ = 0;
    std::array<Move, 32> moves_;
};

// Runs a checked conversion in host memory, through chunks that stay in the cache where a side is
// not contiguous.
Status convert_on_host(Context &context, const CheckedMove &m);

} // namespace ucd
