// Memory that two processes have mapped, of a size that neither can change.
#pragma once

#include "direct/local_socket.h"

#include <cstdint>
#include <memory>

namespace ucd_ucx {

class SharedMemory {
public:
    static constexpr uint64_t page = 4096;

    // Makes memory of this many bytes, which are zero and a multiple of a page. The descriptor is
    // for the other process. Null if the system refuses.
    static std::unique_ptr<SharedMemory> make(const char *name, uint64_t bytes,
                                              FileDescriptor &descriptor);
    // Maps what another process has made. Null if it does not have this size, if its size could
    // change, or if it is made of huge pages.
    static std::unique_ptr<SharedMemory> open(int descriptor, uint64_t bytes,
                                              bool may_write = true);
    ~SharedMemory();
    SharedMemory(const SharedMemory &) = delete;
    SharedMemory &operator=(const SharedMemory &) = delete;

    char *address() const { return address_; }
    uint64_t bytes() const { return bytes_; }

private:
    SharedMemory(char *address, uint64_t bytes) : address_(address), bytes_(bytes) {}
    static std::unique_ptr<SharedMemory> map(int descriptor, uint64_t bytes, int protection);

    char *const address_;
    const uint64_t bytes_;
};

} // namespace ucd_ucx
