// The functions that the loader finds in a driver, in its tables: lists, queues, events, kernels.
#include "support/ze_driver/calls.h"
#include "support/ze_driver/controls.h"
#include "support/ze_driver/modules.h"

#include <level_zero/ze_ddi.h>

#include <chrono>
#include <cstring>

namespace zedriver {
namespace {

// Command lists --------------------------------------------------------------

constexpr uint32_t only_copies = 0, runs_kernels = 1; // the groups of queues
std::atomic<unsigned> engine_copies{0}, kernel_us{0};

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
    if (!may_use(of<CommandList>(list)->context, to) ||
        !may_use(of<CommandList>(list)->context, from))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (of<CommandList>(list)->only_copies) ++engine_copies;
    return add(
        list, [=] { std::memmove(to, from, bytes); }, signal, count, waits);
}

Result append_region(ze_command_list_handle_t list, void *to, const ze_copy_region_t *there,
                     uint32_t to_pitch, uint32_t, const void *from, const ze_copy_region_t *here,
                     uint32_t from_pitch, uint32_t, ze_event_handle_t signal, uint32_t count,
                     ze_event_handle_t *waits) {
    UCD_MAY_FAIL(zeCommandListAppendMemoryCopyRegion);
    if (!may_use(of<CommandList>(list)->context, to) ||
        !may_use(of<CommandList>(list)->context, from))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
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
    return add(
        list,
        [run = launch(launched, *groups, often)] {
            if (kernel_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(kernel_us));
            run();
        },
        signal, count, waits);
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

unsigned ucd_ze_driver_engine_copies() {
    return zedriver::engine_copies;
}

void ucd_ze_driver_slow_kernels(unsigned microseconds) {
    zedriver::kernel_us = microseconds;
}
