#include "rma/rma_peer.h"

#include "common/tokens.h"
#include "rma/rma_task.h"

#include <bit>

namespace ucd_ucx::rma {
namespace {

constexpr uint64_t place_mask = 0xffff;
static_assert(Peer::max_windows <= place_mask);

} // namespace

Peer::Peer(Ledger &ledger, ucp_ep_h ep) : ledger_(ledger), ep_(ep) {}

Peer::~Peer() = default;

Charge Peer::take(uint64_t bytes, LedgerUse use) {
    Charge charge = ledger_.take(ep_, bytes, use);
    if (charge || kept_type_ == nullptr || use != LedgerUse::type) return charge;
    kept_type_.reset();
    return ledger_.take(ep_, bytes, use);
}

template <class T>
bool Peer::reserve(std::vector<T> &places, std::size_t number, Charge &charge) {
    if (number <= places.capacity()) return true;
    const std::size_t capacity = std::bit_ceil(number);
    // The new capacity is charged in full, because the old one exists until the elements have
    // moved.
    Charge more = take(capacity * sizeof(T), LedgerUse::request);
    if (!more) return false;
    // charged: more
    places.reserve(capacity);
    charge = std::move(more);
    return true;
}

const PeerType *Peer::type(uint32_t index, TypesOfTarget &types, ContentId &id, TypePtr &owner) {
    id = {};
    if (index >= types_.size()) return nullptr;
    NamedType &named = types_[index];
    id = named.id;
    if (named.kept != nullptr && named.forgotten == types.forgotten()) return named.kept;
    owner = types.find(id);
    named.kept = owner.get();
    named.forgotten = types.forgotten();
    if (owner == nullptr) owner = find_type(types, id);
    return owner.get();
}

Verdict Peer::remember(uint32_t index, const ContentId &id) {
    if (index >= max_types) return Verdict::invalid;
    if (!reserve(types_, index + 1, charge_of_types_)) return Verdict::no_memory;
    // charged: in reserve
    if (index >= types_.size()) types_.resize(index + 1);
    types_[index] = {id, nullptr, 0};
    return Verdict::done;
}

uint64_t Peer::handle_of(ucd_ucx_window &window) {
    std::size_t place = windows_.size();
    for (std::size_t i = 0; i < windows_.size(); ++i) {
        if (windows_[i].window == &window) return windows_[i].handle;
        if (windows_[i].window == nullptr) place = i;
    }
    if (place >= max_windows) return 0;
    if (place == windows_.size() && !reserve(windows_, place + 1, charge_of_windows_)) return 0;
    // Unpredictable, so that a handle from an earlier endpoint is not valid on a later one.
    const uint64_t handle = (random_token() & ~place_mask) | place;
    if (place == windows_.size()) windows_.push_back({});
    windows_[place] = {handle, &window};
    return handle;
}

ucd_ucx_window *Peer::window(uint64_t handle) const {
    const uint64_t place = handle & place_mask;
    const bool is_one = place < windows_.size() && windows_[place].handle == handle;
    return is_one ? windows_[place].window : nullptr;
}

void Peer::forget(const ucd_ucx_window &window) {
    for (NamedWindow &named : windows_)
        if (named.window == &window) named = {};
}

} // namespace ucd_ucx::rma
