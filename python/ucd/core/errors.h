// From statuses to Python's exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include <ucd.h>

namespace ucdpy {

namespace nb = nanobind;

// Raises the exception class of this status with a sentence. Needs the GIL.
[[noreturn]] void raise_status(int rc, const char *sentence);

// Raises what ucd_last_error of this thread says, unless rc is UCD_SUCCESS. Needs the GIL.
inline void check(int rc) {
    if (rc != UCD_SUCCESS) raise_status(rc, ucd_last_error());
}

// Raises one of Python's own exceptions, for arguments that never reach the library.
template <class... A>
[[noreturn]] void raise(PyObject *exception, const char *format, A... args) {
    PyErr_Format(exception, format, args...);
    throw nb::python_error();
}

} // namespace ucdpy
