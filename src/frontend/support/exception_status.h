// Converts exceptions of the standard library to statuses.
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
    }
}

} // namespace ucd
