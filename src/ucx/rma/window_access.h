// Direct access to windows of other processes of this machine that trust this one, without
// messages: in memory that both have mapped, if the owner has let the library allocate it.
#pragma once

#include "common/ledger.h"
#include "direct/links.h"
#include "rma/access_page.h"
#include "rma/rma_arguments.h"
#include "rma/window_memory.h"

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ucd_ucx::rma {

class OneSided;

// What an owner grants to one origin. It is authenticated by the key of their link.
struct WindowGrant {
    uint64_t letters = expected_letters; // nothing else that the key authenticates begins so
    ContentId window = {};               // from its key, which the origin has shown
    uint64_t place = 0, generation = 0;  // on the access page
    uint64_t base = no_address;          // is not read
    uint64_t bytes = 0;                  // of the window
    uint64_t descriptor = 0;             // of the page: its number on the link
    uint64_t memory = not_shared;        // of the window's memory, the same
    uint64_t origin = 0;                 // its number when it has the turn (WindowMemory)
    static constexpr uint64_t not_shared = UINT64_MAX;
    // Version 0.3.0 accesses the owner's memory at `base` by system calls until it has mapped the
    // window. Nothing is ever mapped here, so these calls fail, and it sends a message.
    static constexpr uint64_t no_address = uint64_t{0xff80} << 48;
    static constexpr uint64_t expected_letters = 0x544e415247444355; // "UCDGRANT"
};

struct GrantMessage {
    WindowGrant grant;
    Mac mac = {};
};

// The caller holds the lock.
class WindowAccess {
public:
    explicit WindowAccess(OneSided &rma) : rma_(rma) {}

    // At the target, when an operation on the window has come: takes the next step towards a grant.
    void offer(ucp_ep_h ep, const ucd_ucx_window &window);
    // Withdraws all grants of a window. Returns false if an origin may be accessing some window
    // now.
    bool withdraw(const ucd_ucx_window &window);
    // Whether the owner has the turn to accumulate now. It takes the turn of an origin that has
    // ended.
    bool take_turn(WindowMemory &memory) const;

    // At the origin:
    void take_introduction(ucp_ep_h ep, std::string_view message);
    void take_grant(ucp_ep_h ep, std::string_view message);
    // Does the operation. Returns nothing if it has to go by message; part of the data of a put or
    // a get may have moved by then. An accumulate that has failed may be done in part.
    std::optional<Status> move(const CheckedArguments &arguments, ucp_ep_h ep);

    void on_endpoint_failed(ucp_ep_h ep);
    void on_link_ended(ucp_ep_h ep);

    static constexpr std::size_t max_retired = 64;

private:
    // An owner's side of an endpoint.
    struct Granted {
        std::unique_ptr<AccessPage> page;
        FileDescriptor process; // the origin
        FileDescriptor
            lifeline; // a pipe of which the origin has the other end while it has the link
        std::vector<const ucd_ucx_window *> windows; // by their places; null: free
        uint64_t descriptor = 0;                     // of the page
        uint64_t number = 0;                         // of the origin when it has the turn
        Charge charge;
        bool is_introduced = false, is_refused = false;
        // A process that calls execve does not end, but its descriptors are closed. One that ends
        // may leave them to a child.
        bool has_left() const { return has_ended(process.get()) || has_ended(lifeline.get()); }
        bool is_in_use() const { return page != nullptr && page->is_in_use() && !has_left(); }
    };
    struct Claimed : GrantMessage {
        std::unique_ptr<WindowMemory> memory; // null: not mapped yet
        Charge charge;
    };
    // An origin's side.
    struct Claims {
        std::unordered_map<ContentId, Claimed, HashOfId> windows;
        std::unique_ptr<AccessPage> page; // the same for all of them
    };
    void say(ucp_ep_h ep, Verb verb, const void *data, std::size_t bytes);
    bool open_page(ucp_ep_h ep, Granted &granted);
    void forget_retired();
    // Drops claims to windows that are gone, and an earlier claim to `window`. Returns the charges
    // of those that stay.
    uint64_t forget_gone(Link *link, Claims &claims, const ContentId &window);
    static bool is_authentic(const Link &link, const Claimed &claimed);
    static std::optional<bool> open(Link &link, Claims &claims, Claimed &claimed);
    std::optional<Status> move_mapped(const CheckedArguments &arguments, ucp_ep_h ep,
                                      const ucd_layout_t &layout, Claimed &claimed);
    Status copy(const Data &from, const void *from_buf, const Data &to, void *to_buf,
                const ucd_layout_t &target, ucd_op_t op);

    OneSided &rma_;
    // Those of lost endpoints are retired: they have no endpoint, and stay as long as their origins
    // are at work. They are on no account, so there is a limit: beyond it, no endpoint is granted
    // anything new.
    std::unordered_multimap<ucp_ep_h, Granted> granted_;
    std::unordered_map<ucp_ep_h, Claims> claims_;
};

} // namespace ucd_ucx::rma
