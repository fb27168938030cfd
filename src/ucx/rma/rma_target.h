// The windows of this worker, and the operations of other processes on them.
#pragma once

#include "rma/rma_peer.h"
#include "rma/rma_task.h"

#include <list>
#include <map>
#include <unordered_map>
#include <vector>

namespace ucd_ucx::rma {

class OneSided;

// The caller holds the lock.
class Target {
public:
    static constexpr uint64_t default_peer_operations = 64 << 10;
    // peer_operations limits the unfinished operations of one endpoint.
    Target(OneSided &owner, uint64_t peer_operations);
    Target(const Target &) = delete;
    Target &operator=(const Target &) = delete;
    ~Target();

    void add(std::unique_ptr<ucd_ucx_window> window);
    Status remove(ucd_ucx_window &window);
    bool has_windows() const { return !windows_.empty(); }

    void take_request(const Preamble &preamble, Delivery &delivery);
    void take_type(uint32_t number, Delivery &delivery);
    // The type has arrived, but there was no memory for it.
    void lose_type(uint32_t number, ucp_ep_h ep);
    // Refuses a request unread: its peer has the other byte order, or there is no memory for it.
    void refuse(const Preamble &preamble, const Delivery &delivery, Verdict verdict);
    // Answers a request of a peer of version 2.
    void refuse_old(ucp_ep_h ep, const Encoded &refusal) {
        if (peer(ep) != nullptr) say(ep, refusal);
    }
    void on_endpoint_failed(ucp_ep_h ep, uint64_t before);
    // Refuses the peer's operations, except those whose data is moving: they end by themselves.
    void on_barred(ucp_ep_h ep);
    // Continues tasks that wait, and sends answers for which there was no memory before. Returns
    // whether there were any.
    bool progress() {
        return (waiting_ > 0 || !unfinished_.empty() || !unsent_.empty() || windows_wait_) &&
               go_on();
    }
    // Reserves memory for answers that will have to wait when there is no memory. Throws
    // std::bad_alloc.
    void reserve_answers() {
        if (unsent_.capacity() - unsent_.size() < reserved_answers)
            unsent_.reserve(unsent_.size() + reserved_answers);
    }

    // The target's side of a request, checked.
    struct Checked {
        uint64_t bytes = 0;      // of the packed stream
        bool contiguous = false; // in the window, beginning at `low`
        int64_t low = 0;
        uint64_t element_bytes = 1; // for accumulates
        uint64_t segments = 0;
        bool must_wait = false; // there is no memory now to check it
    };

    // For use by tasks:
    OneSided &rma;
    TypesOfTarget types;
    void answer(ucp_ep_h ep, const Answer &answer);
    // Checks the whole request before any data is moved.
    Verdict check(const Request &request, const ucd_ucx_window &window, const KnownType &type,
                  ucp_ep_h ep, uint64_t data_bytes, Checked &checked);
    // Takes a charge for a type of `flattened` bytes; on the peer's account if that can ever have
    // room.
    Charge take_for_type(uint64_t flattened, Peer &peer);
    // Builds a type that a peer has sent.
    Status learn(std::string_view flattened, Peer &peer, Charge charge, TypePtr &type);
    // Queues the task among the waiting tasks of its peer. It may start before this returns. A task
    // that only has to be answered goes first.
    void wait(Task &task, bool first = false);
    // The task has more to move than is allowed in this call of progress.
    void continue_later(Task &task) { unfinished_.push(task); }
    // A window waits until an origin has done its accumulate.
    void advance_windows_later() { windows_wait_ = true; }
    void end(Task &task);
    // Null if there is none, or if it is barred.
    Peer *peer(ucp_ep_h ep) {
        const bool is_last = ep == last_ep_ && last_peer_ != nullptr && ledger_.barred() == 0;
        return is_last ? last_peer_ : look_up(ep);
    }

private:
    struct Unsent {
        ucp_ep_h ep;
        Encoded message;
        Charge charge;
    };
    // The number of requests that may arrive between two calls of progress without memory for any
    // answer.
    static constexpr std::size_t reserved_answers = 64;
    // What a request refers to, found and checked.
    struct Found {
        ucd_ucx_window *window = nullptr;
        WindowHandle handle = 0;         // to be sent with the answer
        const KnownType *type = nullptr; // null if it has to be asked for or built
        TypePtr owner;                   // keeps the type alive; null if `types` does
        bool is_to_be_built = false;     // the request contains the type, to be built later
        ContentId type_id = {};
    };
    Peer *look_up(ucp_ep_h ep);
    void begin(const Preamble &preamble, Delivery &delivery);
    Verdict find(const Request &request, Peer &peer, Found &found);
    Verdict find_type(const Request &request, Peer &peer, Found &found);
    Verdict build_type(std::string_view flattened, Peer &peer, Found &found);
    bool suits_at_once(const Request &request, const Found &found, const Delivery &delivery);
    // Returns false if the account has no room for the answer.
    bool do_at_once(const Request &request, const Found &found, Delivery &delivery);
    Status read(const Request &request, const Found &found, const Delivery &delivery,
                const Checked &checked, const Answer &result, bool *refused);
    Status write(const Request &request, const Found &found, const Delivery &delivery,
                 const Checked &checked);
    void say(ucp_ep_h ep, const Encoded &message);
    // Returns false if there is no memory for it.
    bool try_to_say(ucp_ep_h ep, const Encoded &message, Charge &charge);
    void say_later(ucp_ep_h ep, const Encoded &message, Charge charge);
    void park(Task &task);
    // Returns whether any task began, or may begin in the next call of progress.
    bool advance(Peer &peer);
    bool advance_all();
    // Removes the waiting tasks of a peer for which `goes` returns true.
    template <class Goes>
    void take_out(Peer &peer, Goes &&goes);
    bool go_on();

    Ledger &ledger_;
    const uint64_t peer_operations_;
    std::unordered_map<ContentId, std::unique_ptr<ucd_ucx_window>, HashOfContentId> windows_;
    std::unordered_map<ucp_ep_h, Peer> peers_;
    ucp_ep_h last_ep_ = nullptr;
    Peer *last_peer_ = nullptr;
    std::list<Task> tasks_;
    Queue<Task> unfinished_;
    bool windows_wait_ = false;
    uint64_t waiting_ = 0; // the number of tasks in the queues of all peers
    // Tasks that wait for their types. Ordered, since origins choose the numbers.
    std::map<std::pair<ucp_ep_h, uint32_t>, Task *> parked_;
    std::vector<Unsent> unsent_; // has capacity for reserved_answers more
};

Verdict verdict_of(int ucd);

} // namespace ucd_ucx::rma
