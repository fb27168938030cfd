// The library's state between the first ucd_init and the last ucd_finalize, and what moves data in
// it: devices of backends.
#pragma once

#include "backend.h"
#include "prepared/type_cache.h"
#include "support/info.h"
#include "types/type.h"

#include <array>
#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

namespace ucd {

class DeviceMemory;
class Progress;

struct BackendSlot {
    std::string name;
    std::unique_ptr<Backend> backend; // null unless it is available
    BackendState state;               // without a look at devices

    // In full: may initialise a driver.
    const BackendState &inspect() const { return backend != nullptr ? backend->inspect() : state; }
};

class Context {
public:
    Context(Info environment, const Info *info);
    ~Context();

    // The backend for host memory. Its index in plans is 0.
    Backend &host() { return *host_; }
    static constexpr unsigned host_index = 0;

    // The slot's index, or -1 for a name that is not known.
    int index_of(std::string_view name) const;
    // That of a backend of this context.
    unsigned index_of(const Backend &backend) const;

    std::vector<BackendSlot> slots; // as the registry lists them
    // Whether any backend but the host's is available; if not, every buffer is host memory.
    bool devices = false;
    const Backend *hides_memory = nullptr; // the one that does
    const uint64_t number;                 // no other context of the process has it
    Info environment;
    Hints defaults;                              // the environment's, for calls without an info
    std::unique_ptr<DeviceMemory> device_memory; // of users
    // Outstanding work. Goes first at the end, and is completed then: it needs the backends.
    std::unique_ptr<Progress> progress;

private:
    Backend *host_ = nullptr; // slots[0].backend
};

// What moves data: a device of a backend, or the host's backend.
struct Executor {
    Backend *backend = nullptr;
    unsigned index = Context::host_index; // of the backend in the context
    int device = 0;
    bool on_host() const { return index == Context::host_index; }
    friend bool operator==(const Executor &, const Executor &) = default;
};

inline Executor host_executor(Context &context) {
    return {&context.host(), Context::host_index, 0};
}

// The one check of every device that a user names, in a hint, a stream or by a string. A backend
// that is not known or not available, and a device that it does not have, are NOT_SUPPORTED;
// `named_by` begins the message.
Status find_executor(const Context &context, const char *named_by, std::string_view backend,
                     int device, Executor &executor);

// The running context, or null. One atomic load.
inline std::atomic<Context *> running_context{nullptr};

// Ever initialised: some functions stay usable after the last ucd_finalize.
inline std::atomic<bool> ever_initialised{false};

// Why the last ucd_init that was to start the library failed; "" if it did not.
void set_start_failure(const char *reason);

// NOT_INITIALIZED, and why.
Status fail_not_initialised();

inline Status check_ever_initialised() {
    if (!ever_initialised.load(std::memory_order_acquire)) [[unlikely]]
        return fail_not_initialised();
    return success;
}

[[gnu::always_inline]] inline Status current(Context *&context) {
    context = running_context.load(std::memory_order_acquire);
    if (context == nullptr) [[unlikely]]
        return fail_not_initialised();
    return success;
}

// The type of a call for which the library must have been started.
inline Status find_type(ucd_type_t handle, const Type *&type) {
    Context *context;
    UCD_TRY(current(context));
    return resolve(handle, "type", type);
}

// What a call with this info goes by.
class CallHints {
public:
    // On the path of every small call.
    [[gnu::always_inline]] CallHints(const Context &context, ucd_info_t info)
        : hints_(&context.defaults) {
        if (info == UCD_INFO__NULL) [[likely]]
            return;
        own_ = context.defaults;
        apply(*reinterpret_cast<const Info *>(info), own_);
        hints_ = &own_;
    }
    CallHints(const CallHints &) = delete;
    CallHints &operator=(const CallHints &) = delete;
    operator const Hints &() const { return *hints_; }

private:
    const Hints *hints_;
    Hints own_;
};

} // namespace ucd
