#include "rma/access_page.h"

#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ucd_ucx::rma {
namespace {

// Whoever has the descriptor could otherwise take the memory away, and end the other process.
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

} // namespace

std::unique_ptr<AccessPage> AccessPage::map(int descriptor) {
    void *const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return nullptr;
    std::unique_ptr<AccessPage> made(new (std::nothrow) AccessPage(memory));
    if (made == nullptr) (void)::munmap(memory, bytes);
    return made;
}

std::unique_ptr<AccessPage> AccessPage::make(Descriptor &descriptor) {
    descriptor = Descriptor(::memfd_create("ucd-windows", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!descriptor || ::ftruncate(descriptor.get(), bytes) != 0 ||
        ::fcntl(descriptor.get(), F_ADD_SEALS, seals) != 0)
        return nullptr;
    return map(descriptor.get());
}

std::unique_ptr<AccessPage> AccessPage::open(int descriptor) {
    struct stat found = {};
    const int sealed = ::fcntl(descriptor, F_GET_SEALS);
    if (sealed < 0 || (sealed & seals) != seals || ::fstat(descriptor, &found) != 0 ||
        found.st_size != bytes)
        return nullptr;
    return map(descriptor);
}

AccessPage::~AccessPage() {
    (void)::munmap(&shared_, bytes);
}

} // namespace ucd_ucx::rma
