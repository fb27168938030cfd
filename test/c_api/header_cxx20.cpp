/*
 * Both headers compile alone and repeated, as C++20; predefined handles are constants
 * for static initialisers; the ABI is as pinned, as in C; the wrapper's classes own what they
 * should.
 */
#include <ucd.hpp>
/* clang-format off */
#include <ucd.hpp> /* again */
#include <ucd.h>   /* again */
#include <ucd_memory.h>
#include "abi_pins.h"
/* clang-format on */

#include <type_traits>

static_assert(std::is_standard_layout_v<ucd_layout_t> && std::is_trivial_v<ucd_layout_t>);
static_assert(std::is_standard_layout_v<ucd_stream_t> && std::is_trivial_v<ucd_stream_t>);

template <class T>
constexpr bool move_only =
    std::is_nothrow_move_constructible_v<T> &&std::is_nothrow_move_assignable_v<T> &&
    !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(move_only<ucd::Type> && move_only<ucd::Request> && move_only<ucd::Info>);
static_assert(move_only<ucd::Session>);
static_assert(move_only<ucd::Result<ucd::Type>>);
static_assert(!std::is_convertible_v<ucd_type_t, ucd::Type>); // taking over is said aloud
static_assert(std::is_convertible_v<ucd_type_t, ucd::TypeRef>);
static_assert(std::is_convertible_v<const ucd::Type &, ucd::TypeRef>);
static_assert(std::is_trivially_copyable_v<ucd::TypeRef>);
static_assert(sizeof(ucd::Type) == sizeof(ucd_type_t));
static_assert(sizeof(ucd::Request) == sizeof(ucd_request_t));
static_assert(std::is_base_of_v<std::exception, ucd::Error>);

namespace {
ucd_request_t no_request = UCD_REQUEST__NULL;
ucd_info_t no_info = UCD_INFO__NULL;
ucd_plan_t no_plan = UCD_PLAN__NULL;
} // namespace

extern "C" int ucd_header_cxx20(void);

/* The number of handles and initialisers that are not as the ABI fixes them. */
extern "C" int ucd_header_cxx20(void) {
    return (no_request != nullptr) + (no_info != nullptr) + (no_plan != nullptr) + wrong_handles() +
           wrong_initialiser();
}
