// An honest peer: the library as programs use it, with a pipeline, one-sided operations and two
// windows. It serves everybody; with the other honest peer it checks all that is moved.
#pragma once

#include "contents.hpp"
#include "net.hpp"
#include "samples.hpp"

#include <deque>
#include <map>
#include <memory>
#include <ucd_ucx_rma.h>

namespace ucdfuzz {

struct Protocols {
    bool pipeline = true, one_sided = true;
};

// What differs from world to world.
struct Settings {
    Protocols protocols;
    // Hostile peers may sum, and send other bytes than those of their alphabets: then bytes tell
    // nothing of their writers.
    bool opaque = false;
    bool joined = false; // each object has both families
    std::map<std::string, std::string> keys;
    std::size_t types_kept = 0, peer_memory = 0; // bytes
};

// A request of the library that is under way.
struct Item {
    enum class Check { nothing, contents, exact, put };
    const char *what = "";
    int peer = -1; // or any
    Check check = Check::nothing;
    bool excused = false; // its endpoint was lost: it may end as it likes
    ucd_ucx_request_t request = UCD_UCX_REQUEST__NULL;
    Guarded buffer, result; // what is sent; what is received
    Layout layout;          // of result
    Writers writers = 0;    // who may have sent it
    std::string expected;   // packed
    std::size_t slot = 0;
    bool cancelled = false;

    unsigned char *result_at() { return result.data() - layout.low; }
};

class Node {
public:
    Node(Net &net, int self, const Samples &samples, ucdtest::Rng &rng, const Settings &settings);
    ~Node();
    Node(const Node &) = delete;
    Node &operator=(const Node &) = delete;
    void meet(Node &other) { other_ = &other; }

    void progress();
    // Looks at what is complete, and checks it.
    void poll();

    // Something with the other honest peer, or with a hostile one.
    void start_honest();
    void start_towards(int hostile);
    void post_receive();
    void settle_held();
    void cancel_one();
    void lose(int peer);
    void lose(ucp_ep_h lost);

    bool idle_with(int peer) const;
    bool idle() const { return items_.empty(); }
    bool honest_is_done() const;
    std::string left() const; // what is under way
    std::string honest_left() const;
    void excuse_honest(); // its endpoint is lost
    void start_afresh() { honest_possible_ = true; }
    void give_up(); // cancels what only a peer could complete, drops what is held
    // Ends the windows. False: not yet.
    bool close_windows();
    // What the library's ledgers say: of all peers, and of the one that has most.
    struct Charged {
        std::uint64_t all = 0, most = 0;
    };
    Charged charged() const;
    // Ends the library's objects; returns how many bytes they still held.
    std::size_t close();

    ucd_ucx_window_key_t public_key() const { return public_key_; }

private:
    struct Held {
        ucd_ucx_data_t data;
        std::uint64_t bytes;
        Writers writers;
    };
    struct Slot {
        bool busy = false;
    };
    static constexpr std::size_t slots = 8, slot_bytes = 512, public_bytes = 1024;

    static void on_message(void *self, unsigned id, const void *header, std::size_t length,
                           ucd_ucx_data_t data, std::uint64_t bytes, ucp_ep_h reply_ep);
    void take(std::string_view header, ucd_ucx_data_t data, std::uint64_t bytes);
    void take_honest(ucd_ucx_data_t data, std::uint64_t bytes, std::string expected);
    void receive_held(const Held &held, std::uint64_t room);
    ucp_ep_h ep(int peer) const { return net_.ep(self_, peer); }
    Writer own(bool is_private) const;
    std::unique_ptr<Item> make(const char *what, int peer) const;
    void make_result(Item &item, const Layout &layout) const;
    bool started(std::unique_ptr<Item> item, int rc, const char *function);

    // traffic.cpp
    void send_honest_tagged();
    void send_honest_active();
    void operate_honest();
    void receive_exactly(const char *what, std::string expected, ucp_tag_t tag,
                         ucd_ucx_data_t data);
    std::size_t free_slot() const;
    int start_operation(Item &item, unsigned verb, const ucd_ucx_window_key_t &key,
                        std::int64_t displacement, const Layout &target, ucd_op_t op);

    // checks.cpp
    void check_item(Item &item, const ucd_ucx_result_t &result);
    void check_contents(Item &item, const ucd_ucx_result_t &result);
    void check_exact(Item &item, const ucd_ucx_result_t &result);
    void check_put(Item &item, const ucd_ucx_result_t &result);
    void check_edges(Item &item);
    void check_windows();

    Net &net_;
    const int self_;
    const Samples &samples_;
    ucdtest::Rng &rng_;
    const Settings &settings_;
    Node *other_ = nullptr;
    ucd_ucx_t pipeline_ = UCD_UCX__NULL;
    ucd_ucx_t rma_ = UCD_UCX__NULL;
    ucd_ucx_window_t vault_window_ = UCD_UCX_WINDOW__NULL;
    ucd_ucx_window_t public_window_ = UCD_UCX_WINDOW__NULL;
    ucd_ucx_window_key_t vault_key_ = {}, public_key_ = {};
    unsigned char *public_memory_ =
        nullptr; // of the window: that of `public_`, or what the library allocates
    Guarded vault_{slots * slot_bytes}, public_{public_bytes};
    Guarded vault_model_{slots * slot_bytes}; // what the vault should be
    std::array<Slot, slots> slots_;           // of the other's vault
    std::vector<std::unique_ptr<Item>> items_;
    std::vector<Held> held_;
    std::map<std::string, std::string> awaited_; // of the other: header, contents
    std::uint64_t number_ = 0;
    bool honest_possible_ = true;
};

} // namespace ucdfuzz
