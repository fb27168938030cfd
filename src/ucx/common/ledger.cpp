#include "common/ledger.h"

#include <memory>

namespace ucd_ucx {

void Charge::give_back() {
    if (account_ == nullptr) return;
    ledger_->release(*std::exchange(account_, nullptr), use_, std::exchange(bytes_, 0), true);
}

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

Ledger::~Ledger() {
    for (const auto &[peer, account] : accounts_) delete account;
}

Ledger::Account *Ledger::find(ucp_ep_h peer) const {
    if (last_account_ != nullptr && last_peer_ == peer) return last_account_;
    const auto found = accounts_.find(peer);
    if (found == accounts_.end()) return nullptr;
    last_peer_ = peer;
    last_account_ = found->second;
    return last_account_;
}

Charge Ledger::take(ucp_ep_h peer, uint64_t bytes, LedgerUse use) {
    if (peer == nullptr) return {};
    const std::lock_guard held(lock_);
    Account *known = find(peer);
    if (known == nullptr) {
        auto made = std::make_unique<Account>();
        made->call = call_.load(std::memory_order_relaxed);
        made->steps = steps_of_call;
        accounts_.emplace(peer, made.get());
        known = made.release();
    }
    Account &account = *known;
    if (account.barred) return {};
    const uint64_t of_use = account.for_use[static_cast<std::size_t>(use)];
    const uint64_t of_peers = bytes_ - remembered_.bytes;
    const bool own =
        bytes <= limits_.peer - account.bytes && bytes <= limit_of(use, limits_.peer) - of_use;
    const bool all = of_peers <= limits_.peers && bytes <= limits_.peers - of_peers;
    if (own && all) return hold(account, use, bytes);
    if (use != LedgerUse::message) return {};
    account.exceeded |= !own;
    exceeded_.store(true, std::memory_order_relaxed);
    return own ? hold(account, use, bytes) : Charge();
}

Charge Ledger::hold(Account &account, LedgerUse use, uint64_t bytes) {
    account.bytes += bytes;
    account.for_use[static_cast<std::size_t>(use)] += bytes;
    ++account.charges;
    bytes_ += bytes;
    return {*this, account, use, bytes};
}

void Ledger::release(Account &account, LedgerUse use, uint64_t bytes, bool ends) {
    const std::lock_guard held(lock_);
    account.bytes -= bytes;
    account.for_use[static_cast<std::size_t>(use)] -= bytes;
    account.charges -= ends ? 1 : 0;
    bytes_ -= bytes;
    if (account.is_open) return;
    closed_ -= bytes;
    if (account.charges == 0) delete &account;
}

bool Ledger::may_work(ucp_ep_h peer) {
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

void Ledger::note_work(ucp_ep_h peer, uint64_t steps) {
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

ucp_ep_h Ledger::bar_next() {
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

bool Ledger::is_barred(ucp_ep_h peer) const {
    if (barred() == 0) return false;
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
