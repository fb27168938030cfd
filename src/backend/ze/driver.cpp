// The functions of runtime/driver.h for Level Zero: devices, and the memory of an address.

#include "runtime/driver.h"

#include "context.h"
#include "loader.h"
#include "runtime/check.h"
#include "runtime/host_readable.h"
#include "streams.h"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

namespace ucd::ze::driver {
namespace {

// If both are missing, no driver can have a device, and the loader need not be initialised.
bool may_have_device() {
    if (std::getenv("ZE_ENABLE_ALT_DRIVERS") != nullptr) return true;
    return ::access("/dev/dri", F_OK) == 0;
}

} // namespace

BackendState look() {
    BackendState state;
    state.reason = missing_loader();
    if (state.reason.empty() && !may_have_device())
        state.reason = "no device: there is no /dev/dri";
    state.available = state.reason.empty();
    return state;
}

const BackendState &initialise() {
    return found().state;
}

uint64_t identify(int device) {
    return found().has(device) ? found().of(device).identity : 0;
}

Status use_context(uint64_t context, int device) {
    return adopt(reinterpret_cast<ze_context_handle_t>(context), device);
}

namespace {

// Leaves `location` unchanged if the address is not memory of the context.
ze_result_t find_in(ze_context_handle_t context, std::size_t driver, const void *address,
                    MemoryLocation &location) {
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    ze_device_handle_t device = nullptr;
    const ze_result_t result =
        calls().zeMemGetAllocProperties(context, address, &properties, &device);
    if (result != ZE_RESULT_SUCCESS) return result;
    MemoryKind kind;
    switch (properties.type) {
    case ZE_MEMORY_TYPE_HOST: kind = MemoryKind::pinned; break;
    case ZE_MEMORY_TYPE_DEVICE: kind = MemoryKind::device; break;
    case ZE_MEMORY_TYPE_SHARED: kind = MemoryKind::managed; break;
    default: return ZE_RESULT_SUCCESS;
    }
    // Host memory does not belong to a device, so the driver's first one is used.
    int number = found().number_of(driver, device);
    if (number < 0 && kind == MemoryKind::device) return ZE_RESULT_SUCCESS;
    if (number < 0) number = found().number_of(driver, nullptr);
    location.kind = kind;
    location.device = number;
    location.begin = location.end = reinterpret_cast<uintptr_t>(address);
    void *start = nullptr;
    std::size_t bytes = 0;
    if (calls().zeMemGetAddressRange(context, address, &start, &bytes) == ZE_RESULT_SUCCESS) {
        location.begin = reinterpret_cast<uintptr_t>(start);
        location.end = location.begin + bytes;
    }
    return ZE_RESULT_SUCCESS;
}

} // namespace

// As long as no context is in use, no memory of Level Zero can be used.
Status find(const void *address, MemoryLocation &location) {
    if ((!is_initialised() && !has_adopted()) || !found().state.available) return success;
    ze_result_t failure = ZE_RESULT_SUCCESS;
    for (std::size_t driver = 0; driver < found().drivers.size(); ++driver) {
        const ze_context_handle_t context = context_in_use(driver);
        if (context == nullptr) continue;
        const ze_result_t result = find_in(context, driver, address, location);
        if (location.kind != MemoryKind::host) return success;
        if (result != ZE_RESULT_SUCCESS) failure = result;
    }
    if (failure == ZE_RESULT_SUCCESS || gpu::is_host_readable(address)) return success;
    return fail(UCD_ERR__DEVICE, "Level Zero: asking for the memory of %p failed: 0x%x", address,
                static_cast<unsigned>(failure));
}

// A context knows only its own memory. Memory of another context is moved by the host if the host
// can read it.
Status check_unknown(const void *address) {
    if (!is_initialised() || !found().state.available || gpu::is_host_readable(address))
        return success;
    return fail(UCD_ERR__INVALID_ARG,
                "%p is neither in memory of the Level Zero context that is in use, %p, nor in the "
                "host's; is it of another context (ucd.ze.context), or was it freed?",
                address, static_cast<void *>(context_in_use(0)));
}

bool shares_host_memory(int device, const MemoryLocation &location) {
    return found().of(device).driver == found().of(location.device).driver;
}

// The driver is initialised here, because a buffer is in the memory of a device.
bool has_element(Element element) {
    switch (element) {
    case Element::float64:
    case Element::complex64:
    case Element::float64_int32:
    case Element::float64_float64: break;
    default: return true;
    }
    const auto &devices = found().devices;
    return std::all_of(devices.begin(), devices.end(),
                       [](const DeviceFacts &device) { return device.doubles; });
}

bool has_access(int, const MemoryLocation &) {
    return false; // Level Zero has no memory with its own access rights
}

Status find_allocation(const void *address, void *&start, std::size_t &bytes) {
    return check(calls().zeMemGetAddressRange(current_context(), address, &start, &bytes),
                 "asking for an allocation");
}

Status find_device(gpuStream_t, int &) {
    return fail(UCD_ERR__INVALID_ARG,
                "the device of the stream is -1, and a command list does not tell it");
}

Status enter(const NativeStream &native, gpuStream_t &stream) {
    if (native.native == nullptr)
        return fail(UCD_ERR__INVALID_ARG, "the stream is null; Level Zero has no default one");
    // Valid until this thread enters another stream. The library does not use it after that.
    thread_local std::unique_ptr<Stream> entered;
    entered = std::make_unique<Stream>(static_cast<ze_command_list_handle_t>(native.native),
                                       native.device, Stream::Kind::callers);
    stream = entered.get();
    return check(stream->add_barrier(), "putting a barrier into the command list");
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): declared for graphs that keep it
Status keep_with_graph(gpuStream_t, std::shared_ptr<void>) {
    return fail(UCD_ERR__NOT_SUPPORTED, "command lists are not captured");
}

Current::Current(int device) : before_(current_device()) {
    if (const BackendState &state = initialise(); !state.available)
        status = fail(UCD_ERR__DEVICE, "Level Zero: %s", state.reason.c_str());
    else if (!found().has(device))
        status = fail(UCD_ERR__INVALID_ARG, "Level Zero: there is no device %d", device);
    else
        set_current_device(device);
}

Current::~Current() {
    set_current_device(before_);
}

} // namespace ucd::ze::driver

using namespace ucd::ze;

gpuError_t gpuDeviceGetAttribute(int *value, int, int device) {
    *value = found().of(device).processors;
    return gpuSuccess;
}

gpuError_t gpuDeviceCanAccessPeer(int *can, int device, int other) {
    ze_bool_t may = 0;
    const DeviceFacts &one = found().of(device), &peer = found().of(other);
    const ze_result_t result =
        one.driver != peer.driver
            ? ZE_RESULT_SUCCESS // no access between devices of different drivers
            : calls().zeDeviceCanAccessPeer(one.device, peer.device, &may);
    *can = may != 0 ? 1 : 0;
    return result;
}

gpuError_t gpuDeviceEnablePeerAccess(int, unsigned) {
    return gpuSuccess;
}

gpuError_t gpuGetDeviceCount(int *devices) {
    *devices = static_cast<int>(found().devices.size());
    return found().state.available ? gpuSuccess : ZE_RESULT_ERROR_UNINITIALIZED;
}

gpuError_t gpuSetDevice(int device) {
    set_current_device(device);
    return gpuSuccess;
}

const char *gpuGetErrorString(gpuError_t error) {
    switch (error) {
    case ZE_RESULT_SUCCESS: return "no error";
    case ZE_RESULT_NOT_READY: return "not ready";
    case ZE_RESULT_ERROR_DEVICE_LOST: return "the device is lost";
    case ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY: return "out of host memory";
    case ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY: return "out of memory";
    case ZE_RESULT_ERROR_MODULE_BUILD_FAILURE: return "a kernel could not be compiled";
    case ZE_RESULT_ERROR_MODULE_LINK_FAILURE: return "a kernel could not be linked";
    case ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS: return "insufficient permissions";
    case ZE_RESULT_ERROR_NOT_AVAILABLE: return "not available";
    case ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE:
        return "a library that the driver needs is missing";
    case ZE_RESULT_ERROR_UNINITIALIZED: return "there is no driver";
    case ZE_RESULT_ERROR_UNSUPPORTED_VERSION: return "the version is not supported";
    case ZE_RESULT_ERROR_UNSUPPORTED_FEATURE: return "the device cannot do it";
    case ZE_RESULT_ERROR_INVALID_ARGUMENT: return "an argument is invalid";
    case ZE_RESULT_ERROR_INVALID_NULL_HANDLE: return "a handle is null";
    case ZE_RESULT_ERROR_UNSUPPORTED_SIZE: return "the size is not supported";
    case ZE_RESULT_ERROR_INVALID_NATIVE_BINARY: return "the kernels are for other devices";
    case ZE_RESULT_ERROR_INVALID_KERNEL_NAME: return "there is no such kernel";
    case ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE: return "a kernel has other arguments";
    case ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE: return "the command list is of another kind";
    default: break;
    }
    // Other errors are reported by number, in thread-local memory.
    thread_local std::string text;
    char digits[16];
    std::snprintf(digits, sizeof digits, "0x%x", static_cast<unsigned>(error));
    text = std::string("error ") + digits;
    return text.c_str();
}
