// The functions that the loader finds in a driver, in its tables. Those that the library does not
// call are missing.
#include "support/ze_driver/controls.h"
#include "support/ze_driver/memory.h"
#include "support/ze_driver/modules.h"

#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace zedriver {
namespace {

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

constexpr Result failure = ZE_RESULT_ERROR_DEVICE_LOST;

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

// Intel's: how many descriptors an allocation needs.
Result memory_handles(ze_context_handle_t, const void *, uint32_t *count, ze_ipc_mem_handle_t *) {
    *count = knobs().spread ? 2 : 1;
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

// Command lists --------------------------------------------------------------

constexpr uint32_t only_copies = 0, runs_kernels = 1; // the groups of queues
std::atomic<unsigned> engine_copies{0};

Result add(ze_command_list_handle_t handle, std::function<void()> run, ze_event_handle_t signal,
           uint32_t count, ze_event_handle_t *waits, bool barrier = false) {
    CommandList &list = *of<CommandList>(handle);
    const OneThread one(list.users, "a command list");
    if (list.closed) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    Command command;
    command.run = std::move(run);
    command.signal = of<Event>(signal);
    for (uint32_t i = 0; i < count; ++i) command.waits.push_back(of<Event>(waits[i]));
    command.barrier = barrier;
    if (list.queue == nullptr) {
        list.commands.push_back(std::move(command));
        return ZE_RESULT_SUCCESS;
    }
    list.queue->add(std::move(command));
    if (knobs().blocks) list.queue->wait_until_idle();
    return ZE_RESULT_SUCCESS;
}

Result make_list(ze_context_handle_t context, uint32_t group, bool immediate,
                 ze_command_list_handle_t *list) {
    if (group > runs_kernels) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    auto made = std::make_unique<CommandList>();
    made->context = of<Context>(context);
    made->only_copies = group == only_copies;
    if (immediate) made->queue = std::make_unique<Queue>();
    *list = handle_of<ze_command_list_handle_t>(made.release());
    ++objects;
    return ZE_RESULT_SUCCESS;
}

Result list_create_immediate(ze_context_handle_t context, ze_device_handle_t,
                             const ze_command_queue_desc_t *description,
                             ze_command_list_handle_t *list) {
    UCD_MAY_FAIL(zeCommandListCreateImmediate);
    if (description->stype != ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return make_list(context, description->ordinal, true, list);
}

Result list_create(ze_context_handle_t context, ze_device_handle_t,
                   const ze_command_list_desc_t *description, ze_command_list_handle_t *list) {
    UCD_MAY_FAIL(zeCommandListCreate);
    if (description->stype != ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return make_list(context, description->commandQueueGroupOrdinal, false, list);
}

Result list_destroy(ze_command_list_handle_t list) {
    UCD_MAY_FAIL(zeCommandListDestroy);
    delete of<CommandList>(list);
    --objects;
    return ZE_RESULT_SUCCESS;
}

Result list_close(ze_command_list_handle_t list) {
    UCD_MAY_FAIL(zeCommandListClose);
    if (of<CommandList>(list)->queue != nullptr) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    of<CommandList>(list)->closed = true;
    return ZE_RESULT_SUCCESS;
}

Result queue_create(ze_context_handle_t, ze_device_handle_t, const ze_command_queue_desc_t *,
                    ze_command_queue_handle_t *queue) {
    UCD_MAY_FAIL(zeCommandQueueCreate);
    *queue = handle_of<ze_command_queue_handle_t>(new Queue);
    return ZE_RESULT_SUCCESS;
}

Result queue_destroy(ze_command_queue_handle_t queue) {
    UCD_MAY_FAIL(zeCommandQueueDestroy);
    delete of<Queue>(queue);
    return ZE_RESULT_SUCCESS;
}

Result queue_execute(ze_command_queue_handle_t queue, uint32_t count,
                     ze_command_list_handle_t *lists, ze_fence_handle_t) {
    UCD_MAY_FAIL(zeCommandQueueExecuteCommandLists);
    for (uint32_t i = 0; i < count; ++i) {
        if (!of<CommandList>(lists[i])->closed) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        for (const Command &command : of<CommandList>(lists[i])->commands)
            of<Queue>(queue)->add(command);
    }
    return ZE_RESULT_SUCCESS;
}

Result queue_wait(ze_command_queue_handle_t queue, uint64_t) {
    UCD_MAY_FAIL(zeCommandQueueSynchronize);
    of<Queue>(queue)->wait_until_idle();
    return ZE_RESULT_SUCCESS;
}

Result append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t count,
                      ze_event_handle_t *waits) {
    UCD_MAY_FAIL(zeCommandListAppendBarrier);
    return add(list, nullptr, signal, count, waits, true);
}

Result append_copy(ze_command_list_handle_t list, void *to, const void *from, std::size_t bytes,
                   ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    UCD_MAY_FAIL(zeCommandListAppendMemoryCopy);
    if (of<CommandList>(list)->only_copies) ++engine_copies;
    return add(
        list, [=] { std::memmove(to, from, bytes); }, signal, count, waits);
}

Result append_region(ze_command_list_handle_t list, void *to, const ze_copy_region_t *there,
                     uint32_t to_pitch, uint32_t, const void *from, const ze_copy_region_t *here,
                     uint32_t from_pitch, uint32_t, ze_event_handle_t signal, uint32_t count,
                     ze_event_handle_t *waits) {
    UCD_MAY_FAIL(zeCommandListAppendMemoryCopyRegion);
    if (there->originX != 0 || there->originY != 0 || here->originX != 0 || here->originY != 0 ||
        here->depth > 1)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (of<CommandList>(list)->only_copies) ++engine_copies;
    const ze_copy_region_t region = *here;
    return add(
        list,
        [=] {
            for (std::size_t y = 0; y < region.height; ++y)
                std::memmove(static_cast<char *>(to) + y * to_pitch,
                             static_cast<const char *>(from) + y * from_pitch, region.width);
        },
        signal, count, waits);
}

// The arguments are those of now.
Result append_launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                     const ze_group_count_t *groups, ze_event_handle_t signal, uint32_t count,
                     ze_event_handle_t *waits) {
    UCD_MAY_FAIL(zeCommandListAppendLaunchKernel);
    Kernel &launched = *of<Kernel>(kernel);
    const CommandList &to = *of<CommandList>(list);
    const OneThread one(launched.users, "a kernel");
    if (launched.context != to.context) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (to.only_copies) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    const bool often = to.queue == nullptr;
    return add(list, launch(launched, *groups, often), signal, count, waits);
}

// Events --------------------------------------------------------------

Result pool_create(ze_context_handle_t, const ze_event_pool_desc_t *description, uint32_t,
                   ze_device_handle_t *, ze_event_pool_handle_t *pool) {
    UCD_MAY_FAIL(zeEventPoolCreate);
    *pool = handle_of<ze_event_pool_handle_t>(new EventPool{description->count});
    ++objects;
    return ZE_RESULT_SUCCESS;
}

Result event_create(ze_event_pool_handle_t pool, const ze_event_desc_t *description,
                    ze_event_handle_t *event) {
    UCD_MAY_FAIL(zeEventCreate);
    if (description->index >= of<EventPool>(pool)->events) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *event = handle_of<ze_event_handle_t>(new Event);
    return ZE_RESULT_SUCCESS;
}

Result event_destroy(ze_event_handle_t event) {
    UCD_MAY_FAIL(zeEventDestroy);
    delete of<Event>(event);
    return ZE_RESULT_SUCCESS;
}

Result event_query(ze_event_handle_t event) {
    UCD_MAY_FAIL(zeEventQueryStatus);
    return of<Event>(event)->is_set() ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

Result event_wait(ze_event_handle_t event, uint64_t nanoseconds) {
    UCD_MAY_FAIL(zeEventHostSynchronize);
    return of<Event>(event)->wait(nanoseconds) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

Result event_reset(ze_event_handle_t event) {
    UCD_MAY_FAIL(zeEventHostReset);
    of<Event>(event)->set(false);
    return ZE_RESULT_SUCCESS;
}

// Kernels --------------------------------------------------------------

Result module_create(ze_context_handle_t context, ze_device_handle_t,
                     const ze_module_desc_t *description, ze_module_handle_t *module,
                     ze_module_build_log_handle_t *log) {
    UCD_MAY_FAIL(zeModuleCreate);
    if (log != nullptr) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    Module *made = nullptr;
    const Result result = make_module(of<Context>(context), *description, made);
    *module = handle_of<ze_module_handle_t>(made);
    return result;
}

Result kernel_create(ze_module_handle_t module, const ze_kernel_desc_t *description,
                     ze_kernel_handle_t *kernel) {
    UCD_MAY_FAIL(zeKernelCreate);
    const std::lock_guard lock(open_cl()->mutex);
    cl_kernel made = clCreateKernel(of<Module>(module)->program, description->pKernelName, nullptr);
    if (made == nullptr) return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    auto created = std::make_unique<Kernel>();
    created->kernel = made;
    created->context = of<Module>(module)->context;
    *kernel = handle_of<ze_kernel_handle_t>(created.release());
    ++objects;
    return ZE_RESULT_SUCCESS;
}

Result kernel_destroy(ze_kernel_handle_t kernel) {
    UCD_MAY_FAIL(zeKernelDestroy);
    clReleaseKernel(of<Kernel>(kernel)->kernel);
    delete of<Kernel>(kernel);
    --objects;
    return ZE_RESULT_SUCCESS;
}

Result kernel_argument(ze_kernel_handle_t kernel, uint32_t index, std::size_t bytes,
                       const void *value) {
    UCD_MAY_FAIL(zeKernelSetArgumentValue);
    if (index != 0) return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    const OneThread one(of<Kernel>(kernel)->users, "a kernel");
    const auto *first = static_cast<const unsigned char *>(value);
    of<Kernel>(kernel)->argument.assign(first, first + bytes);
    return ZE_RESULT_SUCCESS;
}

Result kernel_group(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z) {
    UCD_MAY_FAIL(zeKernelSetGroupSize);
    uint32_t *group = of<Kernel>(kernel)->group;
    group[0] = x;
    group[1] = y;
    group[2] = z;
    return ZE_RESULT_SUCCESS;
}

Result kernel_access(ze_kernel_handle_t, ze_kernel_indirect_access_flags_t) {
    UCD_MAY_FAIL(zeKernelSetIndirectAccess);
    return ZE_RESULT_SUCCESS;
}

} // namespace
} // namespace zedriver

using namespace zedriver;

// Fills a table of the loader's, which has asked for it in its version.
#define UCD_TABLE(name, Table, ...)                                                                \
    extern "C" __attribute__((visibility("default"))) ze_result_t name(ze_api_version_t,           \
                                                                       Table *t) {                 \
        if (t == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;                             \
        __VA_ARGS__;                                                                               \
        return ZE_RESULT_SUCCESS;                                                                  \
    }

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
UCD_TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t,
          t->pfnCreateImmediate = list_create_immediate;
          t->pfnCreate = list_create; t->pfnClose = list_close; t->pfnDestroy = list_destroy;
          t->pfnAppendBarrier = append_barrier; t->pfnAppendMemoryCopy = append_copy;
          t->pfnAppendMemoryCopyRegion = append_region; t->pfnAppendLaunchKernel = append_launch)
UCD_TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t, t->pfnCreate = queue_create;
          t->pfnDestroy = queue_destroy; t->pfnExecuteCommandLists = queue_execute;
          t->pfnSynchronize = queue_wait)
UCD_TABLE(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t, t->pfnCreate = pool_create)
UCD_TABLE(zeGetEventProcAddrTable, ze_event_dditable_t, t->pfnCreate = event_create;
          t->pfnDestroy = event_destroy; t->pfnQueryStatus = event_query;
          t->pfnHostSynchronize = event_wait; t->pfnHostReset = event_reset)
UCD_TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t, t->pfnCreate = module_create)
UCD_TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t, t->pfnCreate = kernel_create;
          t->pfnDestroy = kernel_destroy; t->pfnSetArgumentValue = kernel_argument;
          t->pfnSetGroupSize = kernel_group; t->pfnSetIndirectAccess = kernel_access)

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

unsigned ucd_ze_driver_engine_copies() {
    return zedriver::engine_copies;
}
