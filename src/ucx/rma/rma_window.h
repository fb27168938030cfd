// Memory that others may write and read, and the accumulates that wait for their turn on it.
#pragma once

#include "common/content_id.h"
#include "datatype/typed_buffer.h"

#include <deque>
#include <ucd_ucx_rma.h>

namespace ucd_ucx::rma {

class Task;

// INVALID_ARG: no window has such a key.
Status read_window_key(const ucd_ucx_window_key_t &key, ContentId &name);
ucd_ucx_window_key_t window_key(const ContentId &name);

} // namespace ucd_ucx::rma

// Under the lock.
struct ucd_ucx_window {
    ucd_ucx_window(ucd_ucx_rma &owner, void *memory, uint64_t size)
        : rma(owner), base(static_cast<char *>(memory)), bytes(size) {}
    ucd_ucx::Status set(ucd_info_t from, const ucd_ucx::TransferOptions &defaults);

    // Whether displacement + [low, high) is all within it.
    bool has(int64_t displacement, int64_t low, int64_t high) const;
    char *at(int64_t displacement) const;

    // Accumulates are done one after the other.
    // False: there is no memory for its place, and it has none.
    bool enqueue(ucd_ucx::rma::Task &task);
    void leave(ucd_ucx::rma::Task &task);           // it is through, or is not to be done
    bool is_idle() const { return queue_.empty(); } // no accumulate waits or is at work

    ucd_ucx_rma &rma;
    char *const base;
    const uint64_t bytes;
    ucd_ucx::ContentId name = {};
    ucd_ucx::OwnedInfo info;          // keys of transfers
    uint64_t eager = 0;               // bytes that are read and sent as one message
    uint64_t transfer_bytes = 0;      // what a transfer of its data takes
    ucd_ucx::Hints to_read, to_write; // its memory
    ucd_ucx::OwnedInfo fetch_info;    // as to_read, to memory of the library's

private:
    void advance();
    std::deque<ucd_ucx::rma::Task *> queue_;
    bool advancing_ = false;
};
