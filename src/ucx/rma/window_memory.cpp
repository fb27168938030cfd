#include "rma/window_memory.h"

#include <fcntl.h>
#include <new>

namespace ucd_ucx::rma {
namespace {

// With the page for the turn; 0 if that is too much.
uint64_t with_turn(uint64_t bytes) {
    constexpr uint64_t page = SharedMemory::page;
    if (bytes > INT64_MAX - 2 * page) return 0;
    return (bytes + page - 1) / page * page + page;
}

} // namespace

WindowMemory::WindowMemory(std::unique_ptr<SharedMemory> memory, FileDescriptor descriptor)
    : memory_(std::move(memory)), descriptor_(std::move(descriptor)),
      turn_(*reinterpret_cast<std::atomic<uint64_t> *>(memory_->address() + memory_->bytes() -
                                                       SharedMemory::page)) {}

std::unique_ptr<WindowMemory> WindowMemory::make(uint64_t bytes) {
    const uint64_t all = with_turn(bytes);
    if (all == 0) return nullptr;
    FileDescriptor descriptor;
    std::unique_ptr<SharedMemory> memory = SharedMemory::make("ucd-window", all, descriptor);
    if (memory == nullptr) return nullptr;
    std::unique_ptr<WindowMemory> made(new (std::nothrow)
                                           WindowMemory(std::move(memory), std::move(descriptor)));
    if (made != nullptr) made->attachable_.emplace(*made->memory_, made->descriptor());
    return made;
}

std::unique_ptr<WindowMemory> WindowMemory::open(int descriptor, uint64_t bytes) {
    const uint64_t all = with_turn(bytes);
    if (all == 0) return nullptr;
    std::unique_ptr<SharedMemory> memory = SharedMemory::open(descriptor, all);
    if (memory == nullptr) return nullptr;
    return std::unique_ptr<WindowMemory>(new (std::nothrow)
                                             WindowMemory(std::move(memory), FileDescriptor()));
}

WindowMemory::~WindowMemory() {
    if (descriptor_)
        (void)::fallocate(descriptor_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                          static_cast<off_t>(memory_->bytes()));
}

} // namespace ucd_ucx::rma
