// Plain loops, which the compiler turns into the widest instructions of each set. They are compiled
// as the kernels are.
#include "instructions.h"
#include "kernel_set.h"

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {
namespace {

// Not std::min: the linker keeps one copy of a template for all sets.
inline int64_t lower(int64_t a, int64_t b) {
    return b < a ? b : a;
}
inline int64_t higher(int64_t a, int64_t b) {
    return b > a ? b : a;
}

// Without wide comparisons, several in turn: each waits for the one before.
constexpr std::size_t lanes = 8;

ListReach reach(const int64_t *list, std::size_t count) {
    int64_t low[lanes], high[lanes];
    for (std::size_t k = 0; k < lanes; ++k) low[k] = high[k] = list[0];
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (std::size_t k = 0; k < lanes; ++k) {
            low[k] = lower(low[k], list[i + k]);
            high[k] = higher(high[k], list[i + k]);
        }
    for (; i < count; ++i) {
        low[0] = lower(low[0], list[i]);
        high[0] = higher(high[0], list[i]);
    }
    for (std::size_t k = 1; k < lanes; ++k) {
        low[0] = lower(low[0], low[k]);
        high[0] = higher(high[0], high[k]);
    }
    return {low[0], high[0]};
}

BlocksLook blocks(const int64_t *displs, const int64_t *lengths, std::size_t count) {
    uint64_t displ_bits = 0, length_bits = 0, sum = 0, empty = 0;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (std::size_t i = 0; i < count; ++i) {
        const auto at = static_cast<uint64_t>(displs[i]), length = static_cast<uint64_t>(lengths[i]);
        const auto last = static_cast<int64_t>(at + length - 1);
        displ_bits |= at ^ static_cast<uint64_t>(displs[i] >> 63);
        length_bits |= length;
        sum += length;
        empty |= length - 1; // the sign
        least = lower(least, displs[i]);
        most = higher(most, last);
    }
    return {displ_bits, length_bits, sum, static_cast<int64_t>(empty | length_bits) < 0,
            {least, most}};
}

void scale(const int64_t *list, std::size_t count, int64_t unit, int64_t *__restrict scaled) {
    const auto times = static_cast<uint64_t>(unit);
    if (times != 0 && (times & (times - 1)) == 0) {
        const int shift = __builtin_ctzll(times);
        for (std::size_t i = 0; i < count; ++i)
            scaled[i] = static_cast<int64_t>(static_cast<uint64_t>(list[i]) << shift);
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
        scaled[i] = static_cast<int64_t>(static_cast<uint64_t>(list[i]) * times);
}

uint64_t sum(const int64_t *list, std::size_t count) {
    uint64_t all = 0;
    for (std::size_t i = 0; i < count; ++i) all += static_cast<uint64_t>(list[i]);
    return all;
}

} // namespace

extern constinit const ListLooks looks;
constinit const ListLooks looks = {reach, blocks, scale, sum};

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
