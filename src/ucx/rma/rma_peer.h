// What a target keeps for one endpoint: types and windows that its origin may name by index and
// handle, and operations that wait.
#pragma once

#include "common/linked_list.h"
#include "rma/rma_message.h"
#include "types/known_types.h"

#include <map>
#include <memory>
#include <ucd_ucx_rma.h>
#include <vector>

namespace ucd_ucx::rma {

class Task;
struct Waiting; // the list of tasks that wait for their turn among those of their peer
struct OfPeer;  // the list of all tasks of a peer

// The caller holds the lock.
class Peer : public Linked<Peer> {
public:
    static constexpr uint32_t max_types = 4096;
    static constexpr std::size_t max_windows = 1024;
    // The limit on operations that move data in chunks at the same time: each call of progress
    // visits all of them.
    static constexpr unsigned max_transfers = 64;

    Peer(Ledger &ledger, ucp_ep_h ep);
    ~Peer();

    ucp_ep_h ep() const { return ep_; } // null: the peer is lost, so no answer is sent
    void forget_endpoint() { ep_ = nullptr; }
    // Takes a charge on the endpoint's account. If there is no room for a type, the type that was
    // kept only for possible reuse is dropped.
    Charge take(uint64_t bytes, LedgerUse use);

    // The type with this index. If it is no longer kept, returns null and sets `id` to its content
    // id, or to zeros if the index was never used. `owner` keeps the type alive; it is null if
    // `types` does.
    const PeerType *type(uint32_t index, TypesOfTarget &types, ContentId &id, TypePtr &owner);
    // Gives the type this index from now on, if that is possible.
    Verdict remember(uint32_t index, const ContentId &id);
    // Keeps a type that is too long to be remembered for all peers, until another one replaces it.
    void keep(TypePtr type) { kept_type_ = std::move(type); }
    // Finds a type that is remembered for all peers, or kept for this one; null if there is none.
    TypePtr find_type(TypesOfTarget &types, const ContentId &id) const {
        const bool is_kept = kept_type_ != nullptr && same(kept_type_->id, id);
        return is_kept ? kept_type_ : types.find(id);
    }

    // The handle of a window whose key arrived on this endpoint; 0 if there is no room for one.
    uint64_t handle_of(ucd_ucx_window &window);
    ucd_ucx_window *window(uint64_t handle) const; // null if there is none
    void forget(const ucd_ucx_window &window);

    LinkedList<Task, OfPeer> tasks; // all its operations that have arrived and are not done
    unsigned transfers = 0;         // operations that move data in chunks
    // Tasks that wait for room on the account, for a transfer, or until work may be done.
    LinkedList<Task, Waiting> waiting;
    // Tasks that wait for their types, by number. Ordered, since origins choose the numbers.
    std::map<uint32_t, Task *> parked;
    bool advancing = false;
    // The number of segments that may still be checked for overlap. It grows with the data
    // received.
    uint64_t work = uint64_t{1} << 20;
    void earn(uint64_t received) {
        constexpr uint64_t max_work = uint64_t{1} << 22;
        work = work + received < max_work ? work + received : max_work;
    }

private:
    struct NamedType {
        ContentId id = {};
        // Valid as long as `forgotten` equals the number that `types` has forgotten.
        const PeerType *kept = nullptr;
        uint64_t forgotten = 0;
    };
    struct NamedWindow {
        uint64_t handle; // unpredictable, except for the lowest bits, which are the place
        ucd_ucx_window *window;
    };
    // Makes room for `number` places in all, if the budget allows it.
    template <class T>
    bool reserve(std::vector<T> &places, std::size_t number, Charge &charge);

    Ledger &ledger_;
    ucp_ep_h ep_;
    std::vector<NamedType> types_;
    std::vector<NamedWindow> windows_;
    Charge charge_of_types_, charge_of_windows_;
    TypePtr kept_type_;
};

} // namespace ucd_ucx::rma
