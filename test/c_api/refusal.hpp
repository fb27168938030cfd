// Calls that must be refused: the status, the message, outputs as they were, and nothing leaked.
#pragma once

#include "support/catch.hpp"

#include "c_api/allocations.hpp"

#include <ucd.h>
#include <ucd_memory.h>

#include <cstring>
#include <string>
#include <string_view>

namespace ucdtest {

// Every output that a call may have. Calls under test write nowhere else.
struct Outputs {
    ucd_type_t type;
    ucd_request_t request;
    ucd_info_t info;
    std::uintptr_t size, other_size;
    std::intptr_t lb, extent;
    int number, other_number, third_number;
    ucd_layout_t layout;
    ucd_backend_desc_t backend;
    iovec entries[4];
    char text[64];
    unsigned char data[256];
    void *address;
    ucd_ipc_handle_t handle;
};

inline constexpr unsigned char pattern = 0xa5;

// What the tests of one call share. `out` is filled with the pattern before each call.
class Refusals {
public:
    Outputs out;

    // Calls twice: what a first call may keep for later, such as a type's layout, is no leak.
    template <class Call>
    void refused(const char *function, int status, std::string_view words, Call call) {
        reset();
        call();
        reset();
        const Outputs before = out;
        const std::ptrdiff_t live = live_allocations();
        const int rc = call();
        const std::ptrdiff_t left = live_allocations() - live;
        const std::string message = ucd_last_error();
        INFO(message);
        CHECK(std::string(ucd_strerror(rc)) == ucd_strerror(status));
        CHECK(message.substr(0, std::strlen(function) + 2) == std::string(function) + ": ");
        CHECK(message.find(words) != std::string::npos);
        const bool unchanged = std::memcmp(&out, &before, sizeof out) == 0;
        CHECK(unchanged);
        CHECK(left == 0);
    }

    template <class Call>
    void invalid(const char *function, std::string_view words, Call call) {
        refused(function, UCD_ERR__INVALID_ARG, words, call);
    }

    // Handles that are none. `call` takes one.
    template <class Call>
    void bad_handles(const char *function, const std::string &argument, Call call) {
        invalid(function, argument + " is UCD_TYPE__NULL", [&] { return call(UCD_TYPE__NULL); });
        for (const unsigned value : {61u, 62u, 255u, 4095u})
            invalid(function, argument + " is " + std::to_string(value),
                    [&] { return call(reinterpret_cast<ucd_type_t>(std::uintptr_t{value})); });
    }

    template <class Call>
    void bad_ops(const char *function, Call call) {
        for (const ucd_op_t op : {-1, 13, 1000, INT32_MIN})
            invalid(function, "op is " + std::to_string(op), [&] { return call(op); });
    }

private:
    void reset() {
        std::memset(static_cast<void *>(&out), pattern, sizeof out);
        out.layout.struct_size = sizeof out.layout;
        out.backend.struct_size = sizeof out.backend;
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

} // namespace ucdtest
