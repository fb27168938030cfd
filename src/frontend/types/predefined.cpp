#include "types/predefined.h"

#include "types/elements.h"

#include <cstddef>
#include <cwchar>
#include <iterator>
#include <new>
#include <public_lists.h>
#include <type_traits>

namespace ucd {
namespace {

template <class V, class I>
struct ValueAndIndex {
    V value;
    I index;
};

struct Entry {
    std::string_view name;
    Element element;
    uint32_t extent, alignment, size, true_extent;
};

template <class T>
constexpr Element integer_element() {
    constexpr bool is_signed = std::is_signed_v<T>;
    switch (sizeof(T)) {
    case 1: return is_signed ? Element::int8 : Element::uint8;
    case 2: return is_signed ? Element::int16 : Element::uint16;
    case 4: return is_signed ? Element::int32 : Element::uint32;
    default: return is_signed ? Element::int64 : Element::uint64;
    }
}

template <class T>
constexpr Entry scalar(std::string_view name, Element element) {
    return {name, element, sizeof(T), alignof(T), sizeof(T), sizeof(T)};
}
template <class T>
constexpr Entry integer(std::string_view name) {
    return scalar<T>(name, integer_element<T>());
}
template <class V, class I>
constexpr Entry pair(std::string_view name, Element element) {
    using P = ValueAndIndex<V, I>;
    return {name,
            element,
            sizeof(P),
            alignof(P),
            sizeof(V) + sizeof(I),
            offsetof(P, index) + sizeof(I)};
}

consteval Element of_long_double(Element x87, Element quad, Element plain) {
    return native_long_double == Element::x87_80      ? x87
           : native_long_double == Element::binary128 ? quad
                                                      : plain;
}

using ld = long double;

// What each predefined type is, in the order of the handle values, which are part of the ABI.
constexpr Entry predefined_entries[predefined_count + 1] = {
    {},
    scalar<bool>("_bool", Element::bool8),
    scalar<char>("char", Element::char8),
    integer<signed char>("signed_char"),
    integer<unsigned char>("unsigned_char"),
    scalar<wchar_t>("wchar_t", sizeof(wchar_t) == 2 ? Element::wchar16 : Element::wchar32),
    scalar<unsigned char>("byte", Element::byte),
    integer<short>("short"),
    integer<unsigned short>("unsigned_short"),
    integer<int>("int"),
    integer<unsigned>("unsigned"),
    integer<long>("long"),
    integer<unsigned long>("unsigned_long"),
    integer<long long>("long_long"),
    integer<unsigned long long>("unsigned_long_long"),
    integer<int8_t>("int8_t"),
    integer<int16_t>("int16_t"),
    integer<int32_t>("int32_t"),
    integer<int64_t>("int64_t"),
    integer<uint8_t>("uint8_t"),
    integer<uint16_t>("uint16_t"),
    integer<uint32_t>("uint32_t"),
    integer<uint64_t>("uint64_t"),
    integer<int_fast8_t>("int_fast8_t"),
    integer<int_fast16_t>("int_fast16_t"),
    integer<int_fast32_t>("int_fast32_t"),
    integer<int_fast64_t>("int_fast64_t"),
    integer<uint_fast8_t>("uint_fast8_t"),
    integer<uint_fast16_t>("uint_fast16_t"),
    integer<uint_fast32_t>("uint_fast32_t"),
    integer<uint_fast64_t>("uint_fast64_t"),
    integer<int_least8_t>("int_least8_t"),
    integer<int_least16_t>("int_least16_t"),
    integer<int_least32_t>("int_least32_t"),
    integer<int_least64_t>("int_least64_t"),
    integer<uint_least8_t>("uint_least8_t"),
    integer<uint_least16_t>("uint_least16_t"),
    integer<uint_least32_t>("uint_least32_t"),
    integer<uint_least64_t>("uint_least64_t"),
    integer<intmax_t>("intmax_t"),
    integer<uintmax_t>("uintmax_t"),
    integer<size_t>("size_t"),
    integer<intptr_t>("intptr_t"),
    integer<uintptr_t>("uintptr_t"),
    integer<ptrdiff_t>("ptrdiff_t"),
    scalar<uint16_t>("float16", Element::float16),
    scalar<uint16_t>("bfloat16", Element::bfloat16),
    scalar<float>("float", Element::float32),
    scalar<double>("double", Element::float64),
    scalar<ld>("long_double", native_long_double),
    scalar<float _Complex>("c_complex", Element::complex32),
    scalar<double _Complex>("c_double_complex", Element::complex64),
    scalar<long double _Complex>(
        "c_long_double_complex",
        of_long_double(Element::complex_x87_80, Element::complex_binary128, Element::complex64)),
    pair<float, int>("float_int", Element::float32_int32),
    pair<double, int>("double_int", Element::float64_int32),
    pair<long, int>("long_int", sizeof(long) == 8 ? Element::int64_int32 : Element::int32_int32),
    pair<int, int>("2int", Element::int32_int32),
    pair<short, int>("short_int", Element::int16_int32),
    pair<ld, int>("long_double_int", of_long_double(Element::x87_80_int32, Element::binary128_int32,
                                                    Element::float64_int32)),
    pair<float, float>("2float", Element::float32_float32),
    pair<double, double>("2double", Element::float64_float64),
    scalar<uint8_t>("float8_e4m3", Element::float8_e4m3),
    scalar<uint8_t>("float8_e5m2", Element::float8_e5m2),
};

// Every constant of ucd.h stands at its value, and there are no others.
#define UCD_NAMED(CONSTANT, word) word,
constexpr std::string_view names_of_ucd_h[] = {"", UCD_EACH_PREDEFINED(UCD_NAMED)};
#undef UCD_NAMED
consteval bool has_the_names_of_ucd_h() {
    for (unsigned value = 0; value <= predefined_count; ++value)
        if (predefined_entries[value].name != names_of_ucd_h[value]) return false;
    return std::size(names_of_ucd_h) == predefined_count + 1;
}
static_assert(has_the_names_of_ucd_h());

// Storage without a destructor, so that the types stay valid in any order of destruction at exit.
alignas(Type) std::byte storage[sizeof(Type) * (predefined_count + 1)];

Type *types() {
    return std::launder(reinterpret_cast<Type *>(storage));
}

} // namespace

void make_predefined_types() {
    for (unsigned value = 1; value <= predefined_count; ++value) {
        const Entry &e = predefined_entries[value];
        Type *t = new (&storage[sizeof(Type) * value]) Type;
        t->permanent = true;
        t->element = e.element;
        t->predefined = static_cast<uint8_t>(value);
        t->alignment = e.alignment;
        t->ops = supported_by(e.element);
        t->size = e.size;
        t->elements = elements_in(e.element);
        t->ub = e.extent;
        t->true_ub = e.true_extent;
    }
}

const Type &predefined_type(unsigned value) {
    return types()[value];
}

std::string_view predefined_name(unsigned value) {
    return predefined_entries[value].name;
}

unsigned predefined_with(Element element) {
    // Prefers types with fixed-width names, which express the representation.
    constexpr unsigned first_fixed = 15, last_fixed = 22;
    for (unsigned v = first_fixed; v <= last_fixed; ++v)
        if (predefined_entries[v].element == element) return v;
    for (unsigned v = 1; v <= predefined_count; ++v)
        if (predefined_entries[v].element == element) return v;
    return 0;
}

ElementPieces pieces_of(Element element) {
    if (element == Element::int16_int32) return {2, 4, 4};
    return {packed_size(element), 0, 0};
}

} // namespace ucd
