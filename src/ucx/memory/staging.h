// Memory for packed chunks.
#pragma once

#include "common/ledger.h"

#include <cstddef>
#include <cstdint>
#include <ucd_ucx.h>
#include <utility>
#include <vector>

namespace ucd_ucx {

class Staging;

// A block of staging memory, which the destructor gives back, and the charge for it if a peer asked
// for it.
class StagingBlock {
public:
    StagingBlock() = default;
    StagingBlock(Staging &staging, char *memory, std::size_t bytes)
        : staging_(&staging), memory_(memory), bytes_(bytes) {}
    StagingBlock(StagingBlock &&other) noexcept { swap(other); }
    StagingBlock &operator=(StagingBlock &&other) noexcept {
        StagingBlock(static_cast<StagingBlock &&>(other)).swap(*this);
        return *this;
    }
    ~StagingBlock();
    char *memory() const { return memory_; }
    explicit operator bool() const { return memory_ != nullptr; }
    void hold(Charge charge) { charge_ = std::move(charge); }

private:
    void swap(StagingBlock &other) noexcept;
    Staging *staging_ = nullptr;
    char *memory_ = nullptr;
    std::size_t bytes_ = 0;
    Charge charge_;
};

class Staging {
public:
    Staging(const ucd_ucx_params_t &params, uint64_t limit)
        : params_(params), limit_(limit) {}
    ~Staging();
    Staging(const Staging &) = delete;
    Staging &operator=(const Staging &) = delete;

    // Takes a block of at least `bytes`. It is empty if there is no memory, or if the limit is
    // reached and `urgent` is false.
    StagingBlock take(std::size_t bytes, bool urgent);

private:
    friend class StagingBlock;
    struct Free {
        char *memory;
        std::size_t bytes;
    };
    void give_back(char *memory, std::size_t bytes);
    char *allocate(std::size_t bytes);
    void release(char *memory, std::size_t bytes);
    void release_free();

    const ucd_ucx_params_t params_;
    const uint64_t limit_;
    uint64_t allocated_ = 0; // in bytes
    std::size_t blocks_ = 0;
    std::vector<Free> free_; // capacity for all blocks, so that giving back never allocates
};

} // namespace ucd_ucx
