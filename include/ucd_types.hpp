/*
 * ucd_types.hpp - types from C++ types: elements, arrays by shape and strides, members of structs.
 * A part of ucd.hpp, which includes it.
 */
#ifndef UCD_TYPES_HPP_INCLUDED
#define UCD_TYPES_HPP_INCLUDED

/* Not 202002L, because GCC 10 defines 201709L with -std=c++20. */
#if __cplusplus <= 201703L
#error "ucd_types.hpp needs C++20: compile with -std=c++20, or use ucd.h, which is C"
#else

#include <ucd.hpp>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace ucd {
inline namespace UCD_INNER_NAMESPACE {

namespace detail {
template <class T>
inline constexpr bool unknown = false;

/* The element type of a C array or std::array of any rank, and the number of elements. */
template <class T>
struct Elements {
    using type = T;
    static constexpr intptr_t count = 1;
};
template <class T, std::size_t N>
struct Elements<T[N]> {
    using type = typename Elements<T>::type;
    static constexpr intptr_t count = static_cast<intptr_t>(N) * Elements<T>::count;
};
template <class T, std::size_t N>
struct Elements<std::array<T, N>> : Elements<T[N]> {};
} // namespace detail

/* The predefined type of a C++ arithmetic type, std::complex, std::byte or enumeration. */
template <class T>
TypeRef type_of() noexcept {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, std::byte>)
        return UCD_TYPE__BYTE;
    else if constexpr (std::is_enum_v<U>)
        return type_of<std::underlying_type_t<U>>();
    else if constexpr (std::is_same_v<U, bool>)
        return UCD_TYPE___BOOL;
    else if constexpr (std::is_same_v<U, char>)
        return UCD_TYPE__CHAR;
    else if constexpr (std::is_same_v<U, wchar_t>)
        return UCD_TYPE__WCHAR_T;
    else if constexpr (std::is_same_v<U, signed char>)
        return UCD_TYPE__SIGNED_CHAR;
    else if constexpr (std::is_same_v<U, unsigned char>)
        return UCD_TYPE__UNSIGNED_CHAR;
    else if constexpr (std::is_same_v<U, short>)
        return UCD_TYPE__SHORT;
    else if constexpr (std::is_same_v<U, unsigned short>)
        return UCD_TYPE__UNSIGNED_SHORT;
    else if constexpr (std::is_same_v<U, int>)
        return UCD_TYPE__INT;
    else if constexpr (std::is_same_v<U, unsigned>)
        return UCD_TYPE__UNSIGNED;
    else if constexpr (std::is_same_v<U, long>)
        return UCD_TYPE__LONG;
    else if constexpr (std::is_same_v<U, unsigned long>)
        return UCD_TYPE__UNSIGNED_LONG;
    else if constexpr (std::is_same_v<U, long long>)
        return UCD_TYPE__LONG_LONG;
    else if constexpr (std::is_same_v<U, unsigned long long>)
        return UCD_TYPE__UNSIGNED_LONG_LONG;
    else if constexpr (std::is_same_v<U, float>)
        return UCD_TYPE__FLOAT;
    else if constexpr (std::is_same_v<U, double>)
        return UCD_TYPE__DOUBLE;
    else if constexpr (std::is_same_v<U, long double>)
        return UCD_TYPE__LONG_DOUBLE;
    else if constexpr (std::is_same_v<U, std::complex<float>>)
        return UCD_TYPE__C_COMPLEX;
    else if constexpr (std::is_same_v<U, std::complex<double>>)
        return UCD_TYPE__C_DOUBLE_COMPLEX;
    else if constexpr (std::is_same_v<U, std::complex<long double>>)
        return UCD_TYPE__C_LONG_DOUBLE_COMPLEX;
    else
        static_assert(detail::unknown<T>, "no predefined type is the type of this; build one");
}

/* An array of T from its shape and its strides, in elements, outermost first; the last index varies
 * fastest in packed order. Strides have any sign. */
template <class T, class P = throwing>
typename P::template of<Type> array_of(Ints shape, Ints strides) {
    std::vector<intptr_t> bytes(strides.begin(), strides.end());
    for (intptr_t &s : bytes)
        if (__builtin_mul_overflow(s, static_cast<intptr_t>(sizeof(T)), &s))
            return P::template fail<Type>(UCD_ERR__OVERFLOW,
                                          "ucd.hpp: a stride in bytes does not fit");
    return Type::ndarray<P>(shape, bytes, type_of<T>());
}

/* A member of a struct and the type of one element of it, for members that are structs. */
template <class Struct, class Member>
struct Field {
    Member Struct::*member;
    TypeRef type;
};
/* Pairs &P::x with its type, for struct_of. */
template <class Struct, class Member>
Field<Struct, Member> field(Member Struct::*member, TypeRef type) {
    return {member, type};
}

namespace detail {
template <class Struct, class Member>
TypeRef field_type(Member Struct::*) {
    return type_of<typename Elements<Member>::type>();
}
template <class Struct, class Member>
TypeRef field_type(const Field<Struct, Member> &f) {
    return f.type;
}

template <class Struct, class Member>
constexpr intptr_t field_count(Member Struct::*) {
    return Elements<Member>::count;
}
template <class Struct, class Member>
constexpr intptr_t field_count(const Field<Struct, Member> &) {
    return Elements<Member>::count;
}

template <class Struct, class Member>
Struct struct_named(Member Struct::*);
template <class Struct, class Member>
Struct struct_named(Field<Struct, Member>);

/* Storage for a Struct that is never constructed: only addresses of its members are taken. */
template <class Struct>
union Place {
    char bytes[sizeof(Struct)];
    Struct value;
    Place() noexcept {}
    ~Place() {}
};
template <class Struct, class Member>
intptr_t field_offset(Place<Struct> &place, Member Struct::*member) {
    return reinterpret_cast<char *>(std::addressof(place.value.*member)) - place.bytes;
}
template <class Struct, class Member>
intptr_t field_offset(Place<Struct> &place, const Field<Struct, Member> &f) {
    return field_offset(place, f.member);
}
} // namespace detail

/* The named members of a struct, in this order, with the struct's size as extent, so that a count
 * above one describes an array of it: struct_of(&P::x, &P::id). Members may be arrays. For a member
 * that is itself a struct, give its type as well:
 * struct_of(&Q::name, field(&Q::point, point_type)). */
template <class P = throwing, class First, class... Rest>
typename P::template of<Type> struct_of(First first, Rest... rest) {
    using Struct = decltype(detail::struct_named(first));
    static_assert((std::is_same_v<Struct, decltype(detail::struct_named(rest))> && ...),
                  "members of one struct");
    static_assert(std::is_standard_layout_v<Struct>, "only these have members at fixed offsets");
    /* Not on the stack, where a large struct has no room. No byte of it is touched. */
    const std::unique_ptr<detail::Place<Struct>> place(new (std::nothrow) detail::Place<Struct>);
    if (!place)
        return P::template fail<Type>(UCD_ERR__OUT_OF_MEM, "ucd.hpp: no memory for a struct");
    const auto members = Type::structure<as_value>(
        {detail::field_count(first), detail::field_count(rest)...},
        {detail::field_offset(*place, first), detail::field_offset(*place, rest)...},
        {detail::field_type(first).get(), detail::field_type(rest).get()...});
    if (!members) return P::template fail<Type>(members.code(), members.message());
    return Type::resized<P>(*members, 0, sizeof(Struct));
}

} // namespace UCD_INNER_NAMESPACE
} // namespace ucd

#endif /* C++20 */

#endif // UCD_TYPES_HPP_INCLUDED
