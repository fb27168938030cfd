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

// What a charge is for decides how much of a peer's budget it may use. An operation takes its
// charges in this order, and holds none of a later use while it waits for one of an earlier use. So
// whoever waits waits for operations that are further on, and each gets its turn.
enum class Use : uint8_t {
    // What has arrived and cannot be refused, and answers without data: all of the budget. A peer
    // for whom this is refused has to be barred. The budget of all peers does not count here; if it
    // is exceeded, those who keep most have to be barred.
    message,
    request, // an operation that waits
    type,
    move,  // transfers, and what a window had before
    chunk, // of a transfer; and answers with data
};
inline constexpr std::size_t uses = 5;

// Bytes on an account. They are given back at the end. The ledger has to outlive its charges.
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

    // False: it was refused, was given back, or never was any.
    explicit operator bool() const { return account_ != nullptr; }
    uint64_t bytes() const { return bytes_; }
    inline void give_back();
    // Gives back all but so many bytes.
    void shrink_to(uint64_t bytes);
    // Takes so many bytes, or all that there are, of another charge on the same account for the
    // same use.
    void take_from(Charge &other, uint64_t bytes);

private:
    friend class Ledger;
    // Deleted when no charge is on it and no endpoint has it.
    struct Account {
        uint64_t bytes = 0, charges = 0;
        uint64_t for_use[uses] = {}; // of the bytes
        bool is_open = true;
        bool exceeded = false, barred = false;
        uint64_t call = 0; // of progress, for which `steps` are
        int64_t steps = 0;
    };
    Charge(Ledger &ledger, Account &account, Use use, uint64_t bytes)
        : ledger_(&ledger), account_(&account), use_(use), bytes_(bytes) {}
    void take_over(Charge &other) {
        ledger_ = other.ledger_;
        account_ = std::exchange(other.account_, nullptr);
        bytes_ = std::exchange(other.bytes_, 0);
        use_ = other.use_;
    }
    Ledger *ledger_ = nullptr;
    Account *account_ = nullptr;
    Use use_ = Use::message;
    uint64_t bytes_ = 0;
};

// May be used under any lock: no other lock is taken under its own.
class Ledger {
public:
    struct Limits { // bytes
        uint64_t peer = 256 << 20;
        uint64_t peers = 1 << 30;
        uint64_t remembered = 16 << 20; // for all peers, beside those
    };
    // A step is about what it takes to move a segment of up to 32 bytes. So many a peer may cause
    // in one call of progress; about a millisecond. Who has caused more, by something that cannot
    // be divided, is served again when later calls have made up for it.
    static constexpr int64_t steps_of_call = 1 << 17;

    explicit Ledger(const Limits &limits);
    ~Ledger();
    Ledger(const Ledger &) = delete;
    Ledger &operator=(const Ledger &) = delete;
    // Before anyone uses it.
    void be_shared_by_threads(bool shared) { lock_.be_needed(shared); }

    // Empty if it is refused, or if there is no peer. Throws std::bad_alloc if this is the peer's
    // first charge and there is no memory for an account.
    inline Charge take(ucp_ep_h peer, uint64_t bytes, Use use);
    // On nobody's account: for what is remembered for whoever comes.
    Charge take_remembered(uint64_t bytes);
    // Bytes of a peer for that use. Chunks have an eighth of the budget, and at least 8 MiB if that
    // is at most half of it. Of the rest, an eighth is for messages alone.
    static constexpr uint64_t limit_of(Use use, uint64_t peer) {
        constexpr uint64_t for_chunks = 8 << 20;
        const uint64_t chunk = std::max(peer / 8, std::min(peer / 2, for_chunks));
        switch (use) {
        case Use::request:
        case Use::type: return (peer - chunk) / 4;
        case Use::move: return (peer - chunk) / 8 * 3;
        case Use::chunk: return chunk;
        case Use::message: break;
        }
        return peer;
    }
    // Whether so many bytes can ever be had.
    bool is_possible(uint64_t bytes, Use use) const {
        return bytes <= for_use_[static_cast<std::size_t>(use)];
    }
    uint64_t remembered_limit() const { return limits_.remembered; }

    // The peer's endpoint is gone. What is still charged to it counts for all peers only, and a
    // later endpoint at the same address has an account of its own.
    void close(ucp_ep_h peer);

    // The next peer that has to be barred, which it is from then on; null: there is none.
    ucp_ep_h bar_next() { return has_to_bar() ? bar_one() : nullptr; }
    bool has_to_bar() const { return exceeded_.load(std::memory_order_relaxed); }
    bool is_barred(ucp_ep_h peer) const { return barred() > 0 && finds_barred(peer); }
    // How often one was.
    uint64_t barred() const { return barred_.load(std::memory_order_relaxed); }

    // What peers may cause in a call of progress begins anew.
    void begin_call() {
        // performance only: of two threads' calls, one may be missed
        call_.store(call_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    inline bool may_work(ucp_ep_h peer);
    inline void note_work(ucp_ep_h peer, uint64_t steps);

    uint64_t bytes() const; // of all charges
    uint64_t bytes_of(ucp_ep_h peer) const;

private:
    friend class Charge;
    using Account = Charge::Account;
    // With the lock:
    Account *find(ucp_ep_h peer) const {
        return last_account_ != nullptr && last_peer_ == peer ? last_account_ : look_up(peer);
    }
    Account *look_up(ucp_ep_h peer) const;
    Account &open(ucp_ep_h peer);
    inline bool fits(const Account &account, uint64_t bytes, Use use) const;
    inline bool fits_all(uint64_t bytes) const;
    inline Charge hold(Account &account, Use use, uint64_t bytes);
    inline void drop(Account &account, Use use, uint64_t bytes, bool ends);
    // Without:
    inline Account *at_hand(ucp_ep_h peer) const;
    inline void release(Account &account, Use use, uint64_t bytes, bool ends);
    void release_with_lock(Account &account, Use use, uint64_t bytes, bool ends);
    Charge take_with_lock(ucp_ep_h peer, uint64_t bytes, Use use);
    bool may_work_with_lock(ucp_ep_h peer);
    void note_work_with_lock(ucp_ep_h peer, uint64_t steps);
    ucp_ep_h bar_one();
    bool finds_barred(ucp_ep_h peer) const;

    const Limits limits_;
    const uint64_t for_use_[uses]; // of the limit of a peer
    mutable WorkerLock lock_;
    std::unordered_map<ucp_ep_h, Account *> accounts_;
    mutable ucp_ep_h last_peer_ = nullptr;
    mutable Account *last_account_ = nullptr; // of last_peer_
    Account remembered_;
    uint64_t bytes_ = 0;                 // of all charges
    std::atomic<bool> exceeded_ = false; // a peer has to be barred
    std::atomic<uint64_t> barred_ = 0, call_ = 0;
};

inline void Charge::give_back() {
    if (account_ == nullptr) return;
    ledger_->release(*std::exchange(account_, nullptr), use_, std::exchange(bytes_, 0), true);
}

inline bool Ledger::fits(const Account &account, uint64_t bytes, Use use) const {
    const uint64_t for_use = account.for_use[static_cast<std::size_t>(use)];
    return !account.barred && bytes <= limits_.peer - account.bytes &&
           bytes <= for_use_[static_cast<std::size_t>(use)] - for_use;
}

inline bool Ledger::fits_all(uint64_t bytes) const {
    const uint64_t of_peers = bytes_ - remembered_.bytes;
    return of_peers <= limits_.peers && bytes <= limits_.peers - of_peers;
}

inline Charge Ledger::hold(Account &account, Use use, uint64_t bytes) {
    account.bytes += bytes;
    account.for_use[static_cast<std::size_t>(use)] += bytes;
    ++account.charges;
    bytes_ += bytes;
    return {*this, account, use, bytes};
}

inline void Ledger::drop(Account &account, Use use, uint64_t bytes, bool ends) {
    account.bytes -= bytes;
    account.for_use[static_cast<std::size_t>(use)] -= bytes;
    account.charges -= ends ? 1 : 0;
    bytes_ -= bytes;
    if (!account.is_open && account.charges == 0) [[unlikely]]
        delete &account;
}

inline void Ledger::release(Account &account, Use use, uint64_t bytes, bool ends) {
    if (!lock_.is_needed()) [[likely]]
        return drop(account, use, bytes, ends);
    release_with_lock(account, use, bytes, ends);
}

// Null: the other way, which looks for it with the lock.
inline Ledger::Account *Ledger::at_hand(ucp_ep_h peer) const {
    return !lock_.is_needed() && last_peer_ == peer ? last_account_ : nullptr;
}

inline Charge Ledger::take(ucp_ep_h peer, uint64_t bytes, Use use) {
    Account *account = at_hand(peer);
    if (account != nullptr && fits(*account, bytes, use) && fits_all(bytes)) [[likely]]
        return hold(*account, use, bytes);
    return take_with_lock(peer, bytes, use);
}

inline bool Ledger::may_work(ucp_ep_h peer) {
    const Account *account = at_hand(peer);
    if (account != nullptr && account->call == call_.load(std::memory_order_relaxed)) [[likely]]
        return account->steps > 0;
    return may_work_with_lock(peer);
}

inline void Ledger::note_work(ucp_ep_h peer, uint64_t steps) {
    Account *account = at_hand(peer);
    if (account != nullptr && steps <= static_cast<uint64_t>(steps_of_call)) [[likely]]
        account->steps -= static_cast<int64_t>(steps);
    else
        note_work_with_lock(peer, steps);
}

// Steps for all the bytes of a layout.
inline uint64_t steps_of(uint64_t bytes, uint64_t segments) {
    constexpr uint64_t most = uint64_t{1} << 60;
    return 1 + bytes / 32 + std::min(segments, most);
}
// Steps for so many bytes of a layout that has `segments` segments in `all` bytes.
inline uint64_t steps_of(uint64_t bytes, uint64_t segments, uint64_t all) {
    constexpr double most = 1e18; // fits
    const double for_one =
        all == 0 ? 0 : static_cast<double>(segments) / static_cast<double>(all) + 1.0 / 32;
    const double steps = static_cast<double>(bytes) * for_one;
    return 1 + static_cast<uint64_t>(steps < most ? steps : most);
}

// How many of those bytes, which take so many steps, to move before looking whether more may be:
// whole granules.
inline uint64_t piece_of(uint64_t bytes, uint64_t steps, uint64_t granule) {
    constexpr uint64_t steps_of_piece = Ledger::steps_of_call / 4;
    if (steps <= steps_of_piece) return bytes;
    const double part = static_cast<double>(steps_of_piece) / static_cast<double>(steps);
    const auto piece = static_cast<uint64_t>(static_cast<double>(bytes) * part);
    return piece < granule ? (granule < bytes ? granule : bytes) : piece - piece % granule;
}

} // namespace ucd_ucx
