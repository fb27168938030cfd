#include "core/integers.h"

#include <cstring>
#include <limits>

namespace ucdpy {

namespace {

// One-dimensional and contiguous buffers of 64-bit signed integers, which NumPy's index arrays are.
template <class T>
bool from_buffer(nb::handle object, std::vector<T> &list) {
    if (!PyObject_CheckBuffer(object.ptr())) return false;
    Py_buffer buffer;
    if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_ND | PyBUF_FORMAT) != 0) {
        PyErr_Clear(); // not contiguous: it is read as a sequence
        return false;
    }
    const char *format = buffer.format ? buffer.format : "B";
    const bool plain =
        buffer.ndim == 1 && buffer.itemsize == sizeof(int64_t) &&
        (!std::strcmp(format, "l") || !std::strcmp(format, "q") || !std::strcmp(format, "n"));
    if (plain) {
        const auto *first = static_cast<const int64_t *>(buffer.buf);
        list.assign(first, first + buffer.shape[0]);
    }
    PyBuffer_Release(&buffer);
    return plain;
}

} // namespace

template <class T>
std::vector<T> integers(nb::handle object, const char *what) {
    std::vector<T> list;
    if constexpr (sizeof(T) == sizeof(int64_t))
        if (from_buffer(object, list)) return list;
    if (!PySequence_Check(object.ptr()))
        raise(PyExc_TypeError, "%s must be a sequence or an array of integers", what);
    const Py_ssize_t size = PySequence_Size(object.ptr());
    if (size < 0) throw nb::python_error();
    list.reserve(static_cast<std::size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
        nb::object item = nb::steal(PySequence_GetItem(object.ptr(), i));
        if (!item.is_valid()) throw nb::python_error();
        const Py_ssize_t value = PyNumber_AsSsize_t(item.ptr(), PyExc_OverflowError);
        if (value == -1 && PyErr_Occurred()) throw nb::python_error();
        if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
            raise(PyExc_OverflowError, "%s: %zd does not fit a C int", what, value);
        list.push_back(static_cast<T>(value));
    }
    return list;
}

template std::vector<intptr_t> integers(nb::handle, const char *);
template std::vector<int> integers(nb::handle, const char *);

} // namespace ucdpy
