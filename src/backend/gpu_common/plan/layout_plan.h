// A layout prepared for GPUs: the kernel that moves it, with its parameters and lists. Nothing in
// it depends on a vendor or a device.
#pragma once

#include "layout.h"
#include "plan/shape.h"
#include "plan/tuning.h"

#include <vector>

namespace ucd::gpu {

class LayoutPlan {
public:
    // Lists that would take more than `max_bytes` are not made: the interpreter then walks the
    // layout.
    LayoutPlan(const Layout &layout, int64_t extent, bool repeated, uint64_t max_bytes,
               const Tuning &tuning);

    // For moves that the shape's kernels cannot do.
    InterpreterLists interpreter_lists() const { return make_interpreter_lists(layout, top_); }

    const Layout &layout;
    const int64_t extent;
    const bool repeated;
    uint64_t size = 0;       // packed bytes of one repetition; 0 if nothing moves
    bool contiguous = false; // one block for any number of repetitions
    uint32_t word = 1;       // divides everything but the buffers' addresses
    Shape shape;
    uint32_t permuted_word = 0; // the width of elements, if ranges of them may be moved in tiles
    std::vector<char> lists; // of the shape; may be empty

    // For unpacking if words are narrow only because of the packed stream.
    unsigned levels_around_stores = 0;
    uint64_t period = 0; // packed bytes that the list describes
    uint32_t stores = 0;
    std::vector<char> aligned_stores; // empty if not used

private:
    void list_aligned_stores(uint64_t max_bytes, const Tuning &tuning);

    Node top_;
};

// The elements of a packed stream, in the same form. Their number does not matter.
InterpreterLists lists_of_elements(const Layout &runs, int64_t extent);

} // namespace ucd::gpu
