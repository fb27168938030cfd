// What peers make this process keep and do, and the limits on it. Whatever exists because a peer
// asked for it holds a charge on that peer's account, which is taken before the thing exists.
#pragma once

#include "common/worker_lock.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <ucp/api/ucp.h>
#include <unordered_map>
#include <utility>

namespace ucd_ucx {

class Ledger;

// The use of a charge decides how much of a peer's budget is available to it. An operation takes
// its charges in this order, and while it waits for a charge it holds none of a later use.
// Operations therefore wait only for operations that are further on, and there is no deadlock.
enum class LedgerUse : uint8_t {
    // Messages that have arrived and cannot be refused, and answers without data. They may use all
    // of the budget. A peer that exceeds its budget here has to be barred. The common budget of all
    // peers is not checked here; if it is exceeded, the peers that hold the most have to be barred.
    message,
    request, // operations that wait
    type,
    move,  // transfers, and the previous content of windows
    chunk, // chunks of transfers, and answers with data
};
inline constexpr std::size_t uses = 5;

// Bytes on an account. The destructor gives them back. The ledger has to outlive its charges.
class Charge {
public:
    Charge() = default;
    Charge(Charge &&other) noexcept { take_over(other); }
    Charge &operator=(Charge &&other) noexcept {
        if (account_ != nullptr && &other != this) give_back();
        if (&other != this) take_over(other);
        return *this;
    }
    ~Charge() {
        if (account_ != nullptr) give_back();
    }

    // False for a charge that was refused, given back or never taken.
    explicit operator bool() const { return account_ != nullptr; }
    uint64_t bytes() const { return bytes_; }
    void give_back();
    // Keeps this many bytes and gives back the others.
    void shrink_to(uint64_t bytes);
    // Moves this many bytes, or all if there are fewer, here from another charge on the same
    // account for the same use.
    void take_from(Charge &other, uint64_t bytes);

private:
    friend class Ledger;
    // Deleted when it has no charges and its endpoint is closed.
    struct Account {
        uint64_t bytes = 0, charges = 0;
        uint64_t for_use[uses] = {}; // the bytes by use
        bool is_open = true;
        bool exceeded = false, barred = false;
        uint64_t call = 0; // the call of progress that `steps` belongs to
        int64_t steps = 0;
    };
    Charge(Ledger &ledger, Account &account, LedgerUse use, uint64_t bytes)
        : ledger_(&ledger), account_(&account), use_(use), bytes_(bytes) {}
    void take_over(Charge &other) {
        ledger_ = other.ledger_;
        account_ = std::exchange(other.account_, nullptr);
        bytes_ = std::exchange(other.bytes_, 0);
        use_ = other.use_;
    }
    Ledger *ledger_ = nullptr;
    Account *account_ = nullptr;
    LedgerUse use_ = LedgerUse::message;
    uint64_t bytes_ = 0;
};

// Can be used while any other lock is held: no other lock is taken under its own.
class Ledger {
public:
    struct Limits { // bytes
        uint64_t peer = 256 << 20;
        uint64_t peers = 1 << 30;
        uint64_t remembered = 16 << 20; // for all peers together, in addition to the above
    };
    // A step is about the work of moving a segment of up to 32 bytes. This is the number of steps
    // that a peer may cause in one call of progress, which is about a millisecond. If work that
    // cannot be divided exceeds it, the peer is served again only after later calls have made up
    // for the excess.
    static constexpr int64_t steps_of_call = 1 << 17;

    explicit Ledger(const Limits &limits) : limits_(limits) {}
    ~Ledger();
    Ledger(const Ledger &) = delete;
    Ledger &operator=(const Ledger &) = delete;
    // Call this before the ledger is used.
    void be_shared_by_threads(bool shared) { lock_.be_needed(shared); }

    // Returns an empty charge if it is refused or `peer` is null. Throws std::bad_alloc if this is
    // the peer's first charge and its account cannot be allocated.
    Charge take(ucp_ep_h peer, uint64_t bytes, LedgerUse use);
    // A charge on no peer's account: for types that are remembered for all peers.
    Charge take_remembered(uint64_t bytes);
    bool is_remembered(const Charge &charge) const { return charge.account_ == &remembered_; }
    // The bytes of a peer's budget that are available to this use. Chunks have an eighth of the
    // budget, but at least 8 MiB if that is at most half of it. An eighth of the rest is reserved
    // for messages.
    static constexpr uint64_t limit_of(LedgerUse use, uint64_t peer) {
        constexpr uint64_t for_chunks = 8 << 20;
        const uint64_t chunk = std::max(peer / 8, std::min(peer / 2, for_chunks));
        switch (use) {
        case LedgerUse::request:
        case LedgerUse::type: return (peer - chunk) / 4;
        case LedgerUse::move: return (peer - chunk) / 8 * 3;
        case LedgerUse::chunk: return chunk;
        case LedgerUse::message: break;
        }
        return peer;
    }
    // Whether the limits allow a charge of this size at all.
    bool is_possible(uint64_t bytes, LedgerUse use) const {
        return bytes <= limit_of(use, limits_.peer);
    }
    uint64_t remembered_limit() const { return limits_.remembered; }

    // To be called when the peer's endpoint is closed. What is still charged to it counts only for
    // the common budget, and a later endpoint at the same address gets a new account.
    void close(ucp_ep_h peer);

    // Bars one of the peers that have to be barred and returns it; null if there is none.
    ucp_ep_h bar_next();
    bool has_to_bar() const { return exceeded_.load(std::memory_order_relaxed); }
    bool is_barred(ucp_ep_h peer) const;
    // The number of peers barred so far.
    uint64_t barred() const { return barred_.load(std::memory_order_relaxed); }

    // Starts a new call of progress, in which peers may cause work again.
    void begin_call() {
        // performance only: of two threads' calls, one may be missed
        call_.store(call_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    bool may_work(ucp_ep_h peer);
    void note_work(ucp_ep_h peer, uint64_t steps);

    uint64_t bytes() const; // the sum of all charges
    uint64_t bytes_of(ucp_ep_h peer) const;

private:
    friend class Charge;
    using Account = Charge::Account;
    // These need the lock:
    Account *find(ucp_ep_h peer) const;
    Charge hold(Account &account, LedgerUse use, uint64_t bytes);

    void release(Account &account, LedgerUse use, uint64_t bytes, bool ends);

    const Limits limits_;
    mutable WorkerLock lock_;
    std::unordered_map<ucp_ep_h, Account *> accounts_;
    mutable ucp_ep_h last_peer_ = nullptr;
    mutable Account *last_account_ = nullptr; // the account of last_peer_
    Account remembered_;
    uint64_t bytes_ = 0;                 // the sum of all charges
    uint64_t closed_ = 0;                // of these, those whose endpoints are closed
    std::atomic<bool> exceeded_ = false; // some peer has to be barred
    std::atomic<uint64_t> barred_ = 0, call_ = 0;
};

// The steps for all bytes of a layout.
inline uint64_t steps_of(uint64_t bytes, uint64_t segments) {
    constexpr uint64_t most = uint64_t{1} << 60;
    return 1 + bytes / 32 + std::min(segments, most);
}
// The steps for `bytes` bytes of a layout that has `segments` segments in `all` bytes.
inline uint64_t steps_of(uint64_t bytes, uint64_t segments, uint64_t all) {
    constexpr double most = 1e18; // fits uint64_t
    const double for_one =
        all == 0 ? 0 : static_cast<double>(segments) / static_cast<double>(all) + 1.0 / 32;
    const double steps = static_cast<double>(bytes) * for_one;
    return 1 + static_cast<uint64_t>(steps < most ? steps : most);
}

// For work of `bytes` bytes and `steps` steps: the number of bytes to move, in whole granules,
// before checking again whether the peer may cause more work.
inline uint64_t piece_of(uint64_t bytes, uint64_t steps, uint64_t granule) {
    constexpr uint64_t steps_of_piece = Ledger::steps_of_call / 4;
    if (steps <= steps_of_piece) return bytes;
    const double part = static_cast<double>(steps_of_piece) / static_cast<double>(steps);
    const auto piece = static_cast<uint64_t>(static_cast<double>(bytes) * part);
    return piece < granule ? (granule < bytes ? granule : bytes) : piece - piece % granule;
}

} // namespace ucd_ucx
