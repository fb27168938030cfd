// The stream that a user names.
#pragma once

#include "api/api_guard.h"
#include "transfer/submission.h"

#include <ucd.h>

namespace ucd {

inline Status resolve_stream(const Context &context, const ucd_stream_t &stream,
                             StreamTarget &target) {
    UCD_TRY(require(stream.backend, "stream.backend"));
    UCD_TRY(find_executor(context, "stream", stream.backend, stream.device, target.executor));
    target.stream = {stream.device, stream.native, stream.context};
    return success;
}

} // namespace ucd
