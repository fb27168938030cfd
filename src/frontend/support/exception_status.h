// Exceptions of the standard library as statuses.
#pragma once

#include "status.h"

#include <exception>
#include <new>
#include <stdexcept>

namespace ucd {

// Of the exception being handled: to be called within a catch clause.
inline Status status_of_exception() noexcept {
    try {
        throw;
    } catch (const std::bad_alloc &) {
        return fail(UCD_ERR__OUT_OF_MEM, "out of memory");
    } catch (const std::length_error &) {
        // What a container says to a size that no allocator is even asked for.
        return fail(UCD_ERR__OUT_OF_MEM, "out of memory");
    } catch (const std::exception &e) {
        return fail(UCD_ERR__INTERNAL, "%s", e.what());
    }
}

} // namespace ucd
