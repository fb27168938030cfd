// Memory of other processes that stays open in this process, since opening it takes long.
#pragma once

#include "common/ledger.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace ucd_ucx {

// A Memory has a member `sender`, the endpoint that it came from, and holds a charge on the
// sender's account.
template <class Memory>
class KeptMemory {
public:
    using Pointer = std::shared_ptr<const Memory>;

    explicit KeptMemory(Ledger &ledger) : ledger_(ledger) {}

    // Memory for which this is true; else null.
    template <class Matches>
    Pointer find(Matches &&matches) {
        const auto found = std::find_if(kept_.begin(), kept_.end(),
                                        [&](const Pointer &memory) { return matches(*memory); });
        if (found == kept_.end()) return nullptr;
        std::rotate(found, found + 1, kept_.end());
        return kept_.back();
    }

    // Makes room for one more, and takes its charge. If the sender's account has no room, memory of
    // the same sender that is not in use is closed.
    Charge make_room(ucp_ep_h sender, uint64_t bytes) {
        for (auto oldest = kept_.begin(); kept_.size() >= max_idle && oldest != kept_.end();)
            oldest = oldest->use_count() == 1 ? kept_.erase(oldest) : oldest + 1;
        kept_.reserve(kept_.size() + 1);
        Charge charged = ledger_.take(sender, bytes, LedgerUse::request);
        if (!charged && close_idle_of(sender))
            charged = ledger_.take(sender, bytes, LedgerUse::request);
        return charged;
    }
    // After make_room.
    void add(Pointer memory) { kept_.push_back(std::move(memory)); }

    // Returns whether there was any.
    bool close_idle_of(ucp_ep_h sender) {
        const auto goes = [sender](const Pointer &memory) {
            return memory->sender == sender && memory.use_count() == 1;
        };
        return std::erase_if(kept_, goes) > 0;
    }
    // What is in use closes when its use ends.
    void close(ucp_ep_h sender) {
        std::erase_if(kept_, [sender](const Pointer &memory) { return memory->sender == sender; });
    }
    void close_all() { kept_.clear(); }

private:
    static constexpr std::size_t max_idle = 64; // exceeded only while all are in use

    Ledger &ledger_;
    std::vector<Pointer> kept_; // in the order of their last uses
};

} // namespace ucd_ucx
