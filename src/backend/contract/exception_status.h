// Converts exceptions to statuses.
#pragma once

#include "status.h"

#include <exception>
#include <new>
#include <stdexcept>

namespace ucd {

// The status for the exception that is being handled; call it in a catch clause only.
inline Status status_of_exception() noexcept {
    try {
        throw;
    } catch (const std::bad_alloc &) {
        return fail(UCD_ERR__OUT_OF_MEM, "out of memory");
    } catch (const std::length_error &) {
        // Containers throw this for sizes that exceed max_size(), before they call the allocator.
        return fail(UCD_ERR__OUT_OF_MEM, "out of memory");
    } catch (const std::exception &e) {
        return fail(UCD_ERR__INTERNAL, "%s", e.what());
    } catch (...) {
        return fail(UCD_ERR__INTERNAL, "an exception that is no std::exception");
    }
}

// Runs the body of a function that libucd calls in a plugin, or a plugin in libucd. Exceptions end
// here, because the two may have different C++ libraries. Returns the code of the body's status.
template <class Body>
[[gnu::always_inline]] inline int guarded(const Body &body) noexcept {
    try {
        return body().code();
    } catch (...) {
        return status_of_exception().code();
    }
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
