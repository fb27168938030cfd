// What copies and conversions from layout to layout have in common: nests with strides for both
// sides, and the parameters of kernels that go through the streams of two nests side by side.
#pragma once

#include "launch/gpu_plan.h"
#include "launch/launch_context.h"
#include "launch/launch_target.h"
#include "move.h"
#include "params/copy.h"
#include "plan/copy_nest.h"

#include <cstdint>
#include <vector>

namespace ucd::UCD_GPU {

// Divides words among threads and tiles. A thread has several if there are many.
template <class Params>
void share_words(uint64_t words, bool many, Params &params) {
    params.words = static_cast<uint32_t>(words);
    // performance only: a thread may copy any number of words
    params.per_thread = many ? copy_words_per_thread : 1;
    const uint64_t share = uint64_t{threads_per_block} * params.per_thread;
    params.tiles = static_cast<uint32_t>((words + share - 1) / share);
}

// A nest with its addresses.
struct PlacedNest {
    CopyNest nest;
    uintptr_t from, to;

    uint32_t word() const {
        uint64_t bits = nest.block | from | to;
        for (const CopyNest::Level &level : nest.levels)
            bits |= static_cast<uint64_t>(level.from) | static_cast<uint64_t>(level.to);
        return common_alignment(bits);
    }
    uint64_t words() const { return nest.bytes() / word(); }
    // Leaves the first half of the longest level, or of the block, and returns the second.
    PlacedNest split();
};

// The parts of a nest, one after the other. Positions have 31 bits, so a larger nest is divided.
class NestParts {
public:
    NestParts(const CopyNest &nest, uintptr_t from, uintptr_t to) : part_{nest, from, to} {
        shorten();
    }
    bool is_over() const { return is_over_; }
    const PlacedNest &part() const { return part_; }
    void next();

private:
    void shorten() {
        while (part_.words() >= max_positions) rest_.push_back(part_.split());
    }

    PlacedNest part_;
    bool is_over_ = false;
    std::vector<PlacedNest> rest_;
};

// A range of both streams: where it begins in each, and its length in bytes of the source's.
struct CopyRange {
    uint64_t from, to, length;
};

// The bytes of a unit on either side: the words of a copy, or the elements of a conversion.
struct CopyUnits {
    uint32_t from, to;
};

// Whether positions in the range fit the kernels that find places in nests.
bool fits_places(const PlannedSide &side, Slice range, uint32_t unit);

// Sets everything but the numbers of words and tiles. A word is one unit.
Status describe_rows(LaunchTarget &target, const PlannedSide &from, const PlannedSide &to,
                     const CopyRange &range, const CopyUnits &units, CopyPlacesParams &params);

} // namespace ucd::UCD_GPU
