#include "runtime/shared_memory.h"

#include "runtime/check.h"
#include "runtime/driver.h"

#include <cstring>

namespace ucd::UCD_GPU {
// Fails with `code` unless the range is within an allocation of `size` bytes.
Status check_range(int code, std::size_t size, uint64_t offset, std::size_t bytes) {
    if (offset <= size && bytes <= size - offset) return success;
    return fail(code, "%zu bytes from %ju on are not all in the allocation, which has %zu", bytes,
                static_cast<uintmax_t>(offset), size);
}

Status export_memory(const void *address, std::size_t bytes, MemoryHandle &handle) {
    void *start = nullptr;
    std::size_t size = 0;
    UCD_TRY(driver::find_allocation(address, start, size));
    const auto offset = static_cast<uint64_t>(static_cast<const char *>(address) -
                                              static_cast<const char *>(start));
    UCD_TRY(check_range(UCD_ERR__INVALID_ARG, size, offset, bytes));
    gpuIpcMemHandle_t native{};
    static_assert(sizeof native <= sizeof handle.native);
    UCD_TRY(check(gpuIpcGetMemHandle(&native, start), "sharing device memory"));
    handle = {};
    std::memcpy(handle.native, &native, sizeof native);
    handle.offset = offset;
    return success;
}

Status open_memory(const MemoryHandle &handle, std::size_t bytes, void *&allocation) {
    gpuIpcMemHandle_t native{};
    std::memcpy(&native, handle.native, sizeof native);
    if (!is_zero_from(handle.native, sizeof native))
        return fail(UCD_ERR__CORRUPT, "handle has bytes that mean nothing and are not zero");
    void *opened = nullptr;
    UCD_TRY(check(gpuIpcOpenMemHandle(&opened, native, gpuIpcMemLazyEnablePeerAccess),
                  "opening device memory of another process"));
    // The handle is untrusted: check its range against the real allocation.
    void *start;
    std::size_t size;
    Status status = driver::find_allocation(opened, start, size);
    if (status.ok()) status = check_range(UCD_ERR__CORRUPT, size, handle.offset, bytes);
    UCD_TRY(undone(status, [opened] { (void)gpuIpcCloseMemHandle(opened); }));
    allocation = opened;
    return success;
}

} // namespace ucd::UCD_GPU
