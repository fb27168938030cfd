// The library's state between the first ucd_init and the last ucd_finalize, and the executors that
// move data in it: the devices of backends.
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
    Owner<Backend> backend; // null if not available
    BackendState state;     // found without looking at devices

    // The complete state. May initialise a driver.
    Status inspect(const BackendState *&complete) const {
        complete = &state;
        return backend != nullptr ? backend->inspect(complete) : success;
    }
};

class Context {
public:
    Context(Info environment, const Info *info);
    ~Context();

    // The backend for host memory. Its index in plans is 0.
    Backend &host() { return *host_; }
    static constexpr unsigned host_index = 0;

    // The slot's index; -1 if there is no backend of this name.
    int index_of(std::string_view name) const;
    // The index of a backend of this context.
    unsigned index_of(const Backend &backend) const;

    std::vector<BackendSlot> slots; // in the order of the registry
    // Whether any backend besides the host's is available. If not, all buffers are in host memory.
    bool devices = false;
    const Backend *hides_memory = nullptr; // the backend that does, or null
    const uint64_t number;                 // unique among all contexts of the process
    Info environment;
    Hints defaults;                              // from the environment, for calls without an info
    std::unique_ptr<DeviceMemory> device_memory; // memory allocated by users
    // Outstanding work. Destroyed first, which completes the work, because that needs the backends.
    std::unique_ptr<Progress> progress;

private:
    Backend *host_ = nullptr; // slots[0].backend
};

// A unit that moves data: a device of a backend, or the host's backend.
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

// Checks a device that the user names in a hint, a stream or a string. All such checks are here.
// NOT_SUPPORTED if the backend is unknown or not available, or does not have the device. The
// message begins with `named_by`.
Status find_executor(const Context &context, const char *named_by, std::string_view backend,
                     int device, Executor &executor);

// The running context, or null. Reading it is one atomic load.
inline std::atomic<Context *> running_context{nullptr};

// Whether the library was ever initialised: some functions can be used after the last ucd_finalize.
inline std::atomic<bool> ever_initialised{false};

// Why the last ucd_init that had to start the library failed; "" if it did not fail.
void set_start_failure(const char *reason);

// Fails with NOT_INITIALIZED, and says why.
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

// The same for a call with an info, which it checks.
[[gnu::always_inline]] inline Status current(Context *&context, ucd_info_t info) {
    UCD_TRY(current(context));
    return check_handle(info, HandleKind::info, "info");
}

// Finds the type, and requires that the library has been started.
inline Status find_type(ucd_type_t handle, const Type *&type) {
    Context *context;
    UCD_TRY(current(context));
    return resolve(handle, "type", type);
}

// The hints that apply to a call with this info.
class CallHints {
public:
    // Inlined, because it is on the path of every small call.
    [[gnu::always_inline]] CallHints(const Context &context, ucd_info_t info)
        : hints_(&context.defaults) {
        if (info == UCD_INFO__NULL) [[likely]]
            return;
        own_ = context.defaults;
        apply(*info_of(info), own_);
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
