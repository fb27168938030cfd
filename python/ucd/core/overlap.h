// Whether strided sets of bytes have bytes in common.
#pragma once

#include "core/view.h"

#include <vector>

namespace ucdpy {

// A term of a sum: stride times any integer from low to high.
struct Term {
    intptr_t low, high, stride;
};

enum class Reached { no, yes, unknown };

// Whether a sum of such terms lies between first and last, these included. The search is given up
// after a number of steps, which arrays of programs do not need: unknown.
Reached reaches(const std::vector<Term> &terms, intptr_t first, intptr_t last);

// Whether two elements of an array, or of `count` of a type that reads no indices, have bytes in
// common. True if that is unknown.
bool overlaps_itself(const View &view);
bool overlaps_itself(ucd_type_t type, uintptr_t count);

// Whether a list of indices on the host has one of them twice.
bool repeats(const View &indices);

void bind_overlap(nb::module_ &m);

} // namespace ucdpy
