// A program's own use of Level Zero, for tests of what the library does beside it.
#pragma once

#include <level_zero/ze_api.h>
#include <ucd.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace zetest {

// Also called where no test case is running.
inline void require(ze_result_t result) {
    if (result != ZE_RESULT_SUCCESS)
        throw std::runtime_error("Level Zero: " + std::to_string(result));
}

// A program's own use of Level Zero.
struct Program {
    ze_driver_handle_t driver = nullptr;
    ze_device_handle_t device = nullptr;
    ze_context_handle_t context = nullptr, other_context = nullptr;

    Program() {
        require(zeInit(ZE_INIT_FLAG_GPU_ONLY));
        uint32_t one = 1;
        require(zeDriverGet(&one, &driver));
        one = 1;
        require(zeDeviceGet(driver, &one, &device));
        ze_context_desc_t description{};
        description.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
        require(zeContextCreate(driver, &description, &context));
        require(zeContextCreate(driver, &description, &other_context));
    }

    // The first group's queues only copy.
    ze_command_list_handle_t list(ze_context_handle_t in, uint32_t group = 1) const {
        ze_command_queue_desc_t description{};
        description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
        description.ordinal = group;
        description.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
        ze_command_list_handle_t made = nullptr;
        require(zeCommandListCreateImmediate(in, device, &description, &made));
        return made;
    }

    unsigned char *memory(std::size_t bytes) const { return memory(context, device, bytes); }
    static unsigned char *memory(ze_context_handle_t in, ze_device_handle_t on, std::size_t bytes) {
        ze_device_mem_alloc_desc_t description{};
        description.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
        void *made = nullptr;
        require(zeMemAllocDevice(in, &description, bytes, 64, on, &made));
        return static_cast<unsigned char *>(made);
    }

    ze_event_handle_t event() const { return event(context); }
    static ze_event_handle_t event(ze_context_handle_t in) {
        ze_event_pool_desc_t description{};
        description.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
        description.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
        description.count = 1;
        ze_event_pool_handle_t pool = nullptr;
        require(zeEventPoolCreate(in, &description, 0, nullptr, &pool));
        ze_event_desc_t event{};
        event.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
        event.signal = ZE_EVENT_SCOPE_FLAG_HOST;
        ze_event_handle_t made = nullptr;
        require(zeEventCreate(pool, &event, &made));
        return made;
    }
};

inline const Program &program() {
    static const Program p;
    return p;
}

// Starts the library in the program's context, if there is a driver. False if that failed.
inline bool start_in_context() {
    if (zeInit(ZE_INIT_FLAG_GPU_ONLY) != ZE_RESULT_SUCCESS)
        return ucd_init(UCD_INFO__NULL) == UCD_SUCCESS;
    ucd_info_t info = nullptr;
    const auto context = std::to_string(reinterpret_cast<uintptr_t>(program().context));
    const bool started = ucd_info_create(&info) == UCD_SUCCESS &&
                         ucd_info_set(info, "ucd.ze.context", context.c_str()) == UCD_SUCCESS &&
                         ucd_init(info) == UCD_SUCCESS;
    (void)ucd_info_free(&info);
    return started;
}

} // namespace zetest
