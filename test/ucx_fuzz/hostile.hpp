// A hostile peer: a worker that speaks by UCP's calls alone. It remembers what it was sent, and
// looks at it: nothing but what was meant for it may come.
#pragma once

#include "contents.hpp"
#include "direct_ends.hpp"
#include "net.hpp"
#include "ucx/wire.hpp"

#include <deque>
#include <list>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace ucdfuzz {

using namespace ucdtest::wire; // messages as bytes

// One message to a peer.
struct Message {
    bool tagged = false;
    unsigned am = pipeline_am;
    bool has_header = true; // else data is all
    Header header;
    bool true_length = true; // the header says how long `user` is
    std::string user, data;
    ucp_tag_t tag = 0;
    bool of_alphabet = true; // data is, so that it tells who has sent it
    bool rendezvous = false, reply = true;
    bool sign = false;    // an offer of a direct transfer
    bool is_type = false; // data is a flattened type: nobody receives it as data
    int to = 0, from = honest_peers;

    std::string header_bytes() const;
};

// An operation that waits for an answer.
struct Asked {
    int from = 0, at = honest_peers;
    unsigned verb = get;
    std::uint64_t number = 0, bytes = 0; // of the target's data
};

// What was seen in messages, of all hostile peers together.
struct Knowledge {
    struct Id {
        int node;
        unsigned am;
        std::uint64_t stream, number, total;
    };
    template <class T>
    static void remember(std::deque<T> &values, const T &value) {
        values.push_back(value);
        if (values.size() > 24) values.pop_front();
    }
    std::deque<Id> ids;      // of honest peers
    std::deque<Id> own_ids;  // used by hostile ones
    std::deque<Asked> asked; // operations of honest peers
    struct Handle {
        int node, at; // whose window, and who was told of it
        std::uint64_t handle;
    };
    std::deque<std::uint64_t> totals;
    std::deque<Handle> handles;
    std::deque<std::pair<int, std::uint64_t>> questions; // for types: who asks, of which number
    std::deque<std::string> names;                       // of types
    std::vector<std::string> windows; // whose keys hostile peers have, by their names
    // Of types with an index: who uses it, and who was told.
    std::map<std::tuple<int, int, std::uint32_t>, std::uint64_t> sizes;
    std::set<std::pair<std::uint64_t, std::uint64_t>> of_types; // transfers of flattened types
};

class Hostile {
public:
    Hostile(Net &net, int self, ucdtest::Rng &rng, Knowledge &knowledge, int wire, bool opaque);
    ~Hostile();
    Hostile(const Hostile &) = delete;
    Hostile &operator=(const Hostile &) = delete;

    void send(Message message);
    // Of what is complete, nothing is kept.
    void sweep();
    void settle_held(); // one of the messages that wait here for their data to be fetched
    void release_all();
    std::size_t kept() const; // bytes of its own
    bool is_quiet_with(int node) const;
    bool is_quiet() const { return sent_.empty() && held_.empty() && fetches_.empty(); }
    Writer writer() const { return static_cast<Writer>(hostile_0 + self_ - honest_peers); }

    std::uint64_t messages = 0, bytes = 0;
    DirectEnds direct_ends;

private:
    struct Sent {
        int to;
        void *request;
        std::string header, data;
        ucp_dt_iov_t segment;
    };
    struct Held {
        void *data;
        std::size_t bytes;
        bool is_data; // not a receipt of the ring, nor a type
        int from;
    };
    struct Fetch {
        void *request;
        std::string bytes;
        bool is_data;
        int from;
    };
    struct Receive {
        Hostile *owner = nullptr;
        void *request = nullptr;
        std::string bytes;
        std::size_t length = 0;
        ucs_status_t status = UCS_INPROGRESS;
    };
    struct Channel {
        Hostile *owner = nullptr;
        unsigned am = 0;
    };

    static ucs_status_t on_active(void *channel, const void *header, std::size_t header_bytes,
                                  void *data, std::size_t bytes, const ucp_am_recv_param_t *param);
    static void on_tagged(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                          void *receive);
    int node_of(const ucp_am_recv_param_t &param) const;
    // Whether it has somebody's data.
    bool look_at_message(unsigned am, int node, std::string_view header, std::string_view here);
    bool learn(unsigned am, int node, std::string_view header, std::string_view data,
               std::size_t &prefix);
    void learn_message(int node, std::string_view message, const Header *header,
                       std::size_t data_bytes);
    void learn_access(unsigned verb, std::string_view message);
    void look_at(const char *where, std::string_view bytes) const;
    void post(Receive &receive);
    void set_handler(Channel *channel, unsigned am);
    void fetch(const Held &held);

    Net &net_;
    const int self_;
    ucdtest::Rng &rng_;
    Knowledge &knowledge_;
    const int wire_;
    const bool opaque_;
    std::list<Sent> sent_;
    std::vector<Held> held_;
    std::list<Fetch> fetches_;
    std::array<Receive, 2> receives_;
    std::array<Channel, 2> channels_;
};

} // namespace ucdfuzz
