// Resolves the stream that a user passes.
#pragma once

#include "api/api_guard.h"
#include "transfer/route.h"

#include <ucd.h>

namespace ucd {

// The value of stream.device for the device that the native stream belongs to.
inline constexpr int device_of_native = -1;

inline Status resolve_stream(const Context &context, const ucd_stream_t &stream,
                             StreamTarget &target) {
    UCD_TRY(require(stream.backend, "stream.backend"));
    if (stream.reserved != 0) return fail(UCD_ERR__INVALID_ARG, "stream.reserved is not zero");
    target.stream = {stream.device, stream.native, stream.context};
    if (stream.device == device_of_native) {
        constexpr int any = 0;
        UCD_TRY(find_executor(context, "stream", stream.backend, any, target.executor));
        UCD_TRY(target.executor.backend->device_of(target.stream, target.stream.device));
    }
    UCD_TRY(
        find_executor(context, "stream", stream.backend, target.stream.device, target.executor));
    if (stream.context == nullptr) return success;
    return target.executor.backend->use_context(reinterpret_cast<uintptr_t>(stream.context),
                                                target.stream.device);
}

} // namespace ucd
