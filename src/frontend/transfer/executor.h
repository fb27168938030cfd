// What moves data: a device of a backend, or the host's backend.
#pragma once

#include "transfer/context.h"

#include <string_view>

namespace ucd {

struct Executor {
    Backend *backend = nullptr;
    unsigned index = Context::host_index; // of the backend in the context
    int device = 0;
    bool on_host() const { return index == Context::host_index; }
    friend bool operator==(const Executor &, const Executor &) = default;
};

// The one check of every device that a user names, in a hint, a stream or by a string. A backend
// that is not known or not available, and a device that it does not have, are NOT_SUPPORTED;
// `named_by` begins the message.
Status find_executor(const Context &context, const char *named_by, std::string_view backend,
                     int device, Executor &executor);

} // namespace ucd
