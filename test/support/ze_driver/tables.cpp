// The functions that the loader finds in a driver, in its tables: drivers, devices, contexts,
// memory. Those that nobody calls are missing.
#include "support/ze_driver/calls.h"
#include "support/ze_driver/controls.h"
#include "support/ze_driver/memory.h"

#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace zedriver {
namespace {

// As functions that list things do: asked for none, they say how many there are.
uint32_t listed(uint32_t *count, uint32_t there) {
    if (*count == 0 || *count > there) *count = there;
    return *count;
}

// Clears a structure, but for how it says what it is.
template <class Properties>
void clear(Properties *properties) {
    const auto type = properties->stype;
    void *const next = properties->pNext;
    *properties = {};
    properties->stype = type;
    properties->pNext = next;
}

Result init(ze_init_flags_t) {
    UCD_MAY_FAIL(zeInit);
    return open_cl() != nullptr ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED;
}

// Drivers --------------------------------------------------------------

Result driver_get(uint32_t *count, ze_driver_handle_t *drivers) {
    UCD_MAY_FAIL(zeDriverGet);
    listed(count, 1);
    static int driver;
    if (drivers != nullptr) drivers[0] = handle_of<ze_driver_handle_t>(&driver);
    return ZE_RESULT_SUCCESS;
}

Result driver_version(ze_driver_handle_t, ze_api_version_t *version) {
    UCD_MAY_FAIL(zeDriverGetApiVersion);
    *version = ZE_API_VERSION_1_4;
    return ZE_RESULT_SUCCESS;
}

Result driver_properties(ze_driver_handle_t, ze_driver_properties_t *properties) {
    clear(properties);
    properties->driverVersion = 1;
    return ZE_RESULT_SUCCESS;
}

std::atomic<bool> spread{false};

// Intel's: how many descriptors an allocation needs.
Result memory_handles(ze_context_handle_t, const void *, uint32_t *count, ze_ipc_mem_handle_t *) {
    *count = spread ? 2 : 1;
    return ZE_RESULT_SUCCESS;
}

Result driver_function(ze_driver_handle_t, const char *name, void **function) {
    UCD_MAY_FAIL(zeDriverGetExtensionFunctionAddress);
    if (std::strcmp(name, "zexMemGetIpcHandles") != 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *function = reinterpret_cast<void *>(&memory_handles);
    return ZE_RESULT_SUCCESS;
}

Result driver_extensions(ze_driver_handle_t, uint32_t *count, ze_driver_extension_properties_t *) {
    *count = 0;
    return ZE_RESULT_SUCCESS;
}

// Devices --------------------------------------------------------------

Result device_get(ze_driver_handle_t, uint32_t *count, ze_device_handle_t *found) {
    UCD_MAY_FAIL(zeDeviceGet);
    const uint32_t n = listed(count, static_cast<uint32_t>(devices().size()));
    for (uint32_t i = 0; found != nullptr && i < n; ++i)
        found[i] = handle_of<ze_device_handle_t>(devices()[i].get());
    return ZE_RESULT_SUCCESS;
}

Result device_parts(ze_device_handle_t device, uint32_t *count, ze_device_handle_t *found) {
    UCD_MAY_FAIL(zeDeviceGetSubDevices);
    const auto &parts = of<Device>(device)->parts;
    const uint32_t n = listed(count, static_cast<uint32_t>(parts.size()));
    for (uint32_t i = 0; found != nullptr && i < n; ++i)
        found[i] = handle_of<ze_device_handle_t>(parts[i].get());
    return ZE_RESULT_SUCCESS;
}

Result device_properties(ze_device_handle_t device, ze_device_properties_t *properties) {
    UCD_MAY_FAIL(zeDeviceGetProperties);
    clear(properties);
    properties->type = ZE_DEVICE_TYPE_GPU;
    properties->numSlices = 1;
    properties->numSubslicesPerSlice = 4;
    properties->numEUsPerSubslice = 8;
    properties->numThreadsPerEU = 8;
    properties->uuid.id[0] = static_cast<uint8_t>(of<Device>(device)->index + 1);
    std::snprintf(properties->name, sizeof properties->name, "test device %u",
                  of<Device>(device)->index);
    return ZE_RESULT_SUCCESS;
}

Result device_modules(ze_device_handle_t, ze_device_module_properties_t *properties) {
    UCD_MAY_FAIL(zeDeviceGetModuleProperties);
    clear(properties);
    properties->spirvVersionSupported = ZE_MAKE_VERSION(1, 2);
    properties->flags = knobs().doubles ? ZE_DEVICE_MODULE_FLAG_FP64 : 0;
    properties->maxArgumentsSize = 1024;
    return ZE_RESULT_SUCCESS;
}

// Kernels do not run in the first group.
Result device_queues(ze_device_handle_t, uint32_t *count,
                     ze_command_queue_group_properties_t *groups) {
    UCD_MAY_FAIL(zeDeviceGetCommandQueueGroupProperties);
    const uint32_t n = listed(count, 2);
    for (uint32_t i = 0; groups != nullptr && i < n; ++i) {
        clear(&groups[i]);
        groups[i].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
        if (i == 1) groups[i].flags |= ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
        groups[i].numQueues = 1;
    }
    return ZE_RESULT_SUCCESS;
}

Result device_can_access(ze_device_handle_t device, ze_device_handle_t other, ze_bool_t *can) {
    UCD_MAY_FAIL(zeDeviceCanAccessPeer);
    *can = knobs().peers || of<Device>(device)->index == of<Device>(other)->index ? 1 : 0;
    return ZE_RESULT_SUCCESS;
}

// Contexts --------------------------------------------------------------

Result context_create(ze_driver_handle_t, const ze_context_desc_t *description,
                      ze_context_handle_t *context) {
    UCD_MAY_FAIL(zeContextCreate);
    if (description->stype != ZE_STRUCTURE_TYPE_CONTEXT_DESC)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *context = handle_of<ze_context_handle_t>(new Context);
    return ZE_RESULT_SUCCESS;
}

Result context_destroy(ze_context_handle_t context) {
    delete of<Context>(context);
    return ZE_RESULT_SUCCESS;
}

// Memory --------------------------------------------------------------

Result memory_of_device(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *description,
                        std::size_t bytes, std::size_t alignment, ze_device_handle_t device,
                        void **address) {
    UCD_MAY_FAIL(zeMemAllocDevice);
    if (description->stype != ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return allocate(of<Context>(context), bytes, alignment, ZE_MEMORY_TYPE_DEVICE,
                    of<Device>(device), address);
}

Result memory_of_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *description,
                      std::size_t bytes, std::size_t alignment, void **address) {
    UCD_MAY_FAIL(zeMemAllocHost);
    if (description->stype != ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return allocate(of<Context>(context), bytes, alignment, ZE_MEMORY_TYPE_HOST, nullptr, address);
}

Result memory_of_both(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *description,
                      const ze_host_mem_alloc_desc_t *, std::size_t bytes, std::size_t alignment,
                      ze_device_handle_t device, void **address) {
    UCD_MAY_FAIL(zeMemAllocShared);
    if (description->stype != ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return allocate(of<Context>(context), bytes, alignment, ZE_MEMORY_TYPE_SHARED,
                    of<Device>(device), address);
}

Result memory_free(ze_context_handle_t context, void *address) {
    UCD_MAY_FAIL(zeMemFree);
    return release(of<Context>(context), address);
}

Result memory_properties(ze_context_handle_t context, const void *address,
                         ze_memory_allocation_properties_t *properties,
                         ze_device_handle_t *device) {
    UCD_MAY_FAIL(zeMemGetAllocProperties);
    clear(properties);
    Allocation found{};
    const bool known = find(of<Context>(context), address, found);
    properties->type = known ? found.type : ZE_MEMORY_TYPE_UNKNOWN;
    properties->id = found.id;
    if (device != nullptr) *device = handle_of<ze_device_handle_t>(found.device);
    return ZE_RESULT_SUCCESS;
}

Result memory_range(ze_context_handle_t context, const void *address, void **start,
                    std::size_t *bytes) {
    UCD_MAY_FAIL(zeMemGetAddressRange);
    Allocation found{};
    if (!find(of<Context>(context), address, found)) return ZE_RESULT_ERROR_UNKNOWN;
    *start = found.address;
    *bytes = found.bytes;
    return ZE_RESULT_SUCCESS;
}

// Other processes --------------------------------------------------------------

Result memory_share(ze_context_handle_t context, const void *address, ze_ipc_mem_handle_t *handle) {
    UCD_MAY_FAIL(zeMemGetIpcHandle);
    return share(of<Context>(context), address, *handle);
}

Result memory_open(ze_context_handle_t context, ze_device_handle_t device,
                   ze_ipc_mem_handle_t handle, ze_ipc_memory_flags_t, void **address) {
    UCD_MAY_FAIL(zeMemOpenIpcHandle);
    return open(of<Context>(context), of<Device>(device), handle, address);
}

Result memory_close(ze_context_handle_t context, const void *address) {
    UCD_MAY_FAIL(zeMemCloseIpcHandle);
    return close(of<Context>(context), address);
}

} // namespace
} // namespace zedriver

using namespace zedriver;

UCD_TABLE(zeGetGlobalProcAddrTable, ze_global_dditable_t, t->pfnInit = init)
UCD_TABLE(zeGetDriverProcAddrTable, ze_driver_dditable_t, t->pfnGet = driver_get;
          t->pfnGetApiVersion = driver_version; t->pfnGetProperties = driver_properties;
          t->pfnGetExtensionProperties = driver_extensions;
          t->pfnGetExtensionFunctionAddress = driver_function)
UCD_TABLE(zeGetDeviceProcAddrTable, ze_device_dditable_t, t->pfnGet = device_get;
          t->pfnGetProperties = device_properties; t->pfnGetModuleProperties = device_modules;
          t->pfnGetCommandQueueGroupProperties = device_queues;
          t->pfnCanAccessPeer = device_can_access; t->pfnGetSubDevices = device_parts)
UCD_TABLE(zeGetContextProcAddrTable, ze_context_dditable_t, t->pfnCreate = context_create;
          t->pfnDestroy = context_destroy)
UCD_TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t, t->pfnAllocDevice = memory_of_device;
          t->pfnAllocHost = memory_of_host; t->pfnAllocShared = memory_of_both;
          t->pfnFree = memory_free; t->pfnGetAllocProperties = memory_properties;
          t->pfnGetAddressRange = memory_range; t->pfnGetIpcHandle = memory_share;
          t->pfnOpenIpcHandle = memory_open; t->pfnCloseIpcHandle = memory_close)
// The loader wants these, too.
#define UCD_EMPTY_TABLE(name, Table) UCD_TABLE(name, Table, (void)t)
UCD_EMPTY_TABLE(zeGetDeviceExpProcAddrTable, ze_device_exp_dditable_t)
UCD_EMPTY_TABLE(zeGetImageProcAddrTable, ze_image_dditable_t)
UCD_EMPTY_TABLE(zeGetImageExpProcAddrTable, ze_image_exp_dditable_t)
UCD_EMPTY_TABLE(zeGetEventExpProcAddrTable, ze_event_exp_dditable_t)
UCD_EMPTY_TABLE(zeGetKernelExpProcAddrTable, ze_kernel_exp_dditable_t)
UCD_EMPTY_TABLE(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)
UCD_EMPTY_TABLE(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)
UCD_EMPTY_TABLE(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)
UCD_EMPTY_TABLE(zeGetFabricVertexExpProcAddrTable, ze_fabric_vertex_exp_dditable_t)
UCD_EMPTY_TABLE(zeGetFabricEdgeExpProcAddrTable, ze_fabric_edge_exp_dditable_t)
UCD_EMPTY_TABLE(zetGetDeviceProcAddrTable, zet_device_dditable_t)
UCD_EMPTY_TABLE(zetGetContextProcAddrTable, zet_context_dditable_t)
UCD_EMPTY_TABLE(zetGetCommandListProcAddrTable, zet_command_list_dditable_t)
UCD_EMPTY_TABLE(zetGetModuleProcAddrTable, zet_module_dditable_t)
UCD_EMPTY_TABLE(zetGetKernelProcAddrTable, zet_kernel_dditable_t)
UCD_EMPTY_TABLE(zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t)
UCD_EMPTY_TABLE(zetGetMetricGroupExpProcAddrTable, zet_metric_group_exp_dditable_t)
UCD_EMPTY_TABLE(zetGetMetricProcAddrTable, zet_metric_dditable_t)
UCD_EMPTY_TABLE(zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t)
UCD_EMPTY_TABLE(zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t)
UCD_EMPTY_TABLE(zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t)
UCD_EMPTY_TABLE(zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t)
UCD_EMPTY_TABLE(zetGetDebugProcAddrTable, zet_debug_dditable_t)
UCD_EMPTY_TABLE(zesGetDriverProcAddrTable, zes_driver_dditable_t)
UCD_EMPTY_TABLE(zesGetDeviceProcAddrTable, zes_device_dditable_t)
UCD_EMPTY_TABLE(zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t)
UCD_EMPTY_TABLE(zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t)
UCD_EMPTY_TABLE(zesGetPowerProcAddrTable, zes_power_dditable_t)
UCD_EMPTY_TABLE(zesGetFrequencyProcAddrTable, zes_frequency_dditable_t)
UCD_EMPTY_TABLE(zesGetEngineProcAddrTable, zes_engine_dditable_t)
UCD_EMPTY_TABLE(zesGetStandbyProcAddrTable, zes_standby_dditable_t)
UCD_EMPTY_TABLE(zesGetFirmwareProcAddrTable, zes_firmware_dditable_t)
UCD_EMPTY_TABLE(zesGetMemoryProcAddrTable, zes_memory_dditable_t)
UCD_EMPTY_TABLE(zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t)
UCD_EMPTY_TABLE(zesGetTemperatureProcAddrTable, zes_temperature_dditable_t)
UCD_EMPTY_TABLE(zesGetPsuProcAddrTable, zes_psu_dditable_t)
UCD_EMPTY_TABLE(zesGetFanProcAddrTable, zes_fan_dditable_t)
UCD_EMPTY_TABLE(zesGetLedProcAddrTable, zes_led_dditable_t)
UCD_EMPTY_TABLE(zesGetRasProcAddrTable, zes_ras_dditable_t)
UCD_EMPTY_TABLE(zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t)
UCD_EMPTY_TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t)
UCD_EMPTY_TABLE(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t)

void ucd_ze_driver_spread(bool has_parts) {
    zedriver::spread = has_parts;
}
