// Plain loops, compiled like the kernels, so that the compiler vectorises them for each instruction
// set.
#include "instructions.h"
#include "kernel_set.h"

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {
namespace {

// Not std::min, because the linker keeps only one copy of a template for all instruction sets.
inline int64_t lower(int64_t a, int64_t b) {
    return b < a ? b : a;
}
inline int64_t higher(int64_t a, int64_t b) {
    return b > a ? b : a;
}

CopiedList copy_entries(const int64_t *list, std::size_t count, int64_t *__restrict to) {
    const int64_t first = list[0];
    int64_t least = first, most = first, differing = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const int64_t entry = list[i];
        to[i] = entry;
        differing |= entry ^ first;
        least = lower(least, entry);
        most = higher(most, entry);
    }
    return {{least, most}, static_cast<uint64_t>(differing)};
}

BlocksLook blocks(const int64_t *displs, const int64_t *lengths, std::size_t count) {
    uint64_t displ_bits = 0, length_bits = 0, sum = 0, empty = 0;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (std::size_t i = 0; i < count; ++i) {
        const auto at = static_cast<uint64_t>(displs[i]),
                   length = static_cast<uint64_t>(lengths[i]);
        const auto last = static_cast<int64_t>(at + length - 1);
        displ_bits |= at ^ static_cast<uint64_t>(displs[i] >> 63);
        length_bits |= length;
        sum += length;
        empty |= length - 1; // the sign
        least = lower(least, displs[i]);
        most = higher(most, last);
    }
    return {displ_bits, length_bits, sum, static_cast<int64_t>(empty) < 0, {least, most}};
}

void scale(const int64_t *list, std::size_t count, int64_t unit, int64_t *__restrict scaled) {
    const auto times = static_cast<uint64_t>(unit);
    for (std::size_t i = 0; i < count; ++i)
        scaled[i] = static_cast<int64_t>(static_cast<uint64_t>(list[i]) * times);
}

} // namespace

// NOLINTNEXTLINE(readability-redundant-declaration): kernel_tables.cpp declares it, too
extern constinit const ListLooks looks;
constinit const ListLooks looks = {copy_entries, blocks, scale};

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
