#include "mpi/placed.hpp"

#include "mpi/processes.hpp"

#include <ucd_memory.h>

#include <cstdlib>
#include <utility>

namespace ucdtest {
namespace {

const char *device() {
    static const char *const name = [] {
        const char *wanted = std::getenv("UCD_TEST_DEVICE");
        CHECK(ucd_init(UCD_INFO__NULL) == UCD_SUCCESS);
        return wanted;
    }();
    return name;
}

void move_bytes(void *to, const void *from, std::size_t bytes) {
    std::uintptr_t moved = 0;
    CHECK(ucd_pack(from, bytes, UCD_TYPE__BYTE, 0, to, bytes, &moved, UCD_INFO__NULL,
                   UCD_OP__REPLACE) == UCD_SUCCESS);
    CHECK(moved == bytes);
}

} // namespace

bool has_device() {
    return device() != nullptr;
}

Placed::Placed(void *host, std::size_t bytes, bool on_device, const char *other_device)
    : host_(static_cast<std::byte *>(host)), bytes_(bytes) {
    if (!on_device || !has_device() || bytes == 0) return;
    void *memory = nullptr;
    const char *const name = other_device != nullptr ? other_device : device();
    CHECK(ucd_memory_alloc(name, UCD_MEMORY__DEVICE, bytes, &memory) == UCD_SUCCESS);
    device_ = static_cast<std::byte *>(memory);
    store();
}

Placed::Placed(Placed &&other) noexcept
    : host_(other.host_), device_(std::exchange(other.device_, nullptr)), bytes_(other.bytes_) {}

Placed::~Placed() {
    (void)ucd_memory_free(device_);
}

void Placed::store() const {
    if (device_ != nullptr) move_bytes(device_, host_, bytes_);
}

void Placed::fetch() const {
    if (device_ != nullptr) move_bytes(host_, device_, bytes_);
}

} // namespace ucdtest
