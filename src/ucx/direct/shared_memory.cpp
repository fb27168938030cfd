#include "direct/shared_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace ucd_ucx {
namespace {

// Otherwise a process that has the descriptor could make the file shorter, and the other one's next
// access would be a SIGBUS.
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// Huge pages can be sealed, too. But a hole that the other process makes there is filled from a
// pool of such pages, and if that is empty, reading the hole ends this process.
bool is_sealed(int descriptor, uint64_t bytes) {
    struct stat found = {};
    struct statfs system = {};
    const int sealed = ::fcntl(descriptor, F_GET_SEALS);
    return sealed >= 0 && (sealed & seals) == seals && ::fstat(descriptor, &found) == 0 &&
           static_cast<uint64_t>(found.st_size) == bytes && ::fstatfs(descriptor, &system) == 0 &&
           system.f_type == TMPFS_MAGIC;
}

} // namespace

std::unique_ptr<SharedMemory> SharedMemory::map(int descriptor, uint64_t bytes, int protection) {
    // charged: by the caller, if it is of another process
    void *const memory = ::mmap(nullptr, bytes, protection, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return nullptr;
    std::unique_ptr<SharedMemory> made(new (std::nothrow)
                                           SharedMemory(static_cast<char *>(memory), bytes));
    if (made == nullptr) (void)::munmap(memory, bytes);
    return made;
}

std::unique_ptr<SharedMemory> SharedMemory::make(const char *name, uint64_t bytes,
                                                 FileDescriptor &descriptor) {
    descriptor = FileDescriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!descriptor || ::ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0 ||
        ::fcntl(descriptor.get(), F_ADD_SEALS, seals) != 0)
        return nullptr;
    return map(descriptor.get(), bytes, PROT_READ | PROT_WRITE);
}

std::unique_ptr<SharedMemory> SharedMemory::open(int descriptor, uint64_t bytes, bool may_write) {
    const int protection = may_write ? PROT_READ | PROT_WRITE : PROT_READ;
    return is_sealed(descriptor, bytes) ? map(descriptor, bytes, protection) : nullptr;
}

SharedMemory::~SharedMemory() {
    (void)::munmap(address_, bytes_);
}

} // namespace ucd_ucx
