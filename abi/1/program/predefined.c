/* Predefined types and operations: their values mean now what they meant then. */
#include "check.h"

#include <complex.h>
#include <stdalign.h>
#include <stdbool.h>
#include <strings.h>
#include <wchar.h>

#define TYPE(name, c_type) {UCD_TYPE__##name, #name, sizeof(c_type), alignof(c_type)}
#define PAIR(name, value, index) {UCD_TYPE__##name, #name, sizeof(value) + sizeof(index), alignof(struct { value v; index i; })}

static const struct Predefined {
    ucd_type_t type;
    const char *name;
    uintptr_t size;
    uintptr_t alignment;
} predefined[] = {
    TYPE(_BOOL, bool), TYPE(CHAR, char), TYPE(SIGNED_CHAR, signed char), TYPE(UNSIGNED_CHAR, unsigned char),
    TYPE(WCHAR_T, wchar_t), TYPE(BYTE, char), TYPE(SHORT, short), TYPE(UNSIGNED_SHORT, unsigned short), TYPE(INT, int),
    TYPE(UNSIGNED, unsigned), TYPE(LONG, long), TYPE(UNSIGNED_LONG, unsigned long), TYPE(LONG_LONG, long long),
    TYPE(UNSIGNED_LONG_LONG, unsigned long long), TYPE(INT8_T, int8_t), TYPE(INT16_T, int16_t), TYPE(INT32_T, int32_t),
    TYPE(INT64_T, int64_t), TYPE(UINT8_T, uint8_t), TYPE(UINT16_T, uint16_t), TYPE(UINT32_T, uint32_t),
    TYPE(UINT64_T, uint64_t), TYPE(INT_FAST8_T, int_fast8_t), TYPE(INT_FAST16_T, int_fast16_t),
    TYPE(INT_FAST32_T, int_fast32_t), TYPE(INT_FAST64_T, int_fast64_t), TYPE(UINT_FAST8_T, uint_fast8_t),
    TYPE(UINT_FAST16_T, uint_fast16_t), TYPE(UINT_FAST32_T, uint_fast32_t), TYPE(UINT_FAST64_T, uint_fast64_t),
    TYPE(INT_LEAST8_T, int_least8_t), TYPE(INT_LEAST16_T, int_least16_t), TYPE(INT_LEAST32_T, int_least32_t),
    TYPE(INT_LEAST64_T, int_least64_t), TYPE(UINT_LEAST8_T, uint_least8_t), TYPE(UINT_LEAST16_T, uint_least16_t),
    TYPE(UINT_LEAST32_T, uint_least32_t), TYPE(UINT_LEAST64_T, uint_least64_t), TYPE(INTMAX_T, intmax_t),
    TYPE(UINTMAX_T, uintmax_t), TYPE(SIZE_T, size_t), TYPE(INTPTR_T, intptr_t), TYPE(UINTPTR_T, uintptr_t),
    TYPE(PTRDIFF_T, ptrdiff_t), TYPE(FLOAT16, int16_t), TYPE(BFLOAT16, int16_t), TYPE(FLOAT, float), TYPE(DOUBLE, double),
    TYPE(LONG_DOUBLE, long double), TYPE(C_COMPLEX, float _Complex), TYPE(C_DOUBLE_COMPLEX, double _Complex),
    TYPE(C_LONG_DOUBLE_COMPLEX, long double _Complex), PAIR(FLOAT_INT, float, int), PAIR(DOUBLE_INT, double, int),
    PAIR(LONG_INT, long, int), PAIR(2INT, int, int), PAIR(SHORT_INT, short, int), PAIR(LONG_DOUBLE_INT, long double, int),
    PAIR(2FLOAT, float, float), PAIR(2DOUBLE, double, double), TYPE(FLOAT8_E4M3, int8_t), TYPE(FLOAT8_E5M2, int8_t),
};

/* The line of ucd_describe that has a key, without the key; "" if there is none. */
static void line_of(ucd_type_t type, const char *key, char *line, size_t room) {
    char text[4096] = "\n";
    uintptr_t needed = 0;
    SUCCEEDS(ucd_describe(type, text + 1, sizeof text - 1, &needed));
    EXPECT(needed > 1 && needed == strlen(text + 1) + 1);
    line[0] = '\0';
    const char *at = strstr(text, key);
    if (at == NULL) return;
    at += strlen(key);
    const size_t length = strcspn(at, "\n");
    if (length >= room) return;
    memcpy(line, at, length);
    line[length] = '\0';
}

void check_predefined_types(void) {
    char line[64], alignment[8];
    EXPECT(UCD_TYPE__NULL == NULL && COUNT(predefined) == 62);
    for (size_t i = 0; i < COUNT(predefined); ++i) {
        const struct Predefined *const wanted = &predefined[i];
        uintptr_t size = 0;
        EXPECT((uintptr_t)wanted->type == i + 1);
        SUCCEEDS(ucd_get_size(wanted->type, &size));
        EXPECT(size == wanted->size);
        line_of(wanted->type, "\ntype: ", line, sizeof line);
        EXPECT(strcasecmp(line, wanted->name) == 0);
        line_of(wanted->type, "\nalignment: ", line, sizeof line);
        alignment[0] = (char)('0' + wanted->alignment % 10);
        EXPECT(line[strlen(line) - 1] == alignment[0]);
    }
}

/* What an operation makes of out = 6 and in = 3. */
static int result_of(ucd_op_t op, ucd_type_t type) {
    int in = 3, out = 6;
    uintptr_t bytes = 0;
    SUCCEEDS(ucd_pack(&in, 1, type, 0, &out, sizeof out, &bytes, UCD_INFO__NULL, op));
    EXPECT(bytes == sizeof out);
    return out;
}

/* The index of what an operation makes of {1, 5} and {2, 7}. */
static int index_of(ucd_op_t op) {
    const int in[2] = {2, 7};
    int out[2] = {1, 5};
    uintptr_t bytes = 0;
    SUCCEEDS(ucd_unpack(in, sizeof in, out, 1, UCD_TYPE__2INT, 0, &bytes, UCD_INFO__NULL, op));
    return out[1];
}

static double converted(double value, ucd_op_t op) {
    unsigned char out = 0;
    double back = 0;
    uintptr_t bytes = 0;
    SUCCEEDS(ucd_copy(&value, 1, UCD_TYPE__DOUBLE, &out, 1, UCD_TYPE__FLOAT8_E5M2, &bytes, UCD_INFO__NULL, op));
    EXPECT(bytes == 1);
    SUCCEEDS(ucd_copy(&out, 1, UCD_TYPE__FLOAT8_E5M2, &back, 1, UCD_TYPE__DOUBLE, &bytes, UCD_INFO__NULL, op));
    EXPECT(bytes == sizeof back);
    return back;
}

void check_ops(void) {
    EXPECT(result_of(UCD_OP__REPLACE, UCD_TYPE__INT) == 3);
    EXPECT(result_of(UCD_OP__MAX, UCD_TYPE__INT) == 6);
    EXPECT(result_of(UCD_OP__MIN, UCD_TYPE__INT) == 3);
    EXPECT(result_of(UCD_OP__SUM, UCD_TYPE__INT) == 9);
    EXPECT(result_of(UCD_OP__PROD, UCD_TYPE__INT) == 18);
    EXPECT(result_of(UCD_OP__LAND, UCD_TYPE__INT) == 1);
    EXPECT(result_of(UCD_OP__LOR, UCD_TYPE__INT) == 1);
    EXPECT(result_of(UCD_OP__LXOR, UCD_TYPE__INT) == 0);
    EXPECT(result_of(UCD_OP__BAND, UCD_TYPE__INT) == 2);
    EXPECT(result_of(UCD_OP__BOR, UCD_TYPE__INT) == 7);
    EXPECT(result_of(UCD_OP__BXOR, UCD_TYPE__INT) == 5);
    EXPECT(index_of(UCD_OP__MAXLOC) == 7);
    EXPECT(index_of(UCD_OP__MINLOC) == 5);
    EXPECT(converted(1.5, UCD_OP__CONVERT) == 1.5);
    EXPECT(converted(1e9, UCD_OP__CONVERT) > 1e300);
    EXPECT(converted(1e9, UCD_OP__CONVERT_SAT) == 57344);
    int in = 1, out = 2;
    uintptr_t bytes = 0;
    EXPECT_STATUS(UCD_ERR__INVALID_ARG,
                  ucd_pack(&in, 1, UCD_TYPE__INT, 0, &out, sizeof out, &bytes, UCD_INFO__NULL, UCD_OP__CONVERT));
    EXPECT_STATUS(UCD_ERR__NOT_SUPPORTED,
                  ucd_pack(&in, 4, UCD_TYPE__CHAR, 0, &out, sizeof out, &bytes, UCD_INFO__NULL, UCD_OP__SUM));
}
