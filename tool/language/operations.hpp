// The names of the operations.
#pragma once

#include <ucd.h>

namespace ucdtool {

struct OperationName {
    const char *name; // the constant's name without UCD_OP__, in lower case
    ucd_op_t op;
};

// Ordered by value.
inline constexpr OperationName operation_names[] = {
    {"replace", UCD_OP__REPLACE}, {"max", UCD_OP__MAX},   {"min", UCD_OP__MIN},
    {"sum", UCD_OP__SUM},         {"prod", UCD_OP__PROD}, {"land", UCD_OP__LAND},
    {"lor", UCD_OP__LOR},         {"lxor", UCD_OP__LXOR}, {"band", UCD_OP__BAND},
    {"bor", UCD_OP__BOR},         {"bxor", UCD_OP__BXOR}, {"maxloc", UCD_OP__MAXLOC},
    {"minloc", UCD_OP__MINLOC}};

} // namespace ucdtool
