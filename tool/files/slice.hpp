// NumPy's basic slices: "0:512:2,:,7".
#pragma once

#include "files/npy.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ucdtool {

// A part of an array: the position of its first element, its shape and its strides in bytes.
struct ArrayPart {
    intptr_t start = 0;
    std::vector<intptr_t> shape, strides;
};

// Applies indices, slices (start:stop:step, each optional; negative numbers count from the end) and
// "...". Throws SyntaxError with the position.
ArrayPart slice_of(const Npy &array, std::string_view text);

} // namespace ucdtool
