// Ordinary arrays, read without the buffer protocol and without owning a tensor: for
// calls that are over before Python runs again.
#pragma once

#include "core/view.h"

namespace ucdpy {

// An array of numbers of this machine, in host memory unless it says otherwise.
struct Plain {
    static constexpr int max_dims = 4;

    char *data = nullptr;
    int ndim = 0;
    intptr_t shape[max_dims], strides[max_dims];
    ucd_type_t element = UCD_TYPE__NULL;
    intptr_t low = 0, high = 0;      // the range of bytes of all elements, relative to data
    intptr_t itemsize = 0, size = 0; // size: elements, which are less than some thousands
    bool is_writable = false, is_contiguous = false, is_on_host = true;

    uintptr_t bytes() const { return static_cast<uintptr_t>(size * itemsize); }
};

// Reads a numpy.ndarray or an array of a class with DLPack's exchange interface that a View has
// read before. False for all others, subclasses included, and for what has no elements or more than
// `most` bytes: a View reads or refuses them. May leave a Python exception.
bool read_plain(nb::handle array, uintptr_t most, Plain &plain);
// The same of tensors in other memory, too, whose bytes are not to be read here.
bool read_anywhere(nb::handle array, uintptr_t most, Plain &plain);

// Whether that is an array of NumPy: else one of a tensor's class.
bool is_numpys(nb::handle array);

// numpy.empty, if an array of NumPy was read.
PyObject *numpys_empty();

} // namespace ucdpy
