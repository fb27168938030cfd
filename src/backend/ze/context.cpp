#include "context.h"

#include "loader.h"
#include "runtime/device.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace ucd::ze {
namespace {

std::atomic<bool> initialised{false};
// The context in use of each driver.
std::array<std::atomic<ze_context_handle_t>, max_drivers> contexts;
thread_local int current = 0;

std::string text_of(ze_result_t result) {
    return gpuGetErrorString(result);
}

std::string version_text(ze_api_version_t version) {
    return std::to_string(ZE_MAJOR_VERSION(version)) + "." +
           std::to_string(ZE_MINOR_VERSION(version));
}

// All objects that `get(&count, list)` lists; empty if the call fails.
template <class Thing, class Get>
std::vector<Thing> list(Get get, const Thing &example = {}) {
    uint32_t count = 0;
    if (get(&count, nullptr) != ZE_RESULT_SUCCESS) return {};
    std::vector<Thing> things(count, example);
    if (count > 0 && get(&count, things.data()) != ZE_RESULT_SUCCESS) return {};
    things.resize(std::min<std::size_t>(count, things.size()));
    return things;
}

// Finds the queue groups; false if none runs kernels.
bool find_queues(ze_device_handle_t device, DeviceFacts &facts) {
    ze_command_queue_group_properties_t example{};
    example.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    const auto groups = list<ze_command_queue_group_properties_t>(
        [&](uint32_t *count, ze_command_queue_group_properties_t *properties) {
            return calls().zeDeviceGetCommandQueueGroupProperties(device, count, properties);
        },
        example);
    std::optional<uint32_t> compute;
    for (uint32_t i = static_cast<uint32_t>(groups.size()); i-- > 0;) {
        if ((groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0)
            compute = i;
        else if ((groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) != 0)
            facts.copy_queues = i; // the first group, since others may be for links between devices
    }
    facts.compute_queues = compute.value_or(0);
    return compute.has_value();
}

// Finds sub-devices at all levels, since sub-devices may have sub-devices.
void find_parts(ze_device_handle_t device, std::vector<ze_device_handle_t> &parts) {
    for (std::size_t looked = parts.size();; device = parts[looked++]) {
        const auto more =
            list<ze_device_handle_t>([&](uint32_t *count, ze_device_handle_t *devices) {
                return calls().zeDeviceGetSubDevices(device, count, devices);
            });
        parts.insert(parts.end(), more.begin(), more.end());
        if (looked == parts.size()) return;
    }
}

// The reason why a device cannot be used; "" if it can.
std::string look_at(ze_device_handle_t device, DeviceFacts &facts) {
    const Calls &ze = calls();
    facts.device = device;
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    if (const ze_result_t result = ze.zeDeviceGetProperties(device, &properties);
        result != ZE_RESULT_SUCCESS)
        return "says nothing: " + text_of(result);
    facts.processors =
        static_cast<int>(std::max(1U, properties.numSlices * properties.numSubslicesPerSlice));
    facts.identity = driver::identity_of(properties.uuid.id, sizeof properties.uuid.id);
    ze_device_module_properties_t modules{};
    modules.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
    if (const ze_result_t result = ze.zeDeviceGetModuleProperties(device, &modules);
        result != ZE_RESULT_SUCCESS)
        return "does not say which kernels it takes: " + text_of(result);
    if (modules.spirvVersionSupported == 0) return "takes no SPIR-V";
    facts.doubles = (modules.flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0;
    if (!find_queues(device, facts)) return "has no queue that runs kernels";
    find_parts(device, facts.parts);
    return "";
}

std::string find_drivers(std::vector<ze_driver_handle_t> &drivers) {
    const Calls &ze = calls();
    // After a failure, no other function of the loader may be called.
    if (const ze_result_t result = ze.zeInit(ZE_INIT_FLAG_GPU_ONLY); result != ZE_RESULT_SUCCESS)
        return "no driver could be initialised: " + text_of(result);
    uint32_t count = 0;
    ze_result_t result = ze.zeDriverGet(&count, nullptr);
    drivers.resize(count);
    if (result == ZE_RESULT_SUCCESS && count > 0) result = ze.zeDriverGet(&count, drivers.data());
    drivers.resize(std::min<std::size_t>(count, drivers.size()));
    return result == ZE_RESULT_SUCCESS ? "" : "asking for the drivers failed: " + text_of(result);
}

// Adds the devices of a driver. Returns the reason why they cannot be used; "" if they can.
std::string add_driver(Found &found, ze_driver_handle_t driver) {
    const auto handles =
        list<ze_device_handle_t>([&](uint32_t *count, ze_device_handle_t *devices) {
            return calls().zeDeviceGet(driver, count, devices);
        });
    if (handles.empty()) return "the driver has found no device";
    std::vector<DeviceFacts> devices(
        std::min(handles.size(), std::size_t{max_devices} - found.devices.size()));
    std::string refusal;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        devices[i].driver = found.drivers.size();
        const std::string reason = look_at(handles[i], devices[i]);
        if (!reason.empty())
            refusal += (refusal.empty() ? "device " : "; device ") +
                       std::to_string(found.devices.size() + i) + " " + reason;
    }
    if (!refusal.empty()) return refusal;
    ze_context_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
    DriverFacts facts{driver, nullptr};
    if (const ze_result_t result =
            calls().zeContextCreate(driver, &description, &facts.own_context);
        result != ZE_RESULT_SUCCESS)
        return "no context could be made: " + text_of(result);
    found.drivers.push_back(facts);
    found.devices.insert(found.devices.end(), devices.begin(), devices.end());
    return "";
}

Found look_for_devices() {
    Found found;
    BackendState &state = found.state;
    state.reason = missing_loader();
    if (!state.reason.empty()) return found;
    std::vector<ze_driver_handle_t> drivers;
    state.reason = find_drivers(drivers);
    if (!state.reason.empty()) return found;
    state.reason = "there is no driver";
    for (const ze_driver_handle_t driver : drivers) {
        if (found.drivers.size() == max_drivers || found.devices.size() == max_devices) break;
        const std::string refusal = add_driver(found, driver);
        if (found.drivers.empty()) state.reason = refusal;
    }
    if (found.drivers.empty()) return found;
    state.reason.clear();
    ze_api_version_t version{};
    if (calls().zeDriverGetApiVersion(found.drivers.front().driver, &version) == ZE_RESULT_SUCCESS)
        state.version = version_text(version);
    state.devices = static_cast<uint32_t>(found.devices.size());
    state.available = true;
    return found;
}

} // namespace

int Found::number_of(std::size_t driver, ze_device_handle_t device) const {
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const DeviceFacts &d = devices[i];
        if (d.driver == driver &&
            (device == nullptr || d.device == device ||
             std::find(d.parts.begin(), d.parts.end(), device) != d.parts.end()))
            return static_cast<int>(i);
    }
    return -1;
}

const Found &found() {
    static const Found *f = [] {
        auto *made = new Found(look_for_devices()); // never destroyed
        initialised.store(true, std::memory_order_release);
        return made;
    }();
    return *f;
}

bool is_initialised() {
    return initialised.load(std::memory_order_acquire);
}

Status adopt(ze_context_handle_t context, int device) {
    ze_context_handle_t before = nullptr;
    const bool known = is_initialised() && found().has(device);
    if (contexts[known ? found().of(device).driver : 0].compare_exchange_strong(before, context) ||
        before == context)
        return success;
    return fail(UCD_ERR__INVALID_ARG,
                "the Level Zero context %p is not the one that is in use, %p; there is one for the "
                "devices of a driver, which the first call names that needs it",
                static_cast<void *>(context), static_cast<void *>(before));
}

ze_context_handle_t context_in_use(std::size_t driver) {
    return contexts[driver].load(std::memory_order_acquire);
}

ze_context_handle_t context_of(int device) {
    const std::size_t driver = found().of(device).driver;
    ze_context_handle_t context = context_in_use(driver);
    if (context == nullptr) [[unlikely]] {
        const ze_context_handle_t own = found().drivers[driver].own_context;
        if (contexts[driver].compare_exchange_strong(context, own)) context = own;
    }
    return context;
}

bool has_adopted() {
    return contexts.front().load(std::memory_order_acquire) != nullptr;
}

int current_device() {
    return current;
}
void set_current_device(int device) {
    current = device;
}

} // namespace ucd::ze
