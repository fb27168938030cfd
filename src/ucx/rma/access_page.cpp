#include "rma/access_page.h"

#include <new>

namespace ucd_ucx::rma {

std::unique_ptr<AccessPage> AccessPage::make(FileDescriptor &descriptor) {
    std::unique_ptr<SharedMemory> memory = SharedMemory::make("ucd-windows", bytes, descriptor);
    if (memory == nullptr) return nullptr;
    return std::unique_ptr<AccessPage>(new (std::nothrow) AccessPage(std::move(memory)));
}

std::unique_ptr<AccessPage> AccessPage::open(int descriptor) {
    std::unique_ptr<SharedMemory> memory = SharedMemory::open(descriptor, bytes);
    if (memory == nullptr) return nullptr;
    return std::unique_ptr<AccessPage>(new (std::nothrow) AccessPage(std::move(memory)));
}

} // namespace ucd_ucx::rma
