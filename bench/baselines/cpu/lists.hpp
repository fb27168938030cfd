// Loops by hand over a list that is known at run time only, of pieces whose size is known before.
#pragma once

#include <cstdint>
#include <span>

namespace bench {

// Displacements and lengths in doubles; without lengths, each entry is a piece of the loop's size.
using ListLoop = void (*)(const std::intptr_t *displs, const std::intptr_t *lengths,
                          std::int64_t entries, char *typed, char *packed);

struct ListWay {
    const char *way;
    ListLoop pack;
};

namespace hand {

// Packs of pieces of so many bytes, one of those of fresh_lists.hpp.
std::span<const ListWay> lists_of_pieces(std::int64_t piece);
std::span<const ListWay> lists_of_runs();

} // namespace hand
} // namespace bench
