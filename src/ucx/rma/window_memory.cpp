#include "rma/window_memory.h"

#include <fcntl.h>
#include <new>

namespace ucd_ucx::rma {
namespace {

// With the page for the turn. The system refuses what is too much.
uint64_t with_turn(uint64_t bytes) {
    constexpr uint64_t page = SharedMemory::page;
    if (bytes > INT64_MAX - 2 * page) return INT64_MAX;
    return (bytes + page - 1) / page * page + page;
}

} // namespace

WindowMemory::WindowMemory(std::unique_ptr<SharedMemory> memory, FileDescriptor descriptor)
    : memory_(std::move(memory)), descriptor_(std::move(descriptor)),
      turn_(*reinterpret_cast<std::atomic<uint64_t> *>(memory_->address() + memory_->bytes() -
                                                       SharedMemory::page)) {
    if (descriptor_) attachable_.emplace(*memory_, descriptor_.get());
}

std::unique_ptr<WindowMemory> WindowMemory::make_on(std::unique_ptr<SharedMemory> memory,
                                                    FileDescriptor descriptor) {
    if (memory == nullptr) return nullptr;
    return std::unique_ptr<WindowMemory>(
        new (std::nothrow) WindowMemory(std::move(memory), std::move(descriptor)));
}

std::unique_ptr<WindowMemory> WindowMemory::make(uint64_t bytes) {
    FileDescriptor descriptor;
    auto memory = SharedMemory::make("ucd-window", with_turn(bytes), descriptor);
    return make_on(std::move(memory), std::move(descriptor));
}

std::unique_ptr<WindowMemory> WindowMemory::open(int descriptor, uint64_t bytes) {
    return make_on(SharedMemory::open(descriptor, with_turn(bytes)), {});
}

WindowMemory::~WindowMemory() {
    if (descriptor_)
        (void)::fallocate(descriptor_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                          static_cast<off_t>(memory_->bytes()));
}

} // namespace ucd_ucx::rma
