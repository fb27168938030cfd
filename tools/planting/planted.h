// What the sources with planted defects call. PLANTED_DEFECT says which of them is there in this
// process; none else. With PLANTED_MAP, a file of as many bytes as there are defects, all are
// absent, and what is reached gets a 1.
#pragma once
// ucd_device_code.h contains this file's text, beside which headers of the same test include it.
#ifndef UCD_PLANTED_H_INCLUDED
#define UCD_PLANTED_H_INCLUDED

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>

namespace ucd_planted {

inline unsigned char *open_map() {
    const char *path = std::getenv("PLANTED_MAP");
    if (path == nullptr) return nullptr;
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    struct stat about;
    if (file < 0 || ::fstat(file, &about) != 0) std::abort();
    const auto size = static_cast<std::size_t>(about.st_size);
    void *const map = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (map == MAP_FAILED) std::abort();
    return static_cast<unsigned char *>(map);
}

inline int chosen_number() {
    const char *number = std::getenv("PLANTED_DEFECT");
    return number == nullptr ? -1 : std::atoi(number);
}

struct State {
    unsigned char *map = open_map();
    int number_here = map != nullptr ? -2 : chosen_number();
};

// Each library has its own, which it has before its other variables, and a program before those of
// its tests.
[[gnu::visibility("hidden"), gnu::init_priority(101)]] inline const State state;

[[gnu::always_inline]] inline bool is_here(int number) {
    const int here = state.number_here;
    if (here == -2) [[unlikely]]
        state.map[number] = 1;
    return here == number;
}

// While compiling, nothing is changed.
[[gnu::always_inline]] constexpr bool chosen(int number) {
    if (std::is_constant_evaluated()) return false;
    return is_here(number);
}
// In the value of a constant that the compiler would work out if it could.
[[gnu::always_inline]] inline bool chosen(long number) {
    return is_here(static_cast<int>(number));
}

#define UCD_PLANTED_BINARY(name, sign, defect)                                                     \
    template <class N, class A, class B>                                                           \
    requires requires(const A &a, const B &b) {                                                    \
        a sign b;                                                                                  \
        a defect b;                                                                                \
    }                                                                                              \
    [[gnu::always_inline]] constexpr auto name(N number, const A &a, const B &b)                   \
        ->std::remove_cvref_t<decltype(a sign b)> {                                                \
        return chosen(number) ? a defect b : a sign b;                                             \
    }
#define UCD_PLANTED_RELATION(name, sign, defect, opposite)                                         \
    template <class N, class A, class B>                                                           \
    [[gnu::always_inline]] constexpr bool name(N number, const A &a, const B &b) {                 \
        return chosen(number) ? a defect b : chosen(number + 1) ? a opposite b : a sign b;         \
    }                                                                                              \
    template <class N, class A, class B>                                                           \
    [[gnu::always_inline]] constexpr bool name##_bound(N number, const A &a, const B &b) {         \
        if (chosen(number)) return a defect b;                                                     \
        if (chosen(number + 1)) return last_but_one##name(a, b);                                   \
        return a sign b;                                                                           \
    }

template <class A, class B>
[[gnu::always_inline]] constexpr bool last_but_oneless(const A &a, const B &b) {
    return a < b && a + 1 != b;
}
template <class A, class B>
[[gnu::always_inline]] constexpr bool last_but_oneless_equal(const A &a, const B &b) {
    return a < b;
}
template <class A, class B>
[[gnu::always_inline]] constexpr bool last_but_onegreater(const A &a, const B &b) {
    return a > b && a - 1 != b;
}
template <class A, class B>
[[gnu::always_inline]] constexpr bool last_but_onegreater_equal(const A &a, const B &b) {
    return a > b;
}

UCD_PLANTED_RELATION(less, <, <=, >=)
UCD_PLANTED_RELATION(less_equal, <=, <, >)
UCD_PLANTED_RELATION(greater, >, >=, <=)
UCD_PLANTED_RELATION(greater_equal, >=, >, <)
UCD_PLANTED_BINARY(equal, ==, !=)
UCD_PLANTED_BINARY(not_equal, !=, ==)
UCD_PLANTED_BINARY(plus, +, -)
UCD_PLANTED_BINARY(minus, -, +)
UCD_PLANTED_BINARY(times, *, /)
UCD_PLANTED_BINARY(over, /, *)
UCD_PLANTED_BINARY(modulo, %, /)
UCD_PLANTED_BINARY(left, <<, >>)
UCD_PLANTED_BINARY(right, >>, <<)
UCD_PLANTED_BINARY(bit_and, &, |)
UCD_PLANTED_BINARY(bit_or, |, &)

#define UCD_PLANTED_COMPOUND(name, sign, defect)                                                   \
    template <class N, class A, class B>                                                           \
    requires requires(A & a, const B &b) {                                                         \
        a sign b;                                                                                  \
        a defect b;                                                                                \
    }                                                                                              \
    [[gnu::always_inline]] constexpr A &name(N number, A &a, const B &b) {                         \
        if (chosen(number))                                                                        \
            a defect b;                                                                            \
        else                                                                                       \
            a sign b;                                                                              \
        return a;                                                                                  \
    }
UCD_PLANTED_COMPOUND(add_to, +=, -=)
UCD_PLANTED_COMPOUND(take_from, -=, +=)
UCD_PLANTED_COMPOUND(multiply, *=, /=)
UCD_PLANTED_COMPOUND(divide, /=, *=)
UCD_PLANTED_COMPOUND(set_bits, |=, &=)
UCD_PLANTED_COMPOUND(keep_bits, &=, |=)
UCD_PLANTED_COMPOUND(shift_left, <<=, >>=)
UCD_PLANTED_COMPOUND(shift_right, >>=, <<=)

template <class N, class A>
[[gnu::always_inline]] constexpr auto negative(N number, const A &a) {
    return chosen(number) ? +a : -a;
}

template <class N, class A>
[[gnu::always_inline]] constexpr A number(N number, A value, A other) {
    return chosen(number) ? other : value;
}
template <class N, class A>
[[gnu::always_inline]] constexpr A number(N number, A value, A other, A another) {
    return chosen(number) ? other : chosen(number + 1) ? another : value;
}

// A part of a key, or the outcome of a comparison, without which it is: the same for all.
template <class T>
inline const T nothing{};
template <class N, class T>
[[gnu::always_inline]] constexpr const T &left_out(N number, const T &value) {
    return chosen(number) ? nothing<T> : value;
}

template <class N>
struct min_of {
    N number;
    constexpr explicit min_of(N n) : number(n) {}
    template <class A>
    constexpr const A &operator()(const A &a, const A &b) const {
        return chosen(number) ? std::max(a, b) : std::min(a, b);
    }
};
template <class N>
struct max_of {
    N number;
    constexpr explicit max_of(N n) : number(n) {}
    template <class A>
    constexpr const A &operator()(const A &a, const A &b) const {
        return chosen(number) ? std::min(a, b) : std::max(a, b);
    }
};

template <class N, class Status>
constexpr std::remove_cvref_t<Status> ignored(N number, Status &&status) {
    return chosen(number) ? std::remove_cvref_t<Status>() : static_cast<Status &&>(status);
}

// A status that is neither success nor this one. UCX's are negative, UCD's positive.
template <class N, class Code>
constexpr Code another(N number, Code code) {
    const int value = static_cast<int>(code);
    const int first = value < 0 ? -3 : 1, second = value < 0 ? -5 : 2;
    return !chosen(number) ? code : static_cast<Code>(value == first ? second : first);
}
template <class N, class Status>
constexpr Status failure(N number, const Status &status) {
    return chosen(number) ? static_cast<Status>(std::is_enum_v<Status> ? -3 : 1) : status;
}

} // namespace ucd_planted

#endif // UCD_PLANTED_H_INCLUDED
