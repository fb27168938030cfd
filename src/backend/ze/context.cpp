#include "context.h"

#include "loader.h"
#include "runtime/device.h"

#include <algorithm>
#include <atomic>

namespace ucd::ze {
namespace {

std::atomic<bool> initialised{false};
std::atomic<ze_context_handle_t> adopted{nullptr};
thread_local int current = 0;

BackendState unavailable(std::string reason) {
    BackendState state;
    state.reason = std::move(reason);
    return state;
}

std::string text_of(ze_result_t result) {
    return gpuGetErrorString(result);
}

std::string version_text(ze_api_version_t version) {
    return std::to_string(ZE_MAJOR_VERSION(version)) + "." +
           std::to_string(ZE_MINOR_VERSION(version));
}

// Why a device cannot be used; "" if it can.
std::string look_at(ze_device_handle_t device, DeviceFacts &facts) {
    const Calls &ze = calls();
    facts.device = device;
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    if (const ze_result_t result = ze.zeDeviceGetProperties(device, &properties);
        result != ZE_RESULT_SUCCESS)
        return "says nothing: " + text_of(result);
    facts.name = properties.name;
    facts.processors =
        static_cast<int>(std::max(1U, properties.numSlices * properties.numSubslicesPerSlice));
    ze_device_module_properties_t modules{};
    modules.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
    if (const ze_result_t result = ze.zeDeviceGetModuleProperties(device, &modules);
        result != ZE_RESULT_SUCCESS)
        return "does not say which kernels it takes: " + text_of(result);
    if (modules.spirvVersionSupported == 0) return "takes no SPIR-V";
    facts.doubles = (modules.flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0;
    uint32_t groups = 0;
    if (ze.zeDeviceGetCommandQueueGroupProperties(device, &groups, nullptr) != ZE_RESULT_SUCCESS)
        groups = 0;
    std::vector<ze_command_queue_group_properties_t> group(groups);
    for (auto &g : group) g.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    if (groups > 0 && ze.zeDeviceGetCommandQueueGroupProperties(device, &groups, group.data()) !=
                          ZE_RESULT_SUCCESS)
        groups = 0;
    for (uint32_t i = 0; i < groups; ++i) {
        if ((group[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) == 0) continue;
        facts.compute_queues = i;
        return "";
    }
    return "has no queue that runs kernels";
}

// The first driver that has devices.
std::string find_devices(Found &found, std::vector<ze_device_handle_t> &devices) {
    const Calls &ze = calls();
    // After a failure, no other function of the loader may be called.
    if (const ze_result_t result = ze.zeInit(ZE_INIT_FLAG_GPU_ONLY); result != ZE_RESULT_SUCCESS)
        return "no driver could be initialised: " + text_of(result);
    uint32_t count = 0;
    ze_result_t result = ze.zeDriverGet(&count, nullptr);
    std::vector<ze_driver_handle_t> drivers(count);
    if (result == ZE_RESULT_SUCCESS && count > 0) result = ze.zeDriverGet(&count, drivers.data());
    if (result != ZE_RESULT_SUCCESS) return "asking for the drivers failed: " + text_of(result);
    for (const ze_driver_handle_t driver : drivers) {
        count = 0;
        if (ze.zeDeviceGet(driver, &count, nullptr) != ZE_RESULT_SUCCESS || count == 0) continue;
        devices.resize(count);
        if (ze.zeDeviceGet(driver, &count, devices.data()) != ZE_RESULT_SUCCESS) continue;
        devices.resize(std::min<std::size_t>(count, max_devices));
        found.driver = driver;
        return "";
    }
    return "the driver has found no device";
}

Found look_for_devices() {
    Found found;
    BackendState &state = found.state;
    if (!missing_loader().empty()) {
        state = unavailable(missing_loader());
        return found;
    }
    std::vector<ze_device_handle_t> devices;
    if (std::string reason = find_devices(found, devices); !reason.empty()) {
        state = unavailable(std::move(reason));
        return found;
    }
    bool all_usable = true;
    for (const ze_device_handle_t device : devices) {
        DeviceFacts &facts = found.devices.emplace_back();
        const std::string refusal = look_at(device, facts);
        if (refusal.empty()) continue;
        all_usable = false;
        state.reason += (state.reason.empty() ? "device " : "; device ") +
                        std::to_string(found.devices.size() - 1) + " " + refusal;
    }
    if (!all_usable) return found;
    found.context = adopted;
    if (found.context == nullptr) {
        ze_context_desc_t description{};
        description.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
        if (const ze_result_t result =
                calls().zeContextCreate(found.driver, &description, &found.context);
            result != ZE_RESULT_SUCCESS) {
            state = unavailable("no context could be made: " + text_of(result));
            return found;
        }
    }
    ze_api_version_t version{};
    if (calls().zeDriverGetApiVersion(found.driver, &version) == ZE_RESULT_SUCCESS)
        state.version = version_text(version);
    state.devices = static_cast<uint32_t>(found.devices.size());
    state.available = true;
    return found;
}

} // namespace

int Found::number_of(ze_device_handle_t device) const {
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (devices[i].device == device) return static_cast<int>(i);
    return -1;
}

const Found &found() {
    static const Found *f = [] {
        auto *made = new Found(look_for_devices()); // used until the very end
        initialised.store(true, std::memory_order_release);
        return made;
    }();
    return *f;
}

bool is_initialised() {
    return initialised.load(std::memory_order_acquire);
}

Status adopt(ze_context_handle_t context) {
    ze_context_handle_t before = nullptr;
    if (!is_initialised()) adopted.compare_exchange_strong(before, context);
    if (is_initialised()) before = found().context;
    if (before == nullptr || before == context) return success;
    return fail(UCD_ERR__INVALID_ARG,
                "the Level Zero context %p is not the one that is in use, %p; a process has one, "
                "which the first call names that needs a device",
                static_cast<void *>(context), static_cast<void *>(before));
}

bool has_adopted() {
    return adopted.load(std::memory_order_acquire) != nullptr;
}

int current_device() {
    return current;
}
void set_current_device(int device) {
    current = device;
}

} // namespace ucd::ze
