// The windows of this worker, and the operations of other processes on them.
#pragma once

#include "rma/rma_peer.h"
#include "rma/rma_task.h"

#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ucd_ucx::rma {

class OneSided;

// What a request refers to.
struct Found {
    ucd_ucx_window *window = nullptr;
    WindowHandle handle = 0;        // to be sent with the answer
    const PeerType *type = nullptr; // null if it has to be asked for or built
    TypePtr owner;                  // keeps the type alive; null if the target's `types` do
    ContentId type_id = {};
    // Set by Target::check:
    const ucd_layout_t *layout = nullptr; // of the type, which keeps it until the next check
    uint64_t segments = 0;                // and further steps, for the op
};

// The caller holds the lock.
class Target {
public:
    // peer_operations limits the unfinished operations of one endpoint.
    Target(OneSided &owner, uint64_t peer_operations);

    void add(std::unique_ptr<ucd_ucx_window> window);
    Status remove(ucd_ucx_window &window);
    bool has_windows() const { return !windows_.empty(); }

    void take_request(Delivery &delivery);
    void take_type(Delivery &delivery);
    // Answers a request of a peer of version 2.
    void refuse_old(ucp_ep_h ep, const Encoded &refusal) {
        if (peer(ep) != nullptr) say({ep, refusal, true});
    }
    // The peer gets no answers any more. Its operations end in this call of progress and in later
    // ones; those that are at work, when their data has moved.
    void on_endpoint_failed(ucp_ep_h ep);
    void on_barred(ucp_ep_h ep);
    // Windows that the user has destroyed, some of whose operations are not refused yet.
    bool has_gone_windows() const { return !gone_.empty(); }
    // Continues tasks that wait, ends those of lost peers and destroyed windows, and sends answers
    // for which there was no memory before. Returns whether there were any.
    bool progress();
    // Reserves memory for answers that will have to wait when there is no memory. Throws
    // std::bad_alloc.
    void reserve_answers() {
        if (unsent_.capacity() - unsent_.size() < reserved_answers)
            unsent_.reserve(unsent_.size() + reserved_answers);
    }

    // For use by tasks:
    OneSided &rma;
    TypesOfTarget &types;
    void answer(ucp_ep_h ep, const Answer &answer);
    // Checks the whole request before any data is moved. Returns nothing if there is no memory for
    // that now.
    std::optional<Verdict> check(const Request &request, Found &found, Peer &from,
                                 uint64_t data_bytes);
    // Queues the task among the waiting tasks of its peer. It may start before this returns. A task
    // goes first that only has to be answered, or to move what is left.
    void wait(Task &task, bool first = false);
    // A window waits until an origin has done its accumulate, or for the next call of progress.
    void advance_later(ucd_ucx_window &window);
    void end(Task &task);
    // Whether a task of the peer may have a turn in this call of progress; if so, it has one.
    bool begin_turn(const Peer &peer) {
        if (peer.ep() == nullptr || !ledger_.may_work(peer.ep())) return false;
        ledger_.note_work(peer.ep(), steps_of_turn);
        return true;
    }
    // Null if there is none, or if it is barred.
    Peer *peer(ucp_ep_h ep) {
        const bool is_last =
            last_peer_ != nullptr && ep == last_peer_->ep() && ledger_.barred() == 0;
        return is_last ? last_peer_ : look_up(ep);
    }

private:
    struct Unsent {
        ucp_ep_h ep;
        Encoded message;
        bool alone; // is not gathered
    };
    // The number of requests that may arrive between two calls of progress without memory for any
    // answer.
    static constexpr std::size_t reserved_answers = 64;
    // A turn of a task costs at most about half a microsecond, beside the moving of data.
    static constexpr uint64_t steps_of_turn = 64;
    // The limit on tasks that end in one call of progress because their peers or windows are gone.
    static constexpr uint64_t ends_of_call = Ledger::steps_of_call / steps_of_turn;
    Peer *look_up(ucp_ep_h ep);
    Verdict begin(Delivery &delivery, WindowHandle &handle);
    Verdict find(const Request &request, Peer &peer, Found &found);
    bool do_at_once(const Request &request, Found &found, Peer &from, const Delivery &delivery);
    void say(const Unsent &unsent);
    // Returns false if there is no memory for it.
    bool try_to_say(const Unsent &unsent);
    void park(Task &task);
    // Returns whether any task began, or may begin in the next call of progress.
    bool advance(Peer &peer);
    template <class Owner>
    bool end_tasks_of(std::list<std::unique_ptr<Owner>> &owners);

    Ledger &ledger_;
    const uint64_t peer_operations_;
    std::unordered_map<ContentId, std::unique_ptr<ucd_ucx_window>, HashOfId> windows_;
    std::unordered_map<ucp_ep_h, std::unique_ptr<Peer>> peers_;
    Peer *last_peer_ = nullptr;
    // What still has tasks to end: peers that are lost or barred, and windows that are destroyed.
    std::list<std::unique_ptr<Peer>> lost_;
    std::list<std::unique_ptr<ucd_ucx_window>> gone_;
    uint64_t ends_left_ = ends_of_call; // in this call of progress
    LinkedList<Peer> waiting_peers_;    // those that have waiting tasks
    LinkedList<ucd_ucx_window> waiting_windows_;
    std::vector<Unsent> unsent_; // has capacity for reserved_answers more
};

Verdict verdict_of(int ucd);
// Moves packed data to the memory of a window, whose layout is given.
Status write(ucd_op_t op, const ucd_layout_t &layout, const char *data, const Data &to);

} // namespace ucd_ucx::rma
