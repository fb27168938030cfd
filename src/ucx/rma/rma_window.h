// Memory that other processes may write and read, and the queue of accumulates on it.
#pragma once

#include "common/linked_list.h"
#include "common/tokens.h"
#include "datatype/typed_buffer.h"
#include "rma/window_memory.h"

#include <memory>
#include <ucd_ucx_rma.h>

namespace ucd_ucx::rma {

class OneSided;
class Task;
struct InTurn;   // the queue of a window's accumulates
struct OfWindow; // the list of all tasks of a window

// INVALID_ARG if this cannot be a window's key.
Status read_window_key(const ucd_ucx_window_key_t &key, ContentId &name);
ucd_ucx_window_key_t window_key(const ContentId &name);

// The address may be far from the buffer, so it is computed as an integer.
inline char *address_at(const void *buffer, int64_t displacement) {
    return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(buffer) +
                                    static_cast<uintptr_t>(displacement));
}

// Whether all of displacement + [low, high) is within [0, bytes).
bool is_within(int64_t displacement, int64_t low, int64_t high, uint64_t bytes);

} // namespace ucd_ucx::rma

// The caller holds the lock.
struct ucd_ucx_window : ucd_ucx::Linked<ucd_ucx_window> {
    // `mapped`: `memory` is in it, and origins may map it.
    ucd_ucx_window(ucd_ucx::rma::OneSided &owner, void *memory, uint64_t size,
                   std::unique_ptr<ucd_ucx::rma::WindowMemory> mapped = nullptr)
        : rma(owner), shared(std::move(mapped)), base(static_cast<char *>(memory)), bytes(size) {}
    ucd_ucx::Status set(ucd_info_t from, const ucd_ucx::TransferOptions &defaults);

    // The address may be outside of the window; the type's displacements then lead back into it.
    char *at(int64_t displacement) const { return ucd_ucx::rma::address_at(base, displacement); }

    // Accumulates are done one after the other. The task may have ended when this returns.
    void enqueue(ucd_ucx::rma::Task &task);
    bool is_idle() const { return queue_.empty(); } // no accumulate waits or is in progress

    // Whether this process may accumulate now; if so, until `end_turn`.
    bool take_turn();
    void end_turn();
    // Continues with the first accumulates of the queue, as long as their peers may cause work.
    void advance();
    // The user has destroyed the window: its memory is not used any more. It exists until its
    // tasks have been refused.
    void be_gone();
    bool is_gone() const { return is_gone_; }

    ucd_ucx::rma::OneSided &rma;
    std::unique_ptr<ucd_ucx::rma::WindowMemory> shared; // null: the user's
    char *const base;
    const uint64_t bytes;
    ucd_ucx::ContentId name = {};
    ucd_ucx::OwnedInfo info;     // keys for transfers
    uint64_t eager = 0;          // the limit in bytes for reading and sending as one message
    uint64_t transfer_bytes = 0; // the memory that a transfer of window data takes
    ucd_ucx::BufferHints to_read, to_write; // hints for the window's memory
    ucd_ucx::LinkedList<ucd_ucx::rma::Task, ucd_ucx::rma::OfWindow> tasks;
    std::size_t at_work = 0; // of these, those that use the window's memory

private:
    ucd_ucx::LinkedList<ucd_ucx::rma::Task, ucd_ucx::rma::InTurn> queue_;
    bool advancing_ = false, has_turn_ = false, is_gone_ = false;
};
