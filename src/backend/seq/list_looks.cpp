// Plain loops, compiled like the kernels, so that the compiler vectorises them for each instruction
// set.
#include "list_looks.h"
#include "instructions.h"

namespace ucd::seq::UCD_SEQ_INSTRUCTIONS {
namespace {

// Not std::min, because the linker keeps only one copy of a template for all instruction sets.
inline int64_t lower(int64_t a, int64_t b) {
    return b < a ? b : a;
}
inline int64_t higher(int64_t a, int64_t b) {
    return b > a ? b : a;
}

template <class Times>
inline CopiedList copy_by(Times times, const int64_t *list, std::size_t count, int64_t origin,
                          int64_t *__restrict to) {
    int64_t least = list[0], most = least;
    uint64_t bits = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const int64_t entry = list[i];
        const uint64_t displ = times(static_cast<uint64_t>(entry) - static_cast<uint64_t>(origin));
        to[i] = static_cast<int64_t>(displ);
        bits |= displ;
        least = lower(least, entry);
        most = higher(most, entry);
    }
    return {{least, most}, bits};
}

CopiedList copy_entries(const int64_t *list, std::size_t count, int64_t origin, int64_t unit,
                        int64_t *to) {
    const auto each = static_cast<uint64_t>(unit);
    // Compilers vectorise shifts, but on many processors not 64-bit multiplications.
    if (each != 0 && (each & (each - 1)) == 0)
        return copy_by([shift = __builtin_ctzll(each)](uint64_t n) { return n << shift; }, list,
                       count, origin, to);
    return copy_by([each](uint64_t n) { return n * each; }, list, count, origin, to);
}

BlocksLook blocks(const int64_t *displs, const int64_t *lengths, std::size_t count) {
    uint64_t displ_bits = 0, sum = 0;
    int64_t least = INT64_MAX, most = INT64_MIN, shortest = INT64_MAX, longest = INT64_MIN;
    for (std::size_t i = 0; i < count; ++i) {
        const auto at = static_cast<uint64_t>(displs[i]),
                   length = static_cast<uint64_t>(lengths[i]);
        const auto last = static_cast<int64_t>(at + length - 1);
        displ_bits |= at ^ static_cast<uint64_t>(displs[i] >> 63);
        sum += length;
        shortest = lower(shortest, lengths[i]);
        longest = higher(longest, lengths[i]);
        least = lower(least, displs[i]);
        most = higher(most, last);
    }
    return {displ_bits, sum, shortest, longest, {least, most}};
}

} // namespace

// NOLINTNEXTLINE(readability-redundant-declaration): kernel_tables.cpp declares it, too
extern constinit const ListLooks looks;
constinit const ListLooks looks = {copy_entries, blocks};

} // namespace ucd::seq::UCD_SEQ_INSTRUCTIONS
