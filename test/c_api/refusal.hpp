// Calls that must be refused: the status, the message, outputs as they were, and nothing leaked.
#pragma once

#include "support/catch.hpp"

#include "c_api/allocations.hpp"
#include "support/named_arguments.hpp"
#include "support/oracle/predefined.hpp"

#include <ucd.h>
#include <ucd_memory.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace ucdtest {

// The smallest integer that is no predefined type.
inline std::uintptr_t first_unknown_type() {
    return all_predefined().size() + 1;
}

// Every output that a call may have. Calls under test write nowhere else.
struct Outputs {
    ucd_type_t type;
    ucd_request_t request;
    ucd_info_t info;
    ucd_plan_t plan;
    std::uintptr_t size, other_size;
    std::intptr_t lb, extent;
    int number, other_number, third_number;
    ucd_layout_t layout;
    ucd_advice_t advice;
    ucd_backend_desc_t backend;
    iovec entries[4];
    ucd_box_t boxes[2];
    ucd_element_run_t runs[2];
    char text[64];
    unsigned char data[256];
    void *address;
    ucd_ipc_handle_t handle;

    // As before a call.
    void reset();
};

// The type of most calls, its bytes, and a count of it that is too large for any buffer.
inline int make_vector(ucd_type_t *type) {
    return ucd_create_vector(3, 2, 4, UCD_TYPE__INT, nullptr, type);
}
inline constexpr std::uintptr_t packed = 24, too_many = UINTPTR_MAX / 8;
inline const ucd_type_t int_ = UCD_TYPE__INT;
inline constexpr ucd_op_t replace = UCD_OP__REPLACE;

// What outputs hold before a call.
inline constexpr unsigned char pattern = 0xa5;

// A callable with no arguments that returns a status, for the length of a call: what takes one is
// compiled once, not for each lambda.
class CallRef {
public:
    template <class Call>
    CallRef(const Call &call)
        : call_(&call), invoke_([](const void *c) { return (*static_cast<const Call *>(c))(); }) {}
    int operator()() const { return invoke_(call_); }

private:
    const void *call_;
    int (*invoke_)(const void *);
};

// What the tests of one call share. `out` is filled with the pattern before each call.
class Refusals {
public:
    Outputs out;

    // Calls twice: what a first call may keep for later, such as a type's layout, is no leak.
    void refused(const char *function, int status, std::string_view words, CallRef call);
    void invalid(const char *function, std::string_view words, CallRef call);

    // Handles that are none. `call` takes one.
    template <class Call>
    void bad_handles(const char *function, const std::string &argument, Call call) {
        invalid(function, argument + " is UCD_TYPE__NULL", [&] { return call(UCD_TYPE__NULL); });
        unknown_types(function, argument, call);
    }
    template <class Call>
    void unknown_types(const char *function, const std::string &argument, Call call) {
        for (const std::uintptr_t value : {first_unknown_type(), first_unknown_type() + 1,
                                           first_unknown_type() + 200, std::uintptr_t{4095}})
            invalid(function, argument + " is " + std::to_string(value),
                    [&] { return call(reinterpret_cast<ucd_type_t>(value)); });
    }

    template <class Call>
    void bad_ops(const char *function, Call call) {
        for (const ucd_op_t op : {-1, UCD_OP__CONVERT_SAT + 1, 1000, INT32_MIN})
            invalid(function, "op is " + std::to_string(op), [&] { return call(op); });
    }

    // The arguments that have a name are refused: types and counts by all their bad values, others
    // where they are NULL. The rest of the call is good.
    template <class... Parameters>
    void needs(const char *function, int (*call)(Parameters...),
               const std::array<const char *, sizeof...(Parameters)> &names,
               const std::type_identity_t<Parameters> &...arguments) {
        const auto need = [&](const char *name, const auto &with, auto type) {
            using Argument = typename decltype(type)::type;
            if constexpr (std::is_same_v<Argument, ucd_type_t>)
                bad_handles(function, name, with);
            else if constexpr (std::is_same_v<Argument, std::uintptr_t>)
                for (const std::uintptr_t count : {too_many, UINTPTR_MAX})
                    refused(function, UCD_ERR__OVERFLOW, std::string(name) + " is ",
                            [&] { return with(count); });
            else if constexpr (std::is_pointer_v<Argument>)
                invalid(function, std::string(name) + " is NULL", [&] { return with(nullptr); });
        };
        visit_named(call, names, need, arguments...);
    }

    // A struct whose struct_size does not reach beyond that member; nothing is written to it.
    template <class Struct, class Call>
    void short_structs(const char *function, Call call) {
        for (std::uint32_t n = 0; n < 4; ++n) {
            Struct given, before;
            std::memset(static_cast<void *>(&given), pattern, sizeof given);
            given.struct_size = n;
            before = given;
            invalid(function, "struct_size is " + std::to_string(n), [&] { return call(&given); });
            CHECK(std::memcmp(&given, &before, sizeof given) == 0);
        }
    }
};

// A type for the length of a test.
class Handle {
public:
    template <class Create>
    explicit Handle(Create create) {
        REQUIRE(create(&type_) == UCD_SUCCESS);
    }
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    ~Handle() { ucd_free(&type_); }
    operator ucd_type_t() const { return type_; }

private:
    ucd_type_t type_ = UCD_TYPE__NULL;
};

// What test cases of bad arguments begin with.
struct Refusing {
    Refusals r;
    Outputs &o = r.out;
    const Handle v{make_vector};
};

} // namespace ucdtest
