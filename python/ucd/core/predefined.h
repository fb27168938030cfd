// The predefined types by name: as in ucd.h, and 2INT and _BOOL as Python can spell them.
#pragma once

#include <ucd.h>

namespace ucdpy {

struct Predefined {
    const char *name;
    ucd_type_t type;
};

#define UCDPY_TYPE(name)                                                                           \
    { #name, UCD_TYPE__##name }
inline const Predefined predefined[] = {
    {"C_BOOL", UCD_TYPE___BOOL},
    UCDPY_TYPE(CHAR),
    UCDPY_TYPE(SIGNED_CHAR),
    UCDPY_TYPE(UNSIGNED_CHAR),
    UCDPY_TYPE(WCHAR_T),
    UCDPY_TYPE(BYTE),
    UCDPY_TYPE(SHORT),
    UCDPY_TYPE(UNSIGNED_SHORT),
    UCDPY_TYPE(INT),
    UCDPY_TYPE(UNSIGNED),
    UCDPY_TYPE(LONG),
    UCDPY_TYPE(UNSIGNED_LONG),
    UCDPY_TYPE(LONG_LONG),
    UCDPY_TYPE(UNSIGNED_LONG_LONG),
    UCDPY_TYPE(INT8_T),
    UCDPY_TYPE(INT16_T),
    UCDPY_TYPE(INT32_T),
    UCDPY_TYPE(INT64_T),
    UCDPY_TYPE(UINT8_T),
    UCDPY_TYPE(UINT16_T),
    UCDPY_TYPE(UINT32_T),
    UCDPY_TYPE(UINT64_T),
    UCDPY_TYPE(INT_FAST8_T),
    UCDPY_TYPE(INT_FAST16_T),
    UCDPY_TYPE(INT_FAST32_T),
    UCDPY_TYPE(INT_FAST64_T),
    UCDPY_TYPE(UINT_FAST8_T),
    UCDPY_TYPE(UINT_FAST16_T),
    UCDPY_TYPE(UINT_FAST32_T),
    UCDPY_TYPE(UINT_FAST64_T),
    UCDPY_TYPE(INT_LEAST8_T),
    UCDPY_TYPE(INT_LEAST16_T),
    UCDPY_TYPE(INT_LEAST32_T),
    UCDPY_TYPE(INT_LEAST64_T),
    UCDPY_TYPE(UINT_LEAST8_T),
    UCDPY_TYPE(UINT_LEAST16_T),
    UCDPY_TYPE(UINT_LEAST32_T),
    UCDPY_TYPE(UINT_LEAST64_T),
    UCDPY_TYPE(INTMAX_T),
    UCDPY_TYPE(UINTMAX_T),
    UCDPY_TYPE(SIZE_T),
    UCDPY_TYPE(INTPTR_T),
    UCDPY_TYPE(UINTPTR_T),
    UCDPY_TYPE(PTRDIFF_T),
    UCDPY_TYPE(FLOAT16),
    UCDPY_TYPE(BFLOAT16),
    UCDPY_TYPE(FLOAT),
    UCDPY_TYPE(DOUBLE),
    UCDPY_TYPE(LONG_DOUBLE),
    UCDPY_TYPE(C_COMPLEX),
    UCDPY_TYPE(C_DOUBLE_COMPLEX),
    UCDPY_TYPE(C_LONG_DOUBLE_COMPLEX),
    UCDPY_TYPE(FLOAT_INT),
    UCDPY_TYPE(DOUBLE_INT),
    UCDPY_TYPE(LONG_INT),
    {"TWOINT", UCD_TYPE__2INT},
    UCDPY_TYPE(SHORT_INT),
    UCDPY_TYPE(LONG_DOUBLE_INT),
    {"TWOFLOAT", UCD_TYPE__2FLOAT},
    {"TWODOUBLE", UCD_TYPE__2DOUBLE},
};
#undef UCDPY_TYPE

// The name of a predefined type, nullptr for a derived one.
inline const char *predefined_name(ucd_type_t type) {
    for (const Predefined &p : predefined)
        if (p.type == type) return p.name;
    return nullptr;
}

} // namespace ucdpy
