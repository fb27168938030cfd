// Level Zero among the vendors of gpu/vendors_test.cpp. Its memory is made in a context, in which
// the library works from the start.
#include "support/test_start.hpp"
#include "vendor.hpp"
#include "ze/program.hpp"

#include <ucd.h>

using namespace zetest;

bool ucdtest::start_library() {
    return start_in_context();
}

namespace {

void *allocate_pinned(std::size_t bytes) {
    ze_host_mem_alloc_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
    void *made = nullptr;
    require(zeMemAllocHost(program().context, &description, bytes, 64, &made));
    return made;
}

void free_memory(void *memory) {
    require(zeMemFree(program().context, memory));
}

// Until everything in the list is complete.
void synchronise(void *list) {
    static const ze_event_handle_t done = program().event();
    require(
        zeCommandListAppendBarrier(static_cast<ze_command_list_handle_t>(list), done, 0, nullptr));
    require(zeEventHostSynchronize(done, UINT64_MAX));
    require(zeEventHostReset(done));
}

void copy(void *to, const void *from, std::size_t bytes) {
    static const ze_command_list_handle_t list = program().list(program().context);
    require(zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr));
    synchronise(list);
}

} // namespace

namespace ucdtest::ze {

extern const Vendor vendor;
const Vendor vendor = {
    .name = "ze",
    .allocate_device = [](std::size_t bytes) -> void * { return program().memory(bytes); },
    .allocate_pinned = allocate_pinned,
    .free_device = free_memory,
    .free_pinned = free_memory,
    .write = copy,
    .read = copy,
    .create_stream = []() -> void * { return program().list(program().context); },
    .synchronise = synchronise,
    .destroy_stream =
        [](void *list) {
            require(zeCommandListDestroy(static_cast<ze_command_list_handle_t>(list)));
        },
};

} // namespace ucdtest::ze
