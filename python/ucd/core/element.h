// From descriptions of an array's elements to types.
#pragma once

#include "core/errors.h"

#include <cstdint>

namespace ucdpy {

// The predefined type of this many bytes, UCD_TYPE__NULL if there is none.
ucd_type_t integer_of(intptr_t bytes, bool is_signed);
ucd_type_t floating_of(intptr_t bytes);
ucd_type_t complex_of(intptr_t bytes);

// So many bytes without meaning.
ucd_type_t bytes_of(intptr_t bytes, nb::object &owner);

// The type of an array's elements by its format of the buffer protocol (NULL: bytes). Common
// ones are found here, all others by ucd._dtypes, whose Type is put into owner.
ucd_type_t element_of_buffer(nb::handle array, const char *format, intptr_t itemsize,
                             nb::object &owner);

} // namespace ucdpy
