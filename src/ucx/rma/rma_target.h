// The windows of this worker, and what others do with them.
#pragma once

#include "rma/rma_peer.h"
#include "rma/rma_task.h"

#include <list>
#include <map>
#include <unordered_map>
#include <vector>

namespace ucd_ucx::rma {

// Under the lock.
class Target {
public:
    static constexpr uint64_t default_peer_operations = 64 << 10;
    // As many operations of one endpoint as may be here and not done.
    Target(ucd_ucx_rma &owner, uint64_t peer_operations);
    Target(const Target &) = delete;
    Target &operator=(const Target &) = delete;
    ~Target();

    void add(std::unique_ptr<ucd_ucx_window> window);
    Status remove(ucd_ucx_window &window);
    bool has_windows() const { return !windows_.empty(); }

    void take_request(const Preamble &preamble, Delivery &delivery);
    void take_type(uint32_t number, Delivery &delivery);
    // It has come, but there was no memory for it.
    void lose_type(uint32_t number, ucp_ep_h ep);
    // A request that is not looked at: of a peer of the other byte order, or without memory for it.
    void refuse(const Preamble &preamble, const Delivery &delivery, Verdict verdict);
    // A peer of an earlier version.
    void refuse_old(ucp_ep_h ep, std::string_view refusal);
    void on_endpoint_failed(ucp_ep_h ep, uint64_t before);
    // Goes on with what has waited, and says again what there was no memory for. Whether there was
    // anything.
    bool progress() {
        const bool idle =
            waiting_ == 0 && unfinished_.empty() && unsent_.empty() && barred_ == ledger_.barred();
        return !idle && go_on();
    }
    // So that there is a place for those, if then there is no memory. Throws std::bad_alloc.
    void reserve_answers();

    // What the target's bytes are.
    struct Checked {
        uint64_t bytes = 0;      // of the packed stream
        bool contiguous = false; // in the window, from `low` on
        int64_t low = 0;
        uint64_t element_bytes = 1; // of accumulates
        uint64_t segments = 0;
        bool must_wait = false; // there is no room to find out
    };

    // For tasks.
    ucd_ucx_rma &rma;
    TypesOfTarget types;
    void answer(ucp_ep_h ep, const Answer &answer);
    // Whether the request may be done: all of it, before anything is moved.
    Verdict check(const Request &request, const ucd_ucx_window &window, const KnownType &type,
                  ucp_ep_h ep, uint64_t data_bytes, Checked &checked);
    // For a type of so many flattened bytes, which is on the account of its peer if that may be.
    Charge take_for_type(uint64_t flattened, Peer &peer);
    // Builds a type that a peer has brought.
    Status learn(std::string_view flattened, Peer &peer, Charge charge, TypePtr &type);
    // It begins when it is its turn among its peer's, which may be before this returns. What is
    // done but for its answer goes first.
    void wait(Task &task, bool first = false);
    // It has more to move than may be moved in this call of progress.
    void continue_later(Task &task) { unfinished_.push(task); }
    void end(Task &task);
    Peer *peer(ucp_ep_h ep); // null: there is none, or it is barred

private:
    struct Unsent {
        ucp_ep_h ep;
        Encoded message;
        Charge charge;
    };
    // So many requests may come between two calls of progress, and for none of them memory.
    static constexpr std::size_t reserved_answers = 64;
    // What a request is about, found and checked.
    struct Found {
        ucd_ucx_window *window = nullptr;
        WindowHandle handle = 0;         // to be told
        const KnownType *type = nullptr; // null: it is to be asked for, or to be built
        TypePtr owner;                   // of the type; null: `types` keeps it
        bool is_to_be_built = false;     // later, of what is in the request
        ContentId type_id = {};
    };
    void begin(const Preamble &preamble, Delivery &delivery);
    Verdict find(const Request &request, Peer &peer, Found &found);
    Verdict find_type(const Request &request, Peer &peer, Found &found);
    Verdict build_type(std::string_view flattened, Peer &peer, Found &found);
    bool suits_at_once(const Request &request, const Found &found, const Delivery &delivery);
    // False: there is no room for its answer on the account.
    bool do_at_once(const Request &request, const Found &found, Delivery &delivery);
    Status read(const Request &request, const Found &found, const Delivery &delivery,
                const Checked &checked, const Answer &result, bool *refused);
    Status write(const Request &request, const Found &found, const Delivery &delivery,
                 const Checked &checked);
    void say(ucp_ep_h ep, const Encoded &message);
    // False: there is no memory for it.
    bool try_to_say(ucp_ep_h ep, const Encoded &message, Charge &charge);
    void say_later(ucp_ep_h ep, const Encoded &message, Charge charge);
    void park(Task &task);
    // Whether anything began, or may begin in the next call of progress.
    bool advance(Peer &peer);
    bool advance_all();
    // Takes those of a peer's that wait and of which `goes` is true out of its queue.
    template <class Goes>
    void take_out(Peer &peer, Goes &&goes);
    void end_tasks_of_barred();

    bool go_on();

    Ledger &ledger_;
    const uint64_t peer_operations_;
    std::unordered_map<ContentId, std::unique_ptr<ucd_ucx_window>, HashOfContentId> windows_;
    std::unordered_map<ucp_ep_h, Peer> peers_;
    ucp_ep_h last_ep_ = nullptr;
    Peer *last_peer_ = nullptr;
    std::list<Task> tasks_;
    Queue<Task> unfinished_;
    uint64_t waiting_ = 0; // tasks, in their peers' queues
    uint64_t barred_ = 0;  // how many peers were, when their tasks were ended
    // Those whose types are asked for. Ordered, since origins choose the numbers.
    std::map<std::pair<ucp_ep_h, uint32_t>, Task *> parked_;
    std::vector<Unsent> unsent_; // has places beyond those that are used
};

Verdict verdict_of(int ucd);

} // namespace ucd_ucx::rma
