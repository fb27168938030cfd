#include "constructors.hpp"

#include <cfloat>

namespace {

using ucd::Type;
using Types = std::vector<std::pair<std::string, Type>>;

constexpr std::intptr_t gib = std::intptr_t{1} << 30;

void add_predefined(Types &types) {
    const std::pair<const char *, ucd_type_t> all[] = {
        {"byte", UCD_TYPE__BYTE},
        {"char", UCD_TYPE__CHAR},
        {"wchar_t", UCD_TYPE__WCHAR_T},
        {"bool", UCD_TYPE___BOOL},
        {"int8_t", UCD_TYPE__INT8_T},
        {"int16_t", UCD_TYPE__INT16_T},
        {"int32_t", UCD_TYPE__INT32_T},
        {"int64_t", UCD_TYPE__INT64_T},
        {"uint8_t", UCD_TYPE__UINT8_T},
        {"uint16_t", UCD_TYPE__UINT16_T},
        {"uint32_t", UCD_TYPE__UINT32_T},
        {"uint64_t", UCD_TYPE__UINT64_T},
        {"float16", UCD_TYPE__FLOAT16},
        {"bfloat16", UCD_TYPE__BFLOAT16},
        {"float", UCD_TYPE__FLOAT},
        {"double", UCD_TYPE__DOUBLE},
        {"complex float", UCD_TYPE__C_COMPLEX},
        {"complex double", UCD_TYPE__C_DOUBLE_COMPLEX},
        {"float and int", UCD_TYPE__FLOAT_INT},
        {"double and int", UCD_TYPE__DOUBLE_INT},
        {"short and int", UCD_TYPE__SHORT_INT},
        {"two ints", UCD_TYPE__2INT},
        {"long and int", UCD_TYPE__LONG_INT},
        {"two floats", UCD_TYPE__2FLOAT},
        {"two doubles", UCD_TYPE__2DOUBLE},
        {"float8 e4m3", UCD_TYPE__FLOAT8_E4M3},
        {"float8 e5m2", UCD_TYPE__FLOAT8_E5M2},
#if LDBL_MANT_DIG == 64
        {"x87 long double", UCD_TYPE__LONG_DOUBLE},
        {"x87 complex long double", UCD_TYPE__C_LONG_DOUBLE_COMPLEX},
        {"x87 long double and int", UCD_TYPE__LONG_DOUBLE_INT},
#endif
    };
    for (const auto &[name, type] : all) types.emplace_back(name, Type::dup(type));
}

void add_strides(Types &types) {
    const auto add = [&](const char *name, Type type) {
        types.emplace_back(name, std::move(type));
    };
    add("contig", Type::contig(3, UCD_TYPE__INT32_T));
    add("vector with a negative stride", Type::vector(5, 2, -3, UCD_TYPE__FLOAT));
    add("hvector with an odd stride", Type::hvector(4, 1, 7, UCD_TYPE__INT16_T));
    add("hvector of 16-bit numbers", Type::hvector(300, 1, 1000, UCD_TYPE__DOUBLE));
    add("hvector of 32-bit numbers", Type::hvector(3, 2, 100000, UCD_TYPE__DOUBLE));
    add("hvector of 64-bit numbers", Type::hvector(3, 1, -5 * gib, UCD_TYPE__DOUBLE));
    add("terabytes without gaps", Type::contig(1024 * gib, UCD_TYPE__DOUBLE));
    add("as far as it goes", Type::hvector(2, 1, INTPTR_MAX - 1, UCD_TYPE__BYTE));
    add("subarray of 2 dimensions, Fortran",
        Type::subarray({10, 8}, {3, 4}, {2, 1}, UCD_ORDER__FORTRAN, UCD_TYPE__FLOAT));
    add("subarray of 3 dimensions, C",
        Type::subarray({8, 10, 12}, {3, 4, 5}, {1, 2, 3}, UCD_ORDER__C, UCD_TYPE__DOUBLE));
    add("subarray of 5 dimensions, C",
        Type::subarray({4, 4, 4, 4, 4}, {2, 3, 2, 3, 2}, {0, 1, 2, 0, 1}, UCD_ORDER__C,
                       UCD_TYPE__UINT8_T));
    add("darray, cyclic",
        Type::darray(6, 3, {17, 20}, {UCD_DISTRIBUTE__CYCLIC, UCD_DISTRIBUTE__BLOCK}, {2, 10},
                     {3, 2}, UCD_ORDER__C, UCD_TYPE__INT32_T));
    add("ndarray, reversed", Type::ndarray({4, 3}, {-24, -8}, UCD_TYPE__INT64_T));
    add("ndarray, an element repeated", Type::ndarray({2, 3}, {16, 0}, UCD_TYPE__INT32_T));
}

void add_bounds(Types &types) {
    const auto add = [&](const char *name, Type type) {
        types.emplace_back(name, std::move(type));
    };
    add("empty", Type::contig(0, UCD_TYPE__INT32_T));
    add("empty with bounds", Type::resized(Type::contig(0, UCD_TYPE__INT32_T), -3, 300));
    add("resized, 8-bit bounds", Type::resized(UCD_TYPE__INT32_T, -8, 32));
    add("resized, 32-bit bounds", Type::resized(UCD_TYPE__INT32_T, -40000, 100000));
    add("resized, 64-bit bounds", Type::resized(UCD_TYPE__INT32_T, 3 * gib, -9 * gib));
    add("vector of a resized type",
        Type::vector(3, 2, 4, Type::resized(UCD_TYPE__INT32_T, -4, 12)));
    add("start below the buffer", Type::hindexed_block(1, {-24}, UCD_TYPE__DOUBLE));
    add("start at an address", Type::hindexed({2}, {0x7f0012345678}, UCD_TYPE__DOUBLE));
}

void add_lists(Types &types) {
    const auto add = [&](const char *name, Type type) {
        types.emplace_back(name, std::move(type));
    };
    add("indexed_block, 8-bit steps",
        Type::hindexed_block(1, {100, 104, 112, 80}, UCD_TYPE__SHORT_INT));
    add("indexed_block, 16-bit steps",
        Type::indexed_block(2, {0, 1001, 1003, -7}, UCD_TYPE__INT32_T));
    add("indexed_block, 32-bit steps",
        Type::hindexed_block(1, {0, 1000003, 1, 900000001}, UCD_TYPE__UINT8_T));
    add("indexed_block, 64-bit steps",
        Type::hindexed_block(3, {0, 7 * gib + 1, 5, -8 * gib}, UCD_TYPE__BYTE));
    add("indexed_block, a place twice", Type::indexed_block(1, {4, 4, 0, 4}, UCD_TYPE__DOUBLE));
    add("indexed, 8-bit lengths", Type::indexed({1, 4, 2}, {0, 3, 20}, UCD_TYPE__DOUBLE));
    add("indexed, 16-bit lengths", Type::hindexed({1, 300, 2}, {0, 400, 1000}, UCD_TYPE__BYTE));
    add("indexed, 32-bit lengths", Type::indexed({1, 70000, 2}, {0, 3, 100000}, UCD_TYPE__INT16_T));
    add("indexed, 64-bit lengths", Type::hindexed({1, 6 * gib, 2}, {0, 3, -9}, UCD_TYPE__BYTE));
    add("indexed, lengths of 0", Type::indexed({2, 0, 3, 0, 1}, {0, 5, 9, 1, 30}, UCD_TYPE__FLOAT));
    add("indexed, one length",
        Type::indexed({3, 3, 3, 3}, {0, 5, 20, 9}, Type::resized(UCD_TYPE__INT32_T, 0, 12)));
    add("indexed, one list of its own in each run",
        Type::hindexed({1, 1, 1}, {0, 50, 70},
                       Type::hindexed({1, 2, 1}, {0, 3, 12}, UCD_TYPE__BYTE)));
    add("indexed, progression", Type::indexed({3, 1, 2, 4}, {0, 10, 20, 30}, UCD_TYPE__INT64_T));
    add("indexed, progression downwards", Type::indexed({3, 1, 2}, {0, -4, -8}, UCD_TYPE__INT16_T));
}

void add_structures(Types &types) {
    const auto add = [&](const char *name, Type type) {
        types.emplace_back(name, std::move(type));
    };
    const Type pairs = Type::hvector(2, 1, 16, UCD_TYPE__INT32_T);
    add("struct of predefined types",
        Type::structure({1, 1, 3}, {0, 8, 16},
                        {UCD_TYPE__INT32_T, UCD_TYPE__DOUBLE, UCD_TYPE__CHAR}));
    add("struct, progression",
        Type::structure({1, 1, 1}, {0, 8, 16},
                        {UCD_TYPE__INT32_T, UCD_TYPE__FLOAT, UCD_TYPE__SHORT_INT}));
    add("struct, a member twice",
        Type::structure({1, 1, 1}, {0, 24, 100}, {pairs.get(), UCD_TYPE__CHAR, pairs.get()}));
    add("struct, members out of order",
        Type::structure({2, 1, 1}, {70000, -70000, 0},
                        {UCD_TYPE__UINT16_T, UCD_TYPE__C_COMPLEX, UCD_TYPE___BOOL}));

    // Written as other kinds.
    add("struct of equal members",
        Type::structure({1, 1, 1}, {0, 40, 200}, {pairs.get(), pairs.get(), pairs.get()}));
    add("struct of blocks of one element",
        Type::structure({1, 4, 2}, {0, 16, 100},
                        {UCD_TYPE__DOUBLE, UCD_TYPE__DOUBLE, UCD_TYPE__DOUBLE}));
    add("struct of types that only names tell apart",
        Type::structure({1, 1, 1}, {0, 40, 48},
                        {UCD_TYPE__INT64_T, UCD_TYPE__INTMAX_T, UCD_TYPE__INT_LEAST64_T}));
    add("indexed_block in progressions of progressions",
        Type::indexed_block(1, {0, 2, 4, 10, 12, 14, 20, 22, 24}, UCD_TYPE__FLOAT));

    Type nested = Type::structure({1, 1}, {0, 4}, {UCD_TYPE__FLOAT, UCD_TYPE__INT16_T});
    for (int level = 0; level < 6; ++level)
        nested = level % 2 == 0 ? Type::hindexed_block(1, {0, 1000 << level, 100 << level}, nested)
                                : Type::structure({1, 1}, {8, 0}, {nested.get(), UCD_TYPE__CHAR});
    add("lists within structs within lists", std::move(nested));

    // More nodes than references of a byte can tell apart.
    std::vector<Type> members;
    std::vector<ucd_type_t> handles;
    std::vector<std::intptr_t> lengths, displacements;
    for (std::intptr_t i = 0; i < 260; ++i) {
        members.push_back(Type::hvector(2, 1, 3 + i, UCD_TYPE__INT8_T));
        handles.push_back(members.back().get());
        lengths.push_back(1);
        displacements.push_back(i * i);
    }
    add("struct of many members", Type::structure(lengths, displacements, handles));
}

} // namespace

std::vector<std::pair<std::string, ucd::Type>> constructed_types() {
    Types types;
    add_predefined(types);
    add_strides(types);
    add_bounds(types);
    add_lists(types);
    add_structures(types);
    return types;
}
