#include "common/ledger.h"

#include <memory>

namespace ucd_ucx {

void Charge::shrink_to(uint64_t bytes) {
    if (account_ == nullptr || bytes >= bytes_) return;
    ledger_->release(*account_, use_, bytes_ - bytes, false);
    bytes_ = bytes;
}

void Charge::take_from(Charge &other, uint64_t bytes) {
    if (account_ == nullptr || account_ != other.account_ || use_ != other.use_) return;
    bytes = std::min(bytes, other.bytes_);
    other.bytes_ -= bytes;
    bytes_ += bytes;
}

Ledger::Ledger(const Limits &limits)
    : limits_(limits), for_use_{limit_of(LedgerUse::message, limits.peer),
                                limit_of(LedgerUse::request, limits.peer),
                                limit_of(LedgerUse::type, limits.peer),
                                limit_of(LedgerUse::move, limits.peer),
                                limit_of(LedgerUse::chunk, limits.peer)} {}

Ledger::~Ledger() {
    for (const auto &[peer, account] : accounts_) delete account;
}

Ledger::Account *Ledger::look_up(ucp_ep_h peer) const {
    const auto found = accounts_.find(peer);
    if (found == accounts_.end()) return nullptr;
    last_peer_ = peer;
    last_account_ = found->second;
    return last_account_;
}

Ledger::Account &Ledger::open(ucp_ep_h peer) {
    auto made = std::make_unique<Account>();
    made->call = call_.load(std::memory_order_relaxed);
    made->steps = steps_of_call;
    accounts_.emplace(peer, made.get());
    return *made.release();
}

Charge Ledger::take_with_lock(ucp_ep_h peer, uint64_t bytes, LedgerUse use) {
    if (peer == nullptr) return {};
    const std::lock_guard held(lock_);
    Account *known = find(peer);
    Account &account = known != nullptr ? *known : open(peer);
    const bool own = fits(account, bytes, use), all = fits_all(bytes);
    if (own && all) return hold(account, use, bytes);
    if (use != LedgerUse::message || account.barred) return {};
    account.exceeded |= !own;
    exceeded_.store(true, std::memory_order_relaxed);
    return own ? hold(account, use, bytes) : Charge();
}

void Ledger::release_with_lock(Account &account, LedgerUse use, uint64_t bytes, bool ends) {
    const std::lock_guard held(lock_);
    drop(account, use, bytes, ends);
}

bool Ledger::may_work_with_lock(ucp_ep_h peer) {
    const std::lock_guard held(lock_);
    Account *account = find(peer);
    if (account == nullptr) return true;
    // The limit keeps a peer from saving up work over a long silence.
    const uint64_t call = call_.load(std::memory_order_relaxed);
    const uint64_t calls = std::min<uint64_t>(call - account->call, INT32_MAX);
    account->call = call;
    account->steps =
        std::min(account->steps + static_cast<int64_t>(calls) * steps_of_call, steps_of_call);
    return account->steps > 0;
}

void Ledger::note_work_with_lock(ucp_ep_h peer, uint64_t steps) {
    constexpr auto most = int64_t{1} << 40; // a bound on the debt, so that a peer can work it off
    const std::lock_guard held(lock_);
    Account *account = find(peer);
    if (account == nullptr) return;
    const auto more = static_cast<int64_t>(std::min<uint64_t>(steps, most));
    account->steps = std::max(account->steps - more, -most);
}

Charge Ledger::take_remembered(uint64_t bytes) {
    const std::lock_guard held(lock_);
    if (bytes > limits_.remembered - remembered_.bytes) return {};
    return hold(remembered_, LedgerUse::message, bytes);
}

void Ledger::close(ucp_ep_h peer) {
    const std::lock_guard held(lock_);
    Account *account = find(peer);
    if (account == nullptr) return;
    accounts_.erase(peer);
    last_account_ = nullptr;
    account->is_open = false;
    closed_ += account->bytes;
    if (account->charges == 0) delete account;
}

ucp_ep_h Ledger::bar_one() {
    const std::lock_guard held(lock_);
    auto next = accounts_.end();
    // What barred peers and those of closed endpoints hold is given back in this call of progress
    // and in later ones.
    uint64_t others = remembered_.bytes + closed_;
    for (const auto &[peer, account] : accounts_) others += account->barred ? account->bytes : 0;
    const bool all = bytes_ - others > limits_.peers;
    for (auto at = accounts_.begin(); at != accounts_.end(); ++at) {
        const Account &account = *at->second;
        if (account.barred) continue;
        if (account.exceeded) {
            next = at;
            break;
        }
        if (all && (next == accounts_.end() || account.bytes > next->second->bytes)) next = at;
    }
    if (next == accounts_.end()) {
        exceeded_.store(false, std::memory_order_relaxed);
        return nullptr;
    }
    next->second->barred = true;
    barred_.fetch_add(1, std::memory_order_relaxed);
    return next->first;
}

bool Ledger::finds_barred(ucp_ep_h peer) const {
    const std::lock_guard held(lock_);
    const Account *account = find(peer);
    return account != nullptr && account->barred;
}

uint64_t Ledger::bytes() const {
    const std::lock_guard held(lock_);
    return bytes_;
}

uint64_t Ledger::bytes_of(ucp_ep_h peer) const {
    const std::lock_guard held(lock_);
    const Account *account = find(peer);
    return account != nullptr ? account->bytes : 0;
}

} // namespace ucd_ucx
