// Lists of integers from Python: sequences, and arrays without a copy of each number as an object.
#pragma once

#include "core/errors.h"

#include <cstdint>
#include <vector>

namespace ucdpy {

// Each number of a sequence or of a one-dimensional array of integers. `what` is for messages.
template <class T = intptr_t>
std::vector<T> integers(nb::handle object, const char *what);

extern template std::vector<intptr_t> integers(nb::handle, const char *);
extern template std::vector<int> integers(nb::handle, const char *);

} // namespace ucdpy
