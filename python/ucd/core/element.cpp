#include "core/element.h"

#include "core/type.h"

#include <bit>
#include <cstring>

namespace ucdpy {

ucd_type_t integer_of(intptr_t bytes, bool is_signed) {
    switch (bytes) {
    case 1: return is_signed ? UCD_TYPE__INT8_T : UCD_TYPE__UINT8_T;
    case 2: return is_signed ? UCD_TYPE__INT16_T : UCD_TYPE__UINT16_T;
    case 4: return is_signed ? UCD_TYPE__INT32_T : UCD_TYPE__UINT32_T;
    case 8: return is_signed ? UCD_TYPE__INT64_T : UCD_TYPE__UINT64_T;
    default: return UCD_TYPE__NULL;
    }
}

ucd_type_t floating_of(intptr_t bytes) {
    switch (bytes) {
    case 2: return UCD_TYPE__FLOAT16;
    case 4: return UCD_TYPE__FLOAT;
    case 8: return UCD_TYPE__DOUBLE;
    case sizeof(long double): return UCD_TYPE__LONG_DOUBLE;
    default: return UCD_TYPE__NULL;
    }
}

ucd_type_t complex_of(intptr_t bytes) {
    switch (bytes) {
    case 8: return UCD_TYPE__C_COMPLEX;
    case 16: return UCD_TYPE__C_DOUBLE_COMPLEX;
    case 2 * sizeof(long double): return UCD_TYPE__C_LONG_DOUBLE_COMPLEX;
    default: return UCD_TYPE__NULL;
    }
}

namespace {

// Converts the result of a function of ucd._dtypes.
template <class... A>
Element read(const char *function, A... arguments) {
    const nb::object found = nb::module_::import_("ucd._dtypes").attr(function)(arguments...);
    Element element;
    element.owner = found.attr("type");
    element.dtype = found.attr("dtype");
    element.type = nb::cast<const Type &>(element.owner).get();
    return element;
}

// The bytes of a letter's element: those of this machine's C compiler, or the standard ones.
intptr_t bytes_of_letter(char letter, bool standard) {
    switch (letter) {
    case '?':
    case 'c':
    case 'b':
    case 'B': return 1;
    case 'h':
    case 'H':
    case 'e': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    case 'l':
    case 'L': return standard ? 4 : sizeof(long);
    case 'q':
    case 'Q':
    case 'd': return 8;
    case 'n':
    case 'N': return sizeof(Py_ssize_t);
    case 'g': return sizeof(long double);
    default: return 0;
    }
}

// A format of one letter in this machine's byte order, whose elements have its bytes;
// UCD_TYPE__NULL for all others.
ucd_type_t simple(const char *format, intptr_t itemsize) {
    constexpr char this_order = std::endian::native == std::endian::little ? '<' : '>';
    const bool standard = *format == '=' || *format == this_order;
    if (*format == '@' || standard) ++format;
    const bool is_complex = *format == 'Z';
    if (is_complex) ++format;
    if (*format == '\0' || format[1] != '\0') return UCD_TYPE__NULL;
    const intptr_t bytes = bytes_of_letter(*format, standard);
    if (bytes * (is_complex ? 2 : 1) != itemsize) return UCD_TYPE__NULL;
    if (is_complex) return std::strchr("fdg", *format) ? complex_of(itemsize) : UCD_TYPE__NULL;
    switch (*format) {
    case '?': return UCD_TYPE___BOOL;
    case 'c': return UCD_TYPE__CHAR;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n': return integer_of(itemsize, true);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N': return integer_of(itemsize, false);
    default: return floating_of(itemsize);
    }
}

bool has_metaclass(nb::handle array) {
    return array.type().type().ptr() != reinterpret_cast<PyObject *>(&PyType_Type);
}

// Whether a format may stand for something else: ctypes has 'B' for unions and for structures
// without padding. Its classes have metaclasses.
bool is_in_doubt(nb::handle array, const char *format) {
    if (*format != 'B') return false;
    if (!PyMemoryView_Check(array.ptr())) return has_metaclass(array);
    static PyObject *const name = PyUnicode_InternFromString("obj"); // stays
    const nb::object exporter = nb::steal(PyObject_GetAttr(array.ptr(), name));
    if (!exporter.is_valid()) throw nb::python_error();
    return has_metaclass(exporter);
}

} // namespace

Element bytes_of(intptr_t bytes) {
    return read("bytes_as_element", bytes);
}

Element element_of_buffer(nb::handle array, const char *format, intptr_t itemsize) {
    if (!format) format = "B";
    Element element;
    if (!is_in_doubt(array, format)) element.type = simple(format, itemsize);
    return element.type != UCD_TYPE__NULL ? element : read("of_buffer", array, format, itemsize);
}

Element element_of_tensor(nb::handle array, intptr_t itemsize) {
    return read("of_tensor", array, itemsize);
}

Element element_of_interface(nb::handle array, nb::handle interface) {
    return read("of_interface", array, interface);
}

} // namespace ucdpy
