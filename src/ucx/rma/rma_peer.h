// What a target keeps of one endpoint: what its origin may name shortly, and what of its operations
// waits.
#pragma once

#include "common/queue.h"
#include "rma/rma_types.h"

#include <memory>
#include <ucd_ucx_rma.h>
#include <vector>

namespace ucd_ucx::rma {

class Task;

// Under the lock.
class Peer {
public:
    static constexpr uint32_t max_types = 4096;
    static constexpr std::size_t max_windows = 1024;
    // Operations that may move data in chunks at a time: each call of progress looks at them.
    static constexpr unsigned max_transfers = 64;

    Peer(Ledger &ledger, ucp_ep_h ep) : ledger_(ledger), ep_(ep) {}

    ucp_ep_h ep() const { return ep_; }
    // On the account of the endpoint. A type that is only kept in case it comes again makes room
    // for another one.
    Charge take(uint64_t bytes, Use use);

    // The type that index stands for. Null: it is not kept any more, and `id` says which it was, or
    // is all zeros if there never was one. `owner` keeps it, or is null if `types` does.
    const KnownType *type(uint32_t index, TypesOfTarget &types, ContentId &id, TypePtr &owner);
    // From now on, index stands for it.
    enum class Naming : uint8_t { done, no_such_index, no_budget };
    Naming remember(uint32_t index, const ContentId &id, const TypePtr &type);
    // A type that is too long to be remembered for all, kept until another one comes.
    void keep(TypePtr type) { kept_type_ = std::move(type); }
    TypePtr find_kept(const ContentId &id) const {
        return kept_type_ != nullptr && same(kept_type_->id, id) ? kept_type_ : nullptr;
    }

    // The handle of a window whose key was shown here; 0: there is no room for one.
    uint64_t handle_of(ucd_ucx_window &window);
    ucd_ucx_window *window(uint64_t handle) const; // null: there is none
    void forget(const ucd_ucx_window &window);

    uint64_t operations = 0; // that have come and are not done
    unsigned transfers = 0;  // of operations
    // For their turn: for room on the account, a transfer, or work that may be done.
    Queue<Task> waiting;
    bool advancing = false;
    // Segments that may be looked at for overlap: it grows with what has come.
    uint64_t work = uint64_t{1} << 20;
    void earn(uint64_t received) {
        constexpr uint64_t max_work = uint64_t{1} << 22;
        work = work + received < max_work ? work + received : max_work;
    }

private:
    struct NamedType {
        ContentId id = {};
        std::weak_ptr<const KnownType> type;
        // In the target's types, until those have forgotten one more.
        const KnownType *kept = nullptr;
        uint64_t forgotten = 0;
    };
    struct NamedWindow {
        uint64_t handle; // unpredictable but for its lowest bits, which are the place
        ucd_ucx_window *window;
    };
    // For so many places in all, if there is a budget for them.
    template <class T>
    bool reserve(std::vector<T> &places, std::size_t number, Charge &charge);

    Ledger &ledger_;
    const ucp_ep_h ep_;
    std::vector<NamedType> types_;
    std::vector<NamedWindow> windows_;
    Charge charge_of_types_, charge_of_windows_;
    TypePtr kept_type_;
};

} // namespace ucd_ucx::rma
