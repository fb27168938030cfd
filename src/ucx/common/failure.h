// Failures inside libucd-ucx: a status with a worded message, and the C boundary.
#pragma once

#include <ucd.h>

#include <exception>
#include <new>
#include <ucp/api/ucp.h>
#include <utility>

namespace ucd_ucx {

class [[nodiscard]] Status {
public:
    constexpr Status() = default;
    constexpr explicit Status(int code) : code_(code) {}
    bool ok() const { return code_ == UCD_SUCCESS; }
    int code() const { return code_; }

private:
    int code_ = UCD_SUCCESS;
};
inline constexpr Status success{};

// Words a failure for ucd_ucx_last_error.
[[gnu::format(printf, 2, 3)]] Status fail(int code, const char *format, ...);
// What a call of libucd or of UCX returned; libucd's message becomes ours.
Status ucd_ok(int code);
Status ucx_ok(ucs_status_t status, const char *call);

// What a transfer ends with when a call of ours or libucd's failed.
ucs_status_t ucx_status_of(int code);

const char *last_failure();
void prefix_failure(const char *function);
Status failure_of_exception(); // of the exception being handled

// What body returns; an exception, as there is of no memory, is a failure, too.
template <class Body>
Status without_exceptions(Body &&body) noexcept {
    try {
        return std::forward<Body>(body)();
    } catch (const std::exception &) {
        return failure_of_exception();
    }
}

// For a part of progress. What it finds no memory for stays for the next call, and is not in the
// way of the other parts. Whether there was, or is, something to do.
template <class Body>
bool retry_on_bad_alloc(Body &&body) {
    try {
        return std::forward<Body>(body)();
    } catch (const std::bad_alloc &) {
        return true;
    }
}

template <class Body>
int guard(const char *function, Body &&body) noexcept {
    const Status status = without_exceptions(std::forward<Body>(body));
    if (!status.ok()) prefix_failure(function);
    return status.code();
}

template <class T>
Status require(const T *pointer, const char *argument) {
    if (pointer != nullptr) return success;
    return fail(UCD_ERR__INVALID_ARG, "%s is NULL; it must not be", argument);
}

} // namespace ucd_ucx

#define UCD_UCX_TRY(expression)                                                                    \
    if (const ::ucd_ucx::Status status_of_it = (expression); !status_of_it.ok()) return status_of_it
