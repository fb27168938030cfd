// Moves between two sides whose bytes are in the order of nested loops around blocks, with a
// distance for each loop on either side. The loops may run in any order: those that are fastest on
// one side and those that are fastest on the other form matrices, which are transposed in tiles,
// and the others run around them, ordered by their distances.
#pragma once

#include "layout.h"

#include <cstdint>

namespace ucd::seq {

inline constexpr unsigned max_axes = 10;

// Where the iterations of a loop lie on one side: iteration i at displs[i] or, without a list, at
// i * stride.
struct Steps {
    int64_t stride = 0;
    const int64_t *displs = nullptr;
};

struct Axis {
    uint64_t count = 1;
    Steps from, to;
};

// The loops in the order of the packed stream, the outermost first.
struct Axes {
    Axis axis[max_axes];
    unsigned count = 0;
    uint64_t block = 0; // bytes
};

// The loops of a node, with the layout on the `from` side and the packed stream on the other.
// Returns false if there are too many, or if the node consists of anything but strided and equally
// long listed blocks.
bool find_axes(const Layout &layout, const Node &top, Axes &axes);

// Whether moving in tiles pays: neighbours on the `from` side are not those of the packed stream,
// and either these do not share a cache line there, or whole vectors can be transposed.
// `open_ended`: the count of the outermost loop depends on the call.
bool is_permuted(const Axes &axes, bool open_ended);

// For loops between two layouts: whether moving them directly is faster than packing and unpacking
// pieces that stay in the caches.
bool pays_in_one_pass(const Axes &axes);

// The same loops with the sides exchanged.
Axes exchanged(const Axes &axes);

// Moves the bytes [begin, end) of the packed stream. `from` and `to` are the addresses of the
// iteration 0 of all loops. The count of the outermost loop is not used.
void permute(const Axes &axes, uint64_t begin, uint64_t end, uintptr_t from, uintptr_t to);

} // namespace ucd::seq
