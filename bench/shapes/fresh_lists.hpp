// Lists of displacements that are new every time: particles that leave a domain, rows of a sparse
// matrix, and the like. The host's sections and those of GPUs make them here.
#pragma once

#include "shapes/recipe.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

enum class FreshKind {
    random, // equal pieces in any order
    sorted, // the same, in ascending order: some touch
    runs,   // ascending runs of one to four pieces
    bytes,  // sorted ones, in bytes and with a list of lengths, all of which are equal
};

// A list of doubles: what its sizes and its name are, before it is made.
struct FreshList {
    FreshKind kind;
    std::int64_t piece;   // bytes, a multiple of 8
    std::int64_t entries; // of the list

    std::string name() const;
};

// Random and sorted lists, and runs, with pieces of 8 B to 16 KiB and 100 to 10 million entries, but
// for those whose buffer is larger than `max_footprint` bytes; then some lists of every sorted kind.
std::vector<FreshList> fresh_lists(std::int64_t max_footprint);

// Where its entries lie: one place in four is taken.
struct FreshEntries {
    Ints displs;  // in doubles
    Ints lengths; // in doubles; empty: each is one piece
    Ints bytes;   // for FreshKind::bytes: `displs` in bytes
    std::int64_t packed_bytes = 0;
};
FreshEntries make_entries(const FreshList &list);

} // namespace bench
