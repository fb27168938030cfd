// Buffers in the memories of devices. The test sees a mirror: set up there, sent to the memory, and
// fetched back to be compared.
#pragma once

#include "support/buffers/image_buffer.hpp"
#include "support/oracle/byte_map.hpp"
#include "support/random/rng.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace ucdtest {

enum class Memory { pageable, pinned, managed, device0, device1 };
inline constexpr Memory all_memories[] = {Memory::pageable, Memory::pinned, Memory::managed,
                                          Memory::device0, Memory::device1};
const char *name_of(Memory memory);
bool on_device(Memory memory);
std::string hint_for(Memory memory); // the value of ucd.inbuf and ucd.outbuf
Memory random_memory(Rng &rng);

// A copy of the bytes in a memory, which has room for nothing else; null for pageable memory.
std::shared_ptr<void> copy_in(Memory memory, const std::vector<std::byte> &bytes);

class DeviceBuffer : public ImageBuffer {
public:
    DeviceBuffer(Rng &rng, TouchedRange range, Memory memory);
    ~DeviceBuffer() override;

    Memory memory() const { return kind_; }
    // What the library is told: the address of displacement 0 in the memory itself.
    void *real_base() const { return real_base_; }
    char *at(std::ptrdiff_t offset) const { return static_cast<char *>(real_base_) + offset; }

    void send();  // mirror to memory
    void fetch(); // memory to mirror

private:
    Memory kind_;
    std::vector<std::byte> mirror_;
    std::byte *real_ = nullptr;
    void *real_base_ = nullptr;
};

} // namespace ucdtest
