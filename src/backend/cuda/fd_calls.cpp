// The functions of runtime/fd_calls.h for CUDA: memory of cuMemCreate, and of pools.

#include "runtime/fd_calls.h"

#include "driver_library.h"
#include "runtime/check.h"
#include "runtime/driver.h"

#include <cstring>
#include <unistd.h>
#include <utility>

namespace ucd::cuda::driver {
namespace {

constexpr CUmemAllocationHandleType by_fd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

CUdeviceptr number_of(const void *address) {
    return reinterpret_cast<CUdeviceptr>(address);
}

// The driver takes descriptors in the place of addresses.
void *as_handle(int fd) {
    return reinterpret_cast<void *>(static_cast<uintptr_t>(fd));
}

template <class Value>
bool find_attribute(const void *address, CUpointer_attribute which, Value &value) {
    void *values[] = {&value};
    return DriverLibrary::instance().pointer_get_attributes(1, &which, values,
                                                            number_of(address)) == CUDA_SUCCESS;
}

// A reference to a piece of physical memory.
class PieceReference {
public:
    PieceReference() = default;
    ~PieceReference() {
        if (handle != 0) (void)DriverLibrary::instance().mem_release_handle(handle);
    }
    PieceReference(const PieceReference &) = delete;
    PieceReference &operator=(const PieceReference &) = delete;

    CUmemGenericAllocationHandle handle = 0;
};

Status find_properties(const PieceReference &piece, CUmemAllocationProp &properties) {
    return check(DriverLibrary::instance().mem_get_properties(&properties, piece.handle),
                 "asking for the properties of physical memory");
}

Status retain_exportable(const void *address, PieceReference &piece) {
    const DriverLibrary &library = DriverLibrary::instance();
    if (const CUresult result =
            library.mem_retain_handle(&piece.handle, const_cast<void *>(address));
        result != CUDA_SUCCESS) {
        piece.handle = 0;
        // Memory that another process shares with this one is of this kind, for instance.
        return fail(UCD_ERR__NOT_SUPPORTED,
                    "the memory at %p is of a kind that CUDA does not share: %s", address,
                    library.text_of(result).c_str());
    }
    CUmemAllocationProp properties{};
    UCD_TRY(find_properties(piece, properties));
    if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return fail(UCD_ERR__NOT_SUPPORTED, "the memory at %p is not on a device", address);
    if ((properties.requestedHandleTypes & by_fd) != 0) return success;
    return fail(UCD_ERR__NOT_SUPPORTED,
                "the memory at %p cannot be shared: it was made without "
                "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR",
                address);
}

// Where pieces are being mapped. Undone when destroyed, unless kept.
class NewMapping {
public:
    NewMapping() = default;
    ~NewMapping() {
        const DriverLibrary &library = DriverLibrary::instance();
        for (std::size_t i = 0, at = 0; i < mapped_; at += sizes_[i++])
            (void)library.mem_unmap(start_ + at, sizes_[i]);
        if (start_ != 0) (void)library.mem_address_free(start_, total_);
    }
    NewMapping(const NewMapping &) = delete;
    NewMapping &operator=(const NewMapping &) = delete;

    Status reserve(std::span<const std::size_t> sizes) {
        sizes_ = sizes;
        for (const std::size_t bytes : sizes) total_ += bytes;
        const CUresult result =
            DriverLibrary::instance().mem_address_reserve(&start_, total_, 0, 0, 0);
        if (result != CUDA_SUCCESS) start_ = 0;
        return check(result, "reserving addresses");
    }

    Status map(int fd) {
        const DriverLibrary &library = DriverLibrary::instance();
        PieceReference piece;
        if (const CUresult result = library.mem_import(&piece.handle, as_handle(fd), by_fd);
            result != CUDA_SUCCESS) {
            piece.handle = 0;
            return check(result, "opening physical memory of another process");
        }
        CUmemAllocationProp properties{};
        UCD_TRY(find_properties(piece, properties));
        if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return fail(UCD_ERR__DEVICE, "CUDA: a descriptor is not of memory of a device");
        std::size_t granularity = 0;
        UCD_TRY(check(library.mem_get_granularity(&granularity, &properties,
                                                  CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                      "asking for the granularity of physical memory"));
        const std::size_t bytes = sizes_[mapped_];
        if (granularity == 0 || bytes % granularity != 0)
            return fail(UCD_ERR__CORRUPT, "a piece of %zu bytes is no multiple of %zu", bytes,
                        granularity);
        // Fails if the memory is smaller.
        UCD_TRY(check(library.mem_map(start_ + mapped_bytes_, bytes, 0, piece.handle, 0),
                      "mapping physical memory"));
        ++mapped_;
        mapped_bytes_ += bytes;
        return success;
    }

    Status give_access(int device) const {
        CUmemAccessDesc access{};
        access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access.location.id = device;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return check(DriverLibrary::instance().mem_set_access(start_, total_, &access, 1),
                     "getting access to physical memory");
    }

    // What the driver says of each mapping, in place of what another process has said.
    Status check_sizes() const {
        CUdeviceptr at = start_;
        for (const std::size_t expected : sizes_) {
            CUdeviceptr begin = 0;
            std::size_t bytes = 0;
            const auto *const address = reinterpret_cast<const void *>(at);
            if (!find_attribute(address, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, begin) ||
                !find_attribute(address, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, bytes) || begin != at ||
                bytes != expected)
                return fail(UCD_ERR__DEVICE, "CUDA: %zu bytes were mapped in place of %zu", bytes,
                            expected);
            at += expected;
        }
        return success;
    }

    void *keep() {
        mapped_ = 0;
        return reinterpret_cast<void *>(std::exchange(start_, 0));
    }

private:
    std::span<const std::size_t> sizes_;
    CUdeviceptr start_ = 0;
    std::size_t total_ = 0, mapped_ = 0, mapped_bytes_ = 0;
};

Status find_pool(const void *allocation, CUmemoryPool &pool) {
    pool = nullptr;
    if (find_attribute(allocation, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pool) && pool != nullptr)
        return success;
    return fail(UCD_ERR__DEVICE, "CUDA: the memory at %p has no pool any more", allocation);
}

} // namespace

Status find_sharing(const MemoryLocation &location, const void *address, SharedBy &by) {
    CUmemoryPool pool = nullptr;
    if (!location.own_access)
        by = SharedBy::handle;
    else if (find_attribute(address, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pool) && pool != nullptr)
        by = SharedBy::pool;
    else
        by = SharedBy::pieces;
    return success;
}

Status find_piece(const void *address, MappedPiece &piece) {
    CUdeviceptr begin = 0;
    unsigned long long id = 0, block_id = 0;
    if (!find_attribute(address, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, begin) ||
        !find_attribute(address, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, piece.bytes) || begin == 0)
        return fail(UCD_ERR__INVALID_ARG, "no memory is mapped at %p", address);
    PieceReference memory;
    UCD_TRY(retain_exportable(address, memory));
    // Ids are never used again. The first may be of the addresses, so that it does not show that
    // other memory is mapped there; older drivers do not have the second.
    (void)find_attribute(address, CU_POINTER_ATTRIBUTE_BUFFER_ID, id);
#if CUDA_VERSION >= 13000
    (void)find_attribute(address, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, block_id);
#endif
    piece.begin = begin;
    piece.identity = id + 0x9e3779b97f4a7c15u * (block_id + 0x9e3779b97f4a7c15u * memory.handle);
    return success;
}

Status export_piece(const void *address, int &fd) {
    PieceReference memory;
    UCD_TRY(retain_exportable(address, memory));
    return check(DriverLibrary::instance().mem_export(&fd, memory.handle, by_fd, 0),
                 "exporting physical memory");
}

Status map_pieces(int device, std::span<const int> fds, std::span<const std::size_t> sizes,
                  void *&address) {
    NewMapping mapping;
    UCD_TRY(mapping.reserve(sizes));
    for (const int fd : fds) UCD_TRY(mapping.map(fd));
    UCD_TRY(mapping.give_access(device));
    UCD_TRY(mapping.check_sizes());
    address = mapping.keep();
    return success;
}

// Failures are ignored: at exit, the driver may have been unloaded already.
void unmap_pieces(void *address, std::span<const std::size_t> sizes) {
    const DriverLibrary &library = DriverLibrary::instance();
    std::size_t total = 0;
    for (const std::size_t bytes : sizes) {
        (void)library.mem_unmap(number_of(address) + total, bytes);
        total += bytes;
    }
    (void)library.mem_address_free(number_of(address), total);
}

Status export_pool(const void *allocation, int &fd) {
    CUmemoryPool pool;
    UCD_TRY(find_pool(allocation, pool));
    return check(DriverLibrary::instance().mem_pool_export(&fd, pool, by_fd, 0),
                 "exporting a pool of memory");
}

Status export_from_pool(const void *allocation, PoolHandle &handle, uint64_t &identity) {
    const DriverLibrary &library = DriverLibrary::instance();
    CUmemPoolPtrExportData data{};
    static_assert(sizeof data == sizeof handle.native);
    CUresult result = library.mem_pool_export_pointer(&data, number_of(allocation));
    int fd = -1;
    // The driver refuses memory of a pool that has never been exported itself.
    if (result == CUDA_ERROR_INVALID_VALUE && export_pool(allocation, fd).ok()) {
        (void)::close(fd);
        result = library.mem_pool_export_pointer(&data, number_of(allocation));
    }
    if (result != CUDA_SUCCESS)
        return fail(UCD_ERR__NOT_SUPPORTED,
                    "the memory at %p cannot be shared; its pool may have been made without "
                    "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR: %s",
                    allocation, library.text_of(result).c_str());
    std::memcpy(handle.native, &data, sizeof data);
    unsigned long long id = 0;
    (void)find_attribute(allocation, CU_POINTER_ATTRIBUTE_BUFFER_ID, id);
    identity = id;
    return success;
}

Status open_from_pool(int device, int fd, const PoolHandle &handle, PoolMemory &memory) {
    const DriverLibrary &library = DriverLibrary::instance();
    CUmemoryPool pool = nullptr;
    UCD_TRY(check(library.mem_pool_import(&pool, as_handle(fd), by_fd, 0),
                  "opening a pool of another process"));
    memory = {.address = nullptr, .bytes = 0, .pool = pool};
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = device;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    Status status =
        check(library.mem_pool_set_access(pool, &access, 1), "getting access to a pool");
    if (status.ok()) {
        CUmemPoolPtrExportData data{};
        std::memcpy(&data, handle.native, sizeof data);
        CUdeviceptr address = 0;
        status = check(library.mem_pool_import_pointer(&address, pool, &data),
                       "opening memory of a pool of another process");
        if (status.ok()) memory.address = reinterpret_cast<void *>(address);
    }
    if (status.ok()) {
        void *start = nullptr;
        status = find_allocation(memory.address, start, memory.bytes);
        if (status.ok() && start != memory.address)
            status =
                fail(UCD_ERR__DEVICE, "CUDA: memory of a pool was opened within an allocation");
    }
    return undone(status, [&memory] { close_from_pool(memory); });
}

// Failures are ignored: at exit, the driver may have been unloaded already.
void close_from_pool(const PoolMemory &memory) {
    const DriverLibrary &library = DriverLibrary::instance();
    if (memory.address != nullptr) (void)library.mem_free(number_of(memory.address));
    (void)library.mem_pool_destroy(static_cast<CUmemoryPool>(memory.pool));
}

} // namespace ucd::cuda::driver
