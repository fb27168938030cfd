// Ties UCX endpoints to processes of this machine, for transfers and one-sided operations that
// access the other process's memory.
//
// The owner of memory introduces itself over UCX: it sends the name of a socket, and a token that
// it has drawn for this endpoint. The reader connects and shows the token; the owner then draws a
// key for this endpoint and sends it over the socket, and later descriptors of the memory. From
// then on the owner authenticates what it offers over UCX by this key. Both sides know from the
// kernel, not from a message, that the other is of the same user, and when its process ends. No
// transfer waits for any of this: until there is a link, it takes another route.
#pragma once

#include "common/ledger.h"
#include "common/tokens.h"
#include "direct/local_socket.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <ucd_memory.h>
#include <ucp/api/ucp.h>
#include <unordered_map>
#include <vector>

namespace ucd_ucx {

// What the owner of memory sends over UCX.
struct Introduction {
    SocketName socket = {};
    SocketName token = {};
};

using Mac = std::array<unsigned char, 16>;
using LinkKey = std::array<unsigned char, 32>;

struct LinkMessage;

// The numbers of descriptors that were passed, at the reader.
struct PassedRange {
    uint64_t first = 0;
    uint32_t count = 0; // 0: none are needed
};

// One endpoint's connection with the process behind it.
class Link {
public:
    ucp_ep_h ep() const { return ep_; }
    // The process at the other end. Its pid may be used again when it has ended.
    pid_t pid() const { return peer_.pid; }
    bool peer_has_ended() const { return has_ended(peer_.reference.get()); }

    // Authenticates bytes by the key that only the two processes know.
    Mac authenticate(const void *data, std::size_t bytes) const;
    bool is_authentic(const void *data, std::size_t bytes, const Mac &mac) const;
    // What is authenticated has a number, so that it cannot be used twice. The owner counts up; the
    // reader admits only numbers that are higher than all before.
    uint64_t next_number() { return ++number_; }
    bool admits(uint64_t number);

    // Passes descriptors to the reader, which finds them by their numbers from *first on. Returns
    // false if there is no room for them at present, or if they are too many.
    bool pass(std::span<const int> descriptors, uint64_t *first);
    // The reader closes them.
    bool recall(uint64_t first, uint64_t count);
    // Same as `pass`, as many messages as needed, for memory that `handle` names: the owner
    // remembers that the reader has it. Returns false if it cannot be passed at present.
    bool pass_memory(const ucd_ipc_handle_t &handle, std::span<const int> descriptors,
                     PassedRange &range);
    // Whether the reader has had the descriptors of this memory, and has them still.
    bool has_passed(const ucd_ipc_handle_t &handle, PassedRange &range) const;
    // The reader does not have the memory (any more): it is passed again, a few times.
    void pass_again(const ucd_ipc_handle_t &handle);
    // Whether the reader has to be sent the type; if so, it counts as sent from now on.
    bool has_to_be_sent(const ContentId &type);
    // The reader does not know it any more.
    void send_again(const ContentId &type) { std::erase(sent_types_, type); }
    // The descriptor of this number, at the reader; -1 if there is none.
    int passed(uint64_t number) const;
    // Closes descriptors at the reader, which has what it needs of them.
    void close_passed(uint64_t first, uint64_t count);

private:
    friend class Links;
    enum class LinkState : uint8_t {
        waiting,  // the reader could not connect yet, and tries again
        greeting, // the reader has shown its token
        accepted, // the owner waits for a token
        up,
        closed, // the other side has closed the connection, but its process may live
        ended,  // its process has ended
    };
    struct Passed {
        FileDescriptor descriptor;
        Charge charge;
    };
    struct PassedTo {
        ucd_ipc_handle_t handle;
        PassedRange range;
    };
    static constexpr std::size_t max_ranges = 64; // as many as a reader keeps open
    static constexpr unsigned max_again = 100;
    static constexpr std::size_t max_sent_types = 256;
    Link(ucp_ep_h ep, bool owns, LinkState state) : ep_(ep), owns_(owns), state_(state) {}

    ucp_ep_h ep_;     // null until a token has come
    const bool owns_; // the memory; else it reads
    LinkState state_;
    Introduction introduction_; // of the owner, at the reader
    PeerProcess peer_;
    FileDescriptor socket_;
    LinkKey key_ = {};
    uint64_t number_ = 0;               // the last one that was drawn, or that has come
    uint64_t next_passed_ = 0;          // the number of the next descriptor
    std::map<uint64_t, Passed> passed_; // at the reader
    // At the owner: memory that the reader has, the oldest first, and types.
    std::vector<PassedTo> ranges_;
    unsigned again_ = 0;
    std::vector<ContentId> sent_types_;
    Charge charge_;
};

// The process at the other end has ended, or an owner has closed the link.
struct LinkEnd {
    ucp_ep_h ep = nullptr; // null: there is none
    bool is_process = false;
};

struct LinkLimits {
    int backlog = 16;            // connections that the kernel keeps until progress takes them
    std::size_t accepted = 16;   // connections that have not shown a token
    std::size_t descriptors = 0; // of all links of this process; 0: a quarter of what it may have
    std::size_t passed = 1024;   // descriptors on one link
};

class Links {
public:
    // How often progress looks at the sockets.
    static constexpr std::chrono::microseconds interval{20};
    // The memory that a link takes, and a descriptor that was passed, with the kernel's part.
    static constexpr uint64_t bytes_of_link = 4096, bytes_of_passed = 1024;

    explicit Links(Ledger &ledger, const LinkLimits &limits = {});
    Links(const Links &) = delete;
    Links &operator=(const Links &) = delete;

    // At the owner: what to send to a peer. Empty if that was sent before, or if no socket can be
    // opened.
    std::optional<Introduction> introduce(ucp_ep_h ep);
    // At the reader: a peer has introduced itself. Ignored if it has done so before.
    void connect(ucp_ep_h ep, const Introduction &introduction);

    // The link through which the process behind `ep` reads this one's memory, and the other way
    // round; null if there is none that is up.
    Link *to_reader(ucp_ep_h ep) const { return find(ep, true); }
    Link *to_owner(ucp_ep_h ep) const { return find(ep, false); }

    // Accepts, greets, takes descriptors, and notices ends. Returns whether anything has happened.
    // May be repeated if it throws std::bad_alloc.
    bool progress();
    // At the reader: takes what the owner has passed by now.
    void take_passed_by(ucp_ep_h ep);
    // The next end of a link. The other link of the endpoint stays until `close`.
    LinkEnd take_end();
    // The endpoint is not used any more.
    void close(ucp_ep_h ep);

    // Open ones of this process. If threads open some at the same time, each may exceed the limit
    // by one link.
    static std::size_t descriptors() { return open_descriptors; }
    std::size_t accepted() const { return accepted_.size(); }

private:
    struct LinksOfPeer {
        std::unique_ptr<Link> to_reader, to_owner; // null: none
        std::optional<SocketName> token;           // sent, and not shown yet
    };

    Link *find(ucp_ep_h ep, bool owns) const;
    bool open();
    bool has_room(std::size_t more) const { return descriptors() + more <= limits_.descriptors; }
    // The tag of an event is the address of its link, plus 1 if the event is about the process and
    // not the socket. Whoever is closed is not watched any more, so the link exists.
    bool watch(FileDescriptor &descriptor, uint64_t tag) const;
    bool watch(Link &link) const;
    void try_connect(Link &link);
    void accept();
    // Takes a message. Returns false if there is none, or if the link is closed.
    bool hear(Link &link);
    // Returns false if the message violates the protocol.
    bool take(Link &link, const LinkMessage &message, SocketMessage &heard);
    bool take_token(Link &link, const SocketName &token);
    bool take_passed(Link &link, const LinkMessage &message, SocketMessage &heard);
    // Closes the link: its process has ended, or its socket is of no use.
    void end(Link &link, bool is_process);

    static inline std::atomic<std::size_t> open_descriptors = 0;
    Ledger &ledger_;
    LinkLimits limits_;
    SocketName name_ = {};
    FileDescriptor listening_;
    std::unordered_map<ucp_ep_h, LinksOfPeer> peers_;
    std::vector<std::unique_ptr<Link>> accepted_; // without an endpoint, the oldest first
    std::vector<Link *> waiting_;
    std::vector<LinkEnd> ended_;
    std::chrono::steady_clock::time_point next_look_, next_retry_;
    // What is watched. It is the last member, and so closed first: a child process that ends its
    // copy of this object must not change what its parent watches.
    FileDescriptor events_;
};

} // namespace ucd_ucx
