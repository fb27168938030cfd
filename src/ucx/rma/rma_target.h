// The windows of this worker, and what others do with them.
#pragma once

#include "rma/rma_peer.h"
#include "rma/rma_task.h"

#include <list>
#include <map>
#include <unordered_map>
#include <vector>

namespace ucd_ucx::rma {

// What origins may have kept here.
struct TargetLimits {
    uint64_t types = 16 << 20;           // bytes of types
    uint64_t peer_operations = 64 << 10; // of one endpoint, that are not done
    uint64_t peer_memory = 256 << 20;    // bytes of their data and answers
};

// Under the lock.
class Target {
public:
    Target(ucd_ucx_rma &owner, const TargetLimits &limits)
        : rma(owner), types(limits.types), limits_(limits) {
        reserve_answers();
    }
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
    // Says again what there was no memory for. Whether there was anything.
    bool progress();
    // So that there is a place for those, if then there is no memory. Throws std::bad_alloc.
    void reserve_answers();
    void note_waiting(ucp_ep_h ep, std::size_t bytes);
    void note_sent(ucp_ep_h ep, std::size_t bytes);

    // What the target's bytes are.
    struct Checked {
        uint64_t bytes = 0;      // of the packed stream
        bool contiguous = false; // in the window, from `low` on
        int64_t low = 0;
        uint64_t element_bytes = 1; // of accumulates
    };

    // For tasks.
    ucd_ucx_rma &rma;
    TypesOfTarget types;
    void answer(ucp_ep_h ep, const Answer &answer);
    // With data. *waits: a transfer reads it, and calls `param` when it is complete.
    // Up to `eager` bytes go as one message.
    Status answer(ucp_ep_h ep, const Answer &answer, const Data &data, uint64_t bytes,
                  uint64_t eager, uint64_t granule, const ucd_ucx_param_t &param, bool *waits);
    // Whether the request may be done: all of it, before anything is moved.
    Verdict check(const Request &request, const ucd_ucx_window &window, const KnownType &type,
                  ucp_ep_h ep, uint64_t data_bytes, Checked &checked);
    // For memory of a task. False: its origin would keep too much here.
    bool charge_task(ucp_ep_h ep, uint64_t bytes);
    void end(Task &task);
    Peer *peer(ucp_ep_h ep); // null: it is barred

private:
    struct Unsent {
        ucp_ep_h ep;
        Encoded message;
    };
    // So many requests may come between two calls of progress, and for none of them memory.
    static constexpr std::size_t reserved_answers = 64;
    // What a request is about, found and checked.
    struct Found {
        ucd_ucx_window *window = nullptr;
        WindowHandle handle = 0;         // to be told
        const KnownType *type = nullptr; // null: it is to be asked for
        TypePtr owner;                   // of the type; null: `types` keeps it
        ContentId type_id = {};
    };
    void begin(const Preamble &preamble, Delivery &delivery);
    Verdict find(const Request &request, Peer &peer, Found &found);
    Verdict find_type(const Request &request, Peer &peer, Found &found);
    bool suits_at_once(const Request &request, const Found &found, const Delivery &delivery);
    void do_at_once(const Request &request, const Found &found, Delivery &delivery);
    Status answer_with_data(const Request &request, const Found &found, const Delivery &delivery,
                            const Checked &checked, const Answer &result);
    Status write(const Request &request, const Found &found, const Delivery &delivery,
                 const Checked &checked);
    void say(ucp_ep_h ep, const Encoded &message);
    bool try_to_say(ucp_ep_h ep, const Encoded &message); // false: there is no memory for it
    void say_later(ucp_ep_h ep, const Encoded &message);
    void park(Task &task);

    const TargetLimits limits_;
    std::unordered_map<ContentId, std::unique_ptr<ucd_ucx_window>, HashOfContentId> windows_;
    std::unordered_map<ucp_ep_h, Peer> peers_;
    ucp_ep_h last_ep_ = nullptr;
    Peer *last_peer_ = nullptr;
    std::list<Task> tasks_;
    // Those whose types are asked for. Ordered, since origins choose the numbers.
    std::map<std::pair<ucp_ep_h, uint32_t>, Task *> parked_;
    std::vector<Unsent> unsent_; // has places beyond those that are used
};

Verdict verdict_of(int ucd);

} // namespace ucd_ucx::rma
