// The types of data that one side reads where it is: each travels once to an endpoint, and then its
// content id names it.
#pragma once

#include "types/known_types.h"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace ucd_ucx {

class DirectTypes {
public:
    // A longer flattened type is not sent: the data takes other routes.
    static constexpr uint64_t max_flattened = 256 << 10;

    explicit DirectTypes(Ledger &ledger)
        : ledger_(ledger), to_send_(ledger.remembered_limit()), received_(ledger) {}

    // At the sender. Fails if the type cannot be flattened.
    Status find(ucd_type_t handle, TypePtr &type) { return to_send_.find(handle, type); }
    // Whether the endpoint's peer has to be sent the type; if so, it counts as sent from now on.
    bool has_to_be_sent(ucp_ep_h ep, const ContentId &id);
    // The peer does not know it any more.
    void send_again(ucp_ep_h ep, const ContentId &id);
    void close(ucp_ep_h ep) { sent_.erase(ep); }

    // At the receiver. Null if the type has not come, or was forgotten.
    TypePtr find(const ContentId &id) { return received_.find(id); }
    // Untrusted bytes have come. If they are no type, or there is no room for it, nothing happens.
    void learn(ucp_ep_h ep, std::string_view flattened);

private:
    static constexpr std::size_t max_sent = 256; // remembered for each endpoint

    Ledger &ledger_;
    TypesOfOrigin to_send_;
    TypesOfTarget received_;
    std::unordered_map<ucp_ep_h, std::vector<ContentId>> sent_;
};

} // namespace ucd_ucx
