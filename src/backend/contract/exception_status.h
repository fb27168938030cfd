// Converts exceptions to statuses.
#pragma once

#include "failures.h"
#include "status.h"

#include <utility>

namespace ucd {

// One function object for all bodies, so that there is one handler of exceptions, too.
inline constexpr auto fail_with = [](int code, const char *message) {
    return fail(code, "%s", message);
};

// Returns what `body` returns, which is a Status, or the failure that its exception stands for.
template <class Body>
[[gnu::always_inline]] inline Status without_exceptions(Body &&body) noexcept {
    return ucd_base::without_exceptions(std::forward<Body>(body), fail_with);
}

// Runs the body of a function that libucd calls in a plugin, or a plugin in libucd. Exceptions end
// here, because the two may have different C++ libraries. Returns the code of the body's status.
template <class Body>
[[gnu::always_inline]] inline int guarded(const Body &body) noexcept {
    return without_exceptions([&]() -> Status { return body(); }).code();
}

// Same, for functions that return an answer: after an exception it is `otherwise`.
template <class Answer, class Body>
[[gnu::always_inline]] inline Answer guarded_or(Answer otherwise, const Body &body) noexcept {
    try {
        return body();
    } catch (...) {
        return otherwise;
    }
}

} // namespace ucd
