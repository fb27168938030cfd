// Workers of this process and the endpoints between them: two honest peers, two hostile ones.
#pragma once

#include <array>
#include <string>
#include <ucp/api/ucp.h>

namespace ucdfuzz {

inline constexpr int honest_peers = 2, peers = 4; // the honest ones come first
constexpr bool is_hostile(int peer) {
    return peer >= honest_peers;
}

inline constexpr unsigned pipeline_am = 7, rma_am = 8;

// Tags of the honest pair have a bit that hostile peers do not use: who may send what is the
// user's business, tags have no owner.
inline constexpr ucp_tag_t honest_tag = ucp_tag_t{1} << 40;

class Net {
public:
    Net();
    ~Net();
    Net(const Net &) = delete;
    Net &operator=(const Net &) = delete;

    ucp_worker_h worker(int peer) const { return ends_[index(peer)].worker; }
    // None between the hostile ones.
    ucp_ep_h ep(int from, int to) const { return ends_[index(from)].eps[index(to)]; }
    bool can_fail() const { return can_fail_; }

    void connect(int a, int b); // both ways
    void close(int a, int b);   // both ways; libraries must know already
    void connect_all();
    void close_all();
    void progress(); // of UCX alone
    // All that they have sent to each other arrives. Only UCX makes progress, so libraries send
    // nothing behind it.
    void deliver(int a, int b);
    void deliver_all();
    // Takes away tagged messages that nobody has received.
    void drain(int peer);

private:
    static std::size_t index(int peer) { return static_cast<std::size_t>(peer); }
    ucp_ep_h make_endpoint(int from, int to);
    void *start_closing(int from, int to);
    // Sends a mark, which arrives behind all that was sent on the endpoint.
    void mark(int from, int to);

    struct End {
        ucp_worker_h worker = nullptr;
        std::string address;
        std::array<ucp_ep_h, peers> eps = {};
    };
    ucp_context_h context_ = nullptr;
    std::array<End, peers> ends_;
    bool can_fail_ = false;
    int marks_ = 0; // that have not arrived
};

} // namespace ucdfuzz
