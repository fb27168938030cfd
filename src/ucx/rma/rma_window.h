// Memory that other processes may write and read, and the queue of accumulates on it.
#pragma once

#include "common/content_id.h"
#include "datatype/typed_buffer.h"
#include "rma/window_memory.h"

#include <deque>
#include <memory>
#include <ucd_ucx_rma.h>

namespace ucd_ucx::rma {

class OneSided;
class Task;

// INVALID_ARG if this cannot be a window's key.
Status read_window_key(const ucd_ucx_window_key_t &key, ContentId &name);
ucd_ucx_window_key_t window_key(const ContentId &name);

// Whether all of displacement + [low, high) is within [0, bytes).
bool is_within(int64_t displacement, int64_t low, int64_t high, uint64_t bytes);

} // namespace ucd_ucx::rma

// The caller holds the lock.
struct ucd_ucx_window {
    ucd_ucx_window(ucd_ucx::rma::OneSided &owner, void *memory, uint64_t size)
        : rma(owner), base(static_cast<char *>(memory)), bytes(size) {}
    // On memory that origins may map; null if `size` is 0.
    ucd_ucx_window(ucd_ucx::rma::OneSided &owner,
                   std::unique_ptr<ucd_ucx::rma::WindowMemory> mapped, uint64_t size)
        : rma(owner), shared(std::move(mapped)), base(shared == nullptr ? nullptr : shared->base()),
          bytes(size) {}
    ucd_ucx::Status set(ucd_info_t from, const ucd_ucx::TransferOptions &defaults);

    // Whether all of displacement + [low, high) is in the window.
    bool has(int64_t displacement, int64_t low, int64_t high) const {
        return ucd_ucx::rma::is_within(displacement, low, high, bytes);
    }
    char *at(int64_t displacement) const;

    // Accumulates are done one after the other. Returns false if there is no memory to queue the
    // task; the task is then not in the queue.
    bool enqueue(ucd_ucx::rma::Task &task);
    void leave(ucd_ucx::rma::Task &task);           // the task is done, or was refused
    bool is_idle() const { return queue_.empty(); } // no accumulate waits or is in progress

    // Whether this process may accumulate now; if so, until `end_turn`.
    bool take_turn();
    void end_turn();
    // Continues with what waits for the turn.
    void advance();

    ucd_ucx::rma::OneSided &rma;
    const std::unique_ptr<ucd_ucx::rma::WindowMemory> shared; // null: the user's
    char *const base;
    const uint64_t bytes;
    ucd_ucx::ContentId name = {};
    ucd_ucx::OwnedInfo info;          // keys for transfers
    uint64_t eager = 0;               // the limit in bytes for reading and sending as one message
    uint64_t transfer_bytes = 0;      // the memory that a transfer of window data takes
    ucd_ucx::Hints to_read, to_write; // hints for the window's memory
    ucd_ucx::OwnedInfo fetch_info;    // like to_read, but with packed data in the library's memory

private:
    std::deque<ucd_ucx::rma::Task *> queue_;
    bool advancing_ = false, has_turn_ = false;
};
