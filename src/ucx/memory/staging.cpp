#include "memory/staging.h"

#include "common/failure.h"

#include <cstdlib>
#include <utility>

namespace ucd_ucx {

void StagingBlock::GiveBack::operator()(char *memory) const {
    staging->give_back(memory, bytes);
}

// At a page: the kernel copies between processes several times slower to an address that is less
// than 64 bytes after the source's, modulo pages. Where malloc maps blocks, they are 16 bytes after
// a page, and users' data often begins at one.
static void *allocate_pages(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    // bounded: in Staging::take, by its limit and one chunk for each transfer
    return bytes < page ? std::malloc(bytes)
                        : std::aligned_alloc(page, (bytes + page - 1) / page * page);
}

static Staging::Source source_of(const ucd_ucx_params_t &params) {
    if (params.allocate == nullptr)
        return {allocate_pages, [](void *memory, std::size_t) { std::free(memory); }};
    return {
        [=](std::size_t bytes) { return params.allocate(bytes, params.memory_arg); },
        [=](void *memory, std::size_t bytes) { params.release(memory, bytes, params.memory_arg); }};
}

Staging::Staging(const ucd_ucx_params_t &params, uint64_t limit)
    : Staging(source_of(params), limit) {}

Staging::~Staging() {
    release_free();
}

StagingBlock Staging::take(std::size_t bytes, bool urgent) {
    for (Free &f : free_) {
        if (f.bytes < bytes || f.bytes / 2 > bytes) continue;
        const Free found = f;
        f = free_.back();
        free_.pop_back();
        return {*this, found.memory, found.bytes};
    }
    // Free blocks of other sizes must not make this allocation fail.
    if (allocated_ + bytes > limit_) release_free();
    if (allocated_ + bytes > limit_ && !urgent) return {};
    const Status reserved = without_exceptions([&] {
        // bounded: by the blocks that exist
        free_.reserve(blocks_ + 1);
        return success;
    });
    if (!reserved.ok()) return {};
    char *memory = allocate(bytes);
    if (memory == nullptr && !free_.empty()) {
        release_free();
        memory = allocate(bytes);
    }
    return memory == nullptr ? StagingBlock() : StagingBlock(*this, memory, bytes);
}

void Staging::give_back(char *memory, std::size_t bytes) {
    if (allocated_ <= limit_)
        free_.push_back({memory, bytes});
    else
        release(memory, bytes);
}

char *Staging::allocate(std::size_t bytes) {
    void *memory = source_.allocate(bytes);
    if (memory != nullptr) {
        allocated_ += bytes;
        ++blocks_;
    }
    return static_cast<char *>(memory);
}

void Staging::release(char *memory, std::size_t bytes) {
    allocated_ -= bytes;
    --blocks_;
    source_.release(memory, bytes);
}

void Staging::release_free() {
    for (const Free &f : free_) release(f.memory, f.bytes);
    free_.clear();
}

} // namespace ucd_ucx
