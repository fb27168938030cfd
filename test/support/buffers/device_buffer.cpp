#include "support/buffers/device_buffer.hpp"

#include "support/fake_device/fake_driver.h"

#include <cstdint>
#include <stdexcept>

namespace ucdtest {

const char *name_of(Memory memory) {
    constexpr const char *names[] = {"pageable", "pinned", "managed", "device 0", "device 1"};
    return names[static_cast<int>(memory)];
}

bool on_device(Memory memory) {
    return memory == Memory::device0 || memory == Memory::device1;
}

std::string hint_for(Memory memory) {
    std::string hint;
    switch (memory) {
    case Memory::pageable: return "host";
    case Memory::pinned: return "pinned";
    case Memory::managed: return "managed";
    case Memory::device0: return hint.append(mock::backend.name).append(":0");
    case Memory::device1: break;
    }
    hint.append(mock::backend.name).append(":");
    return hint.append(std::to_string(mock::backend.second_device));
}

Memory random_memory(Rng &rng) {
    return all_memories[rng.below(std::size(all_memories))];
}

namespace {

constexpr std::size_t guard_bytes = 96;

std::byte *allocate(Memory memory, std::size_t bytes) {
    void *address = nullptr;
    switch (memory) {
    case Memory::pageable: return new std::byte[bytes];
    case Memory::pinned: address = mock::allocate(ucd::MemoryKind::pinned, 0, bytes); break;
    case Memory::managed: address = mock::allocate(ucd::MemoryKind::managed, 0, bytes); break;
    case Memory::device0: address = mock::allocate(ucd::MemoryKind::device, 0, bytes); break;
    case Memory::device1: address = mock::allocate(ucd::MemoryKind::device, 1, bytes); break;
    }
    if (address == nullptr) throw std::runtime_error("no memory for a mock buffer");
    return static_cast<std::byte *>(address);
}

} // namespace

std::shared_ptr<void> copy_in(Memory memory, const std::vector<std::byte> &bytes) {
    if (memory == Memory::pageable) return nullptr;
    std::byte *const copy = allocate(memory, bytes.size());
    mock::write(copy, bytes.data(), bytes.size());
    return std::shared_ptr<void>(copy, [](void *p) { mock::release(p); });
}

DeviceBuffer::DeviceBuffer(Rng &rng, TouchedRange range, Memory memory) : kind_(memory) {
    const std::size_t bytes = range.length() + 2 * guard_bytes;
    std::size_t before = guard_bytes - rng.below(64); // any alignment
    mirror_.resize(bytes);
    real_ = allocate(memory, bytes);
    const auto base_in = [&](const std::byte *start) {
        return reinterpret_cast<std::uintptr_t>(start) + before -
               static_cast<std::uintptr_t>(range.low);
    };
    // Half of them as aligned as types can ask for: displacement 0, that is.
    if (rng.chance(50)) before -= base_in(real_) % 16;
    real_base_ = reinterpret_cast<void *>(base_in(real_));
    set_region(mirror_.data(), bytes, base_in(mirror_.data()));
    add_accessible(mirror_.data(), bytes);
    randomise(rng);
}

DeviceBuffer::~DeviceBuffer() {
    if (kind_ == Memory::pageable)
        delete[] real_;
    else
        mock::release(real_);
}

void DeviceBuffer::send() {
    mock::write(real_, mirror_.data(), mirror_.size());
}

void DeviceBuffer::fetch() {
    mock::read(mirror_.data(), real_, mirror_.size());
}

} // namespace ucdtest
