#include "language/constructors.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace ucdtool {
namespace {

constexpr Parameter count{"count", Part::number}, blocklength{"blocklength", Part::number},
    stride{"stride", Part::number}, oldtype{"oldtype", Part::type}, lb{"lb", Part::number},
    extent{"extent", Part::number}, displs{"displs", Part::list},
    blocklengths{"blocklengths", Part::list};

constexpr Parameter contig[] = {count, oldtype};
constexpr Parameter dup[] = {oldtype};
constexpr Parameter vector[] = {count, blocklength, stride, oldtype};
constexpr Parameter indexed_block[] = {blocklength, displs, oldtype};
constexpr Parameter indexed[] = {blocklengths, displs, oldtype};
constexpr Parameter structure[] = {blocklengths, displs, {"types", Part::types}};
constexpr Parameter subarray[] = {{"sizes", Part::list},
                                  {"subsizes", Part::list},
                                  {"starts", Part::list},
                                  {"order", Part::order},
                                  oldtype};
constexpr Parameter darray[] = {{"size", Part::number},
                                {"rank", Part::number},
                                {"gsizes", Part::list},
                                {"distribs", Part::distributions},
                                {"dargs", Part::distribution_args},
                                {"psizes", Part::list},
                                {"order", Part::order},
                                oldtype};
constexpr Parameter ndarray[] = {{"shape", Part::list}, {"byte_strides", Part::list}, oldtype};
constexpr Parameter resized[] = {oldtype, lb, extent};
constexpr Parameter aligned[] = {oldtype, {"alignment", Part::number}};
constexpr Parameter element_parameters[] = {
    {"class", Part::number}, {"bytes", Part::number}, {"alignment", Part::number}};
constexpr Parameter flattened[] = {{"file", Part::path}};

// Ordered by Kind.
constexpr Constructor constructors[] = {
    {Kind::contig, "contig", contig},
    {Kind::dup, "dup", dup},
    {Kind::vector, "vector", vector},
    {Kind::hvector, "hvector", vector},
    {Kind::indexed_block, "indexed_block", indexed_block},
    {Kind::hindexed_block, "hindexed_block", indexed_block},
    {Kind::indexed, "indexed", indexed},
    {Kind::hindexed, "hindexed", indexed},
    {Kind::structure, "struct", structure},
    {Kind::subarray, "subarray", subarray},
    {Kind::darray, "darray", darray},
    {Kind::ndarray, "ndarray", ndarray},
    {Kind::resized, "resized", resized},
    {Kind::bounds, "bounds", resized},
    {Kind::aligned, "aligned", aligned},
    {Kind::element, "element", element_parameters},
    {Kind::flattened, "flattened", flattened},
};

// Ordered by the handles' values.
const PredefinedName names[] = {
    {"_bool", UCD_TYPE___BOOL},
    {"char", UCD_TYPE__CHAR},
    {"signed_char", UCD_TYPE__SIGNED_CHAR},
    {"unsigned_char", UCD_TYPE__UNSIGNED_CHAR},
    {"wchar_t", UCD_TYPE__WCHAR_T},
    {"byte", UCD_TYPE__BYTE},
    {"short", UCD_TYPE__SHORT},
    {"unsigned_short", UCD_TYPE__UNSIGNED_SHORT},
    {"int", UCD_TYPE__INT},
    {"unsigned", UCD_TYPE__UNSIGNED},
    {"long", UCD_TYPE__LONG},
    {"unsigned_long", UCD_TYPE__UNSIGNED_LONG},
    {"long_long", UCD_TYPE__LONG_LONG},
    {"unsigned_long_long", UCD_TYPE__UNSIGNED_LONG_LONG},
    {"int8_t", UCD_TYPE__INT8_T},
    {"int16_t", UCD_TYPE__INT16_T},
    {"int32_t", UCD_TYPE__INT32_T},
    {"int64_t", UCD_TYPE__INT64_T},
    {"uint8_t", UCD_TYPE__UINT8_T},
    {"uint16_t", UCD_TYPE__UINT16_T},
    {"uint32_t", UCD_TYPE__UINT32_T},
    {"uint64_t", UCD_TYPE__UINT64_T},
    {"int_fast8_t", UCD_TYPE__INT_FAST8_T},
    {"int_fast16_t", UCD_TYPE__INT_FAST16_T},
    {"int_fast32_t", UCD_TYPE__INT_FAST32_T},
    {"int_fast64_t", UCD_TYPE__INT_FAST64_T},
    {"uint_fast8_t", UCD_TYPE__UINT_FAST8_T},
    {"uint_fast16_t", UCD_TYPE__UINT_FAST16_T},
    {"uint_fast32_t", UCD_TYPE__UINT_FAST32_T},
    {"uint_fast64_t", UCD_TYPE__UINT_FAST64_T},
    {"int_least8_t", UCD_TYPE__INT_LEAST8_T},
    {"int_least16_t", UCD_TYPE__INT_LEAST16_T},
    {"int_least32_t", UCD_TYPE__INT_LEAST32_T},
    {"int_least64_t", UCD_TYPE__INT_LEAST64_T},
    {"uint_least8_t", UCD_TYPE__UINT_LEAST8_T},
    {"uint_least16_t", UCD_TYPE__UINT_LEAST16_T},
    {"uint_least32_t", UCD_TYPE__UINT_LEAST32_T},
    {"uint_least64_t", UCD_TYPE__UINT_LEAST64_T},
    {"intmax_t", UCD_TYPE__INTMAX_T},
    {"uintmax_t", UCD_TYPE__UINTMAX_T},
    {"size_t", UCD_TYPE__SIZE_T},
    {"intptr_t", UCD_TYPE__INTPTR_T},
    {"uintptr_t", UCD_TYPE__UINTPTR_T},
    {"ptrdiff_t", UCD_TYPE__PTRDIFF_T},
    {"float16", UCD_TYPE__FLOAT16},
    {"bfloat16", UCD_TYPE__BFLOAT16},
    {"float", UCD_TYPE__FLOAT},
    {"double", UCD_TYPE__DOUBLE},
    {"long_double", UCD_TYPE__LONG_DOUBLE},
    {"c_complex", UCD_TYPE__C_COMPLEX},
    {"c_double_complex", UCD_TYPE__C_DOUBLE_COMPLEX},
    {"c_long_double_complex", UCD_TYPE__C_LONG_DOUBLE_COMPLEX},
    {"float_int", UCD_TYPE__FLOAT_INT},
    {"double_int", UCD_TYPE__DOUBLE_INT},
    {"long_int", UCD_TYPE__LONG_INT},
    {"2int", UCD_TYPE__2INT},
    {"short_int", UCD_TYPE__SHORT_INT},
    {"long_double_int", UCD_TYPE__LONG_DOUBLE_INT},
    {"2float", UCD_TYPE__2FLOAT},
    {"2double", UCD_TYPE__2DOUBLE},
    {"float8_e4m3", UCD_TYPE__FLOAT8_E4M3},
    {"float8_e5m2", UCD_TYPE__FLOAT8_E5M2},
};

} // namespace

const Constructor *constructor_named(std::string_view name) {
    const auto *found =
        std::ranges::find_if(constructors, [&](const Constructor &c) { return c.name == name; });
    return found == std::end(constructors) ? nullptr : found;
}

const Constructor &constructor_of(Kind kind) {
    return constructors[static_cast<std::size_t>(kind)];
}

std::span<const PredefinedName> predefined_names() {
    return names;
}

const PredefinedName *predefined_named(std::string_view name) {
    const auto *found =
        std::ranges::find_if(names, [&](const PredefinedName &p) { return p.name == name; });
    return found == std::end(names) ? nullptr : found;
}

const char *name_of(ucd_type_t predefined) {
    return names[reinterpret_cast<uintptr_t>(predefined) - 1].name;
}

std::vector<std::string> words_of_the_language() {
    std::vector<std::string> words;
    for (const Constructor &c : constructors) words.emplace_back(c.name);
    for (const PredefinedName &p : names) words.emplace_back(p.name);
    return words;
}

} // namespace ucdtool
