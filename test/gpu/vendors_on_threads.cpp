// Two backends whose devices are the same threads of the CPU: the host vendor's, and HIP's over it.
#include "vendor.hpp"

#include "support/fake_device/fake_driver.h"

#include <stdexcept>

namespace {

template <ucd::MemoryKind kind>
void *allocate(std::size_t bytes) {
    void *memory = mock::allocate(kind, 0, bytes);
    if (memory == nullptr) throw std::runtime_error("no memory");
    return memory;
}

constexpr ucdtest::Vendor vendor_named(const char *name) {
    return {
        .name = name,
        .allocate_device = allocate<ucd::MemoryKind::device>,
        .allocate_pinned = allocate<ucd::MemoryKind::pinned>,
        .free_device = mock::release,
        .free_pinned = mock::release,
        .write = mock::write,
        .read = mock::read,
        .create_stream = []() -> void * { return new mock::Stream(0); },
        .synchronise = [](void *stream) { static_cast<mock::Stream *>(stream)->synchronise(); },
        .destroy_stream = [](void *stream) { delete static_cast<mock::Stream *>(stream); },
    };
}

} // namespace

#define VENDOR(name)                                                                               \
    namespace ucdtest::name {                                                                      \
    extern const Vendor vendor;                                                                    \
    const Vendor vendor = vendor_named(#name);                                                     \
    }
UCD_TEST_VENDORS
#undef VENDOR
