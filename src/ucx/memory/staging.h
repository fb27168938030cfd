// Memory for packed chunks.
#pragma once

#include "common/ledger.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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
        : memory_(memory, {&staging, bytes}) {}
    char *memory() const { return memory_.get(); }
    explicit operator bool() const { return memory_ != nullptr; }
    void hold(Charge charge) { charge_ = std::move(charge); }

private:
    struct GiveBack {
        Staging *staging;
        std::size_t bytes;
        void operator()(char *memory) const;
    };
    std::unique_ptr<char, GiveBack> memory_;
    Charge charge_;
};

class Staging {
public:
    // Memory of other kinds than the host's. `allocate` returns null if there is none.
    struct Source {
        std::function<void *(std::size_t)> allocate;
        std::function<void(void *, std::size_t)> release;
    };
    Staging(Source source, uint64_t limit) : source_(std::move(source)), limit_(limit) {}
    Staging(const ucd_ucx_params_t &params, uint64_t limit);
    ~Staging();
    Staging(const Staging &) = delete;
    Staging &operator=(const Staging &) = delete;

    // Takes a block of at least `bytes`. It is empty if there is no memory, or if the limit is
    // reached and `urgent` is false.
    StagingBlock take(std::size_t bytes, bool urgent);

private:
    friend StagingBlock;
    struct Free {
        char *memory;
        std::size_t bytes;
    };
    void give_back(char *memory, std::size_t bytes);
    char *allocate(std::size_t bytes);
    void release(char *memory, std::size_t bytes);
    void release_free();

    const Source source_;
    const uint64_t limit_;
    uint64_t allocated_ = 0; // in bytes
    std::size_t blocks_ = 0;
    std::vector<Free> free_; // capacity for all blocks, so that giving back never allocates
};

} // namespace ucd_ucx
