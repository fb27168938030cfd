#include "core/element.h"

#include "core/type.h"

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

ucd_type_t handle_of(nb::object type, nb::object &owner) {
    owner = std::move(type);
    return nb::cast<const Type &>(owner).get();
}

// A format of one letter in this machine's byte order; UCD_TYPE__NULL for all others.
ucd_type_t simple(const char *format, intptr_t itemsize) {
    if (*format == '@' || *format == '=' || *format == '<') ++format;
    if (*format == 'Z' && format[1] != '\0' && format[2] == '\0') return complex_of(itemsize);
    if (*format == '\0' || format[1] != '\0') return UCD_TYPE__NULL;
    switch (*format) {
    case '?': return itemsize == 1 ? UCD_TYPE___BOOL : UCD_TYPE__NULL;
    case 'c': return itemsize == 1 ? UCD_TYPE__CHAR : UCD_TYPE__NULL;
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
    case 'e':
    case 'f':
    case 'd':
    case 'g': return floating_of(itemsize);
    default: return UCD_TYPE__NULL;
    }
}

} // namespace

ucd_type_t bytes_of(intptr_t bytes, nb::object &owner) {
    return handle_of(nb::module_::import_("ucd._dtypes").attr("of_bytes")(bytes), owner);
}

ucd_type_t element_of_buffer(nb::handle array, const char *format, intptr_t itemsize,
                             nb::object &owner) {
    if (!format) format = "B";
    if (const ucd_type_t type = simple(format, itemsize); type != UCD_TYPE__NULL) return type;
    return handle_of(nb::module_::import_("ucd._dtypes").attr("of_buffer")(array, format, itemsize),
                     owner);
}

} // namespace ucdpy
