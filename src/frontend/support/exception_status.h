// Converts exceptions to statuses.
#pragma once

#include "failures.h"
#include "status.h"

#include <utility>

namespace ucd {

// Returns what `body` returns, which is a Status, or the failure that its exception stands for.
template <class Body>
[[gnu::always_inline]] inline Status without_exceptions(Body &&body) noexcept {
    return ucd_base::without_exceptions(
        std::forward<Body>(body),
        [](int code, const char *message) { return fail(code, "%s", message); });
}

} // namespace ucd
