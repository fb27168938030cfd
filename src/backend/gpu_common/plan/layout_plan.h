// A layout prepared for GPUs: which kernel moves it, with which numbers and lists. Nothing in it
// belongs to a vendor or a device.
#pragma once

#include "layout.h"
#include "plan/shape.h"
#include "plan/tuning.h"

#include <vector>

namespace ucd::gpu {

// Two strided levels that are better moved in tiles, and the others; positions in Shape::level.
struct Matrix {
    bool found = false;
    unsigned row = 0; // the level with the short steps; the innermost one has the columns
};

class LayoutPlan {
public:
    // Lists that take more than `max_bytes` are not made: the interpreter then walks the layout.
    LayoutPlan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes,
               const Tuning &tuning);

    // For what the shape cannot do.
    InterpreterLists interpreter_lists() const { return make_interpreter_lists(layout, top_); }

    const Layout &layout;
    const int64_t extent;
    const bool repeated;
    uint64_t size = 0;       // packed bytes of one repetition; 0: nothing to move
    bool contiguous = false; // one block, however often it is repeated
    uint32_t word = 1;       // that everything is a multiple of, but for the buffers' addresses
    Shape shape;
    Matrix matrix;
    std::vector<char> lists; // of the shape; empty: none

    // For unpacking, where words are narrow for the stream's sake only.
    unsigned levels_around_stores = 0;
    uint64_t period = 0; // bytes of the stream that the list describes
    uint32_t stores = 0;
    std::vector<char> aligned_stores; // empty: none

private:
    void list_aligned_stores(uint64_t max_bytes, const Tuning &tuning);

    Node top_;
};

// The elements of a packed stream, in the same form. How many there are does not matter.
InterpreterLists lists_of_elements(const Layout &runs, int64_t extent);

} // namespace ucd::gpu
