// From a predefined type at run time to its C++ representation at compile time.
#pragma once

#include "support/oracle/predefined.hpp"

#include <stdexcept>
#include <type_traits>

namespace ucdtest {

namespace detail {
enum PredefinedValue {
    value_of_null,
#define UCD_TEST_VALUE(NAME, CLASS, REPRESENTATION) value_of_##NAME,
    UCD_TEST_PREDEFINED(UCD_TEST_VALUE)
#undef UCD_TEST_VALUE
};
} // namespace detail

template <class T>
inline constexpr bool is_pair = false;
template <class V, class I>
inline constexpr bool is_pair<Pair<V, I>> = true;
template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<Complex<T>> = true;

// Calls visit(class constant, pointer of the representation's type (null)) for the type.
template <class F>
decltype(auto) with_representation(const Predefined &type, F &&visit) {
    switch (reinterpret_cast<std::uintptr_t>(type.handle)) {
#define UCD_TEST_CASE(NAME, CLASS, REPRESENTATION)                                                 \
    case detail::value_of_##NAME:                                                                  \
        return visit(std::integral_constant<TypeClass, TypeClass::CLASS>(),                        \
                     static_cast<REPRESENTATION *>(nullptr));
        UCD_TEST_PREDEFINED(UCD_TEST_CASE)
#undef UCD_TEST_CASE
    default: throw std::logic_error("not a predefined type");
    }
}

} // namespace ucdtest
