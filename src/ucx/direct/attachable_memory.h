// Host memory of this process that other processes can map, to read it from layout to layout: what
// the library has allocated for windows.
#pragma once

#include "direct/shared_memory.h"

#include <cstdint>
#include <cstring>
#include <ucd_memory.h>

namespace ucd_ucx {

inline bool is_same(const ucd_ipc_handle_t &one, const ucd_ipc_handle_t &other) {
    return std::memcmp(one.bytes, other.bytes, sizeof one.bytes) == 0;
}

// A handle that names such memory begins with this record. The other bytes of the handle are 0.
struct AttachableName {
    static constexpr uint64_t expected_letters = 0x4d454d4844524853; // "SHRDHMEM"
    uint64_t letters = expected_letters;
    uint64_t bytes = 0;
    uint64_t id[2] = {}; // random: no two memories have the same

    // The size of the memory; 0 if the handle, which a peer may have made, names none.
    static uint64_t bytes_of(const ucd_ipc_handle_t &handle);
    ucd_ipc_handle_t handle() const;
};

// Memory of this process. As long as it exists, it can be found. Any thread may call its functions.
class AttachableMemory {
public:
    // The descriptor stays open as long as this exists.
    AttachableMemory(const SharedMemory &memory, int descriptor);
    ~AttachableMemory();
    AttachableMemory(const AttachableMemory &) = delete;
    AttachableMemory &operator=(const AttachableMemory &) = delete;

    // Finds the memory that contains a range, and the distance of the range from its beginning.
    static bool find(uint64_t address, uint64_t bytes, ucd_ipc_handle_t &handle, uint64_t &offset);
    // A descriptor of the memory for another process, opened for reading, so that no mistake
    // writes. Who has it can open it anew for writing, by /proc. Empty if the memory is gone, or if
    // the system refuses.
    static FileDescriptor open_to_read(const ucd_ipc_handle_t &handle);

private:
    const uint64_t address_;
};

} // namespace ucd_ucx
