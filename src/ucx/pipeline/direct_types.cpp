#include "pipeline/direct_types.h"

#include <algorithm>
#include <utility>

namespace ucd_ucx {

bool DirectTypes::has_to_be_sent(ucp_ep_h ep, const ContentId &id) {
    std::vector<ContentId> &sent = sent_[ep];
    if (std::find(sent.begin(), sent.end(), id) != sent.end()) return false;
    if (sent.size() == max_sent) sent.clear();
    sent.push_back(id);
    return true;
}

void DirectTypes::send_again(ucp_ep_h ep, const ContentId &id) {
    const auto found = sent_.find(ep);
    if (found != sent_.end()) std::erase(found->second, id);
}

void DirectTypes::learn(ucp_ep_h ep, std::string_view flattened) {
    constexpr uint64_t steps_of_byte = 25; // at most about 0.2 us
    if (!ledger_.may_work(ep)) return;
    if (flattened.size() > max_flattened ||
        received_.find(content_id(flattened.data(), flattened.size())))
        return;
    const uint64_t bytes = TypesOfTarget::bytes_of_type(flattened.size());
    Charge charge = ledger_.is_possible(bytes, LedgerUse::type)
                        ? ledger_.take(ep, bytes, LedgerUse::type)
                        : received_.take_remembered(bytes);
    if (!charge) return;
    ledger_.note_work(ep, steps_of_byte * flattened.size());
    TypePtr type;
    bool remembered;
    // If it fails, or is not remembered, offers that name the type are declined.
    (void)received_.learn(flattened, std::move(charge), type, &remembered);
}

} // namespace ucd_ucx
