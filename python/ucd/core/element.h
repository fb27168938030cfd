// From descriptions of an array's elements to types: the one reading that sizes, names and moves
// them.
#pragma once

#include "core/errors.h"

#include <cstdint>

namespace ucdpy {

// The one reading of an element: its type for moves, and its dtype for results.
struct Element {
    ucd_type_t type = UCD_TYPE__NULL;
    nb::object owner; // the Type of `type`, unless that is predefined
    nb::object dtype; // of owner: what ucd._dtypes makes a numpy.dtype of
};

// The predefined type of this many bytes, UCD_TYPE__NULL if there is none.
ucd_type_t integer_of(intptr_t bytes, bool is_signed);
ucd_type_t floating_of(intptr_t bytes);
ucd_type_t complex_of(intptr_t bytes);

// Returns an element of this many bytes that have no numeric meaning.
Element bytes_of(intptr_t bytes);

// By a format of the buffer protocol (NULL: bytes). Common ones are read here, all others by
// ucd._dtypes.
Element element_of_buffer(nb::handle array, const char *format, intptr_t itemsize);

// By the dtype that an array of DLPack may have: of bytes that DLPack has no element for.
Element element_of_tensor(nb::handle array, intptr_t itemsize);

// By an array's __array_interface__ or __cuda_array_interface__.
Element element_of_interface(nb::handle array, nb::handle interface);

} // namespace ucdpy
