// Failures in libucd-ucx: statuses with messages, and the guard of the C interface.
#pragma once

#include "failures.h"

#include <ucd.h>

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

// Sets the message that ucd_ucx_last_error returns.
[[gnu::format(printf, 2, 3)]] Status fail(int code, const char *format, ...);
// Convert the results of calls of libucd and of UCX. Messages of libucd are taken over, without the
// names of its functions, which the user did not call.
Status ucd_ok(int code);
// For arguments that are called origin_type, origin_count and so on: puts the prefix before the
// name in the message of the failure.
Status of_argument(const char *prefix, Status failed);
Status ucx_ok(ucs_status_t status, const char *call);

// The status of a transfer that ended because a function of libucd or libucd-ucx failed with
// `code`.
ucs_status_t ucx_status_of(int code);

const char *last_failure();
void prefix_failure(const char *function);

// Returns what `body` returns, or a failure if it throws, for example std::bad_alloc.
template <class Body>
Status without_exceptions(Body &&body) noexcept {
    return ucd_base::without_exceptions(
        std::forward<Body>(body),
        [](int code, const char *message) { return fail(code, "%s", message); });
}

// Runs one part of progress. If it runs out of memory, the next call of progress tries again, and
// the other parts still run now. Returns whether there was, or still is, something to do.
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
