// What the driver's functions have in common, and how the loader gets them.
#pragma once

#include "support/ze_driver/state.h"

namespace zedriver {

template <class Object, class Handle>
Object *of(Handle handle) {
    return reinterpret_cast<Object *>(handle);
}
template <class Handle, class Object>
Handle handle_of(Object *object) {
    return reinterpret_cast<Handle>(object);
}

// Every function begins with it.
#define UCD_MAY_FAIL(function)                                                                     \
    if (is_failing(#function)) return failure

inline constexpr Result failure = ZE_RESULT_ERROR_DEVICE_LOST;

} // namespace zedriver

// Fills a table of the loader's, which has asked for it in its version.
#define UCD_TABLE(name, Table, ...)                                                                \
    extern "C" __attribute__((visibility("default"))) ze_result_t name(ze_api_version_t,           \
                                                                       Table *t) {                 \
        if (t == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;                             \
        __VA_ARGS__;                                                                               \
        return ZE_RESULT_SUCCESS;                                                                  \
    }
