#include "rma/window_access.h"

#include "common/tokens.h"
#include "rma/one_sided.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace ucd_ucx::rma {
namespace {

// The call does not return before the data has moved, and the lock is held.
constexpr uint64_t max_accessed = 1 << 20;
// Others may wait for their turn meanwhile.
constexpr uint64_t max_accumulated = 64 << 10;

template <class Struct>
bool read_struct(std::string_view message, Struct &out) {
    if (message.size() != Preamble::bytes + sizeof out) return false;
    std::memcpy(static_cast<void *>(&out), message.data() + Preamble::bytes, sizeof out);
    return true;
}

} // namespace

// The owner -------------------------------------------------------------------

// Losing such a message costs performance only.
void WindowAccess::say(ucp_ep_h ep, Verb verb, const void *data, std::size_t bytes) {
    (void)without_exceptions([&] {
        const Data said = {data, bytes, UCD_TYPE__BYTE, &rma_.engine.for_host};
        bool refused;
        return rma_.messages.send_answer(ep, {Encoded(Preamble{verb}), said, bytes},
                                         LedgerUse::message, &refused, true);
    });
}

// Each call takes one step for this origin, and no operation waits for it: first the introduction,
// then the page, then a grant for each window that the origin uses.
void WindowAccess::offer(ucp_ep_h ep, const ucd_ucx_window &window) {
    if (window.shared == nullptr) return; // no other process can map it
    auto known = granted_.find(ep);
    if (known == granted_.end()) known = granted_.emplace(ep, Granted());
    Granted &granted = known->second;
    if (granted.is_refused ||
        std::find(granted.windows.begin(), granted.windows.end(), &window) != granted.windows.end())
        return;
    if (!std::exchange(granted.is_introduced, true)) {
        const std::optional<Introduction> introduction = rma_.engine.links.introduce(ep);
        if (introduction) say(ep, Verb::introduction, &*introduction, sizeof *introduction);
        return;
    }
    if (rma_.engine.links.to_reader(ep) == nullptr) return;
    if (granted.page == nullptr && !open_page(ep, granted)) {
        granted.is_refused = true;
        return;
    }
    auto place = std::find(granted.windows.begin(), granted.windows.end(), nullptr);
    if (place == granted.windows.end()) {
        if (granted.windows.size() >= AccessPage::max_windows) return;
        place = granted.windows.insert(place, nullptr);
    }
    GrantMessage message;
    message.grant.window = window.name;
    message.grant.place = static_cast<uint64_t>(place - granted.windows.begin());
    message.grant.generation = random_token();
    message.grant.bytes = window.bytes;
    message.grant.descriptor = granted.descriptor;
    message.grant.origin = granted.number;
    Link *const link = rma_.engine.links.to_reader(ep);
    const int descriptor = window.shared->descriptor();
    if (!link->pass({&descriptor, 1}, &message.grant.memory)) return;
    message.mac = link->authenticate(&message.grant, sizeof message.grant);
    *place = &window;
    granted.page->grant(message.grant.place, message.grant.generation);
    say(ep, Verb::grant, &message, sizeof message);
}

// A hostile origin could seem to be at work on the pages of all endpoints that it has had.
bool WindowAccess::open_page(ucp_ep_h ep, Granted &granted) {
    forget_retired();
    if (granted_.count(nullptr) >= max_retired) return false;
    Link *const link = rma_.engine.links.to_reader(ep);
    granted.charge = rma_.engine.ledger.take(ep, 2 * AccessPage::bytes, LedgerUse::request);
    if (!granted.charge) return false;
    granted.windows.reserve(AccessPage::max_windows);
    FileDescriptor descriptor;
    std::unique_ptr<AccessPage> page = AccessPage::make(descriptor);
    granted.process = refer_to(link->pid());
    if (page == nullptr || !granted.process || link->peer_has_ended()) return false;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    const FileDescriptor its_end(ends[0]);
    granted.lifeline = FileDescriptor(ends[1]);
    // If the origin has no room for its end of the lifeline, it has none for the page either.
    const int passed[] = {its_end.get(), descriptor.get()};
    if (!link->pass(passed, &granted.descriptor)) return false;
    ++granted.descriptor;
    granted.page = std::move(page);
    granted.number = random_token() | 2; // neither 0 nor that of the owner
    return true;
}

bool WindowAccess::withdraw(const ucd_ucx_window &window) {
    bool is_free = true;
    for (auto &[ep, granted] : granted_) {
        const auto place = std::find(granted.windows.begin(), granted.windows.end(), &window);
        if (place != granted.windows.end()) {
            granted.page->withdraw(static_cast<std::size_t>(place - granted.windows.begin()));
            *place = nullptr;
        }
        is_free &= !granted.is_in_use();
    }
    forget_retired();
    return is_free;
}

void WindowAccess::forget_retired() {
    std::erase_if(granted_,
                  [](const auto &g) { return g.first == nullptr && !g.second.is_in_use(); });
}

bool WindowAccess::take_turn(WindowMemory &memory) const {
    if (memory.take_turn(WindowMemory::owner)) return true;
    // An origin that is not known any more was not at work when its endpoint was lost.
    const uint64_t other = memory.whose_turn();
    for (const auto &[ep, granted] : granted_)
        if (granted.number == other && !granted.has_left()) return false;
    return memory.take_turn_from(other, WindowMemory::owner);
}

// The origin --------------------------------------------------------------------

void WindowAccess::take_introduction(ucp_ep_h ep, std::string_view message) {
    Introduction introduction;
    if (rma_.engine.options.direct != Trust::none && read_struct(message, introduction))
        rma_.engine.links.connect(ep, introduction);
}

// It is opened when it is used: the link and the descriptors may come later than the message.
void WindowAccess::take_grant(ucp_ep_h ep, std::string_view message) {
    Claimed given;
    GrantMessage &said = given;
    if (rma_.engine.options.direct == Trust::none || !read_struct(message, said) ||
        given.grant.memory == WindowGrant::not_shared || !rma_.origin.uses(ep, given.grant.window))
        return;
    Claims &claims = claims_[ep];
    const uint64_t held = forget_gone(rma_.engine.links.to_owner(ep), claims, given.grant.window);
    constexpr uint64_t with_entry_and_page = sizeof(Claimed) + 64 + AccessPage::bytes;
    const uint64_t bytes = with_entry_and_page + WindowMemory::cost_of_mapping(given.grant.bytes);
    // Half of what there is, so that operations can still wait.
    Ledger &ledger = rma_.engine.ledger;
    if (claims.windows.size() >= EndpointOrder::max_windows ||
        !ledger.is_possible(2 * (held + bytes), LedgerUse::request))
        return;
    given.charge = ledger.take(ep, bytes, LedgerUse::request);
    if (given.charge) claims.windows[given.grant.window] = std::move(given);
}

uint64_t WindowAccess::forget_gone(Link *link, Claims &claims, const ContentId &window) {
    // Without a page, no window was opened yet. The first grant's page is that of all.
    if (const auto first = claims.windows.begin(); claims.page == nullptr && link != nullptr &&
                                                   first != claims.windows.end() &&
                                                   is_authentic(*link, first->second))
        claims.page = AccessPage::open(link->passed(first->second.grant.descriptor));
    uint64_t held = 0;
    std::erase_if(claims.windows, [&](const auto &entry) {
        const auto &[name, claimed] = entry;
        const WindowGrant &grant = claimed.grant;
        const bool is_gone =
            name == window ||
            (claims.page != nullptr && !claims.page->grants(grant.place, grant.generation));
        if (is_gone && claimed.memory == nullptr && link != nullptr && is_authentic(*link, claimed))
            link->close_passed(grant.memory, 1);
        held += is_gone ? 0 : claimed.charge.bytes();
        return is_gone;
    });
    return held;
}

bool WindowAccess::is_authentic(const Link &link, const Claimed &claimed) {
    return claimed.grant.letters == WindowGrant::expected_letters &&
           link.is_authentic(&claimed.grant, sizeof claimed.grant, claimed.mac);
}

// Returns whether the window may be accessed; nothing if its descriptors have not come yet.
std::optional<bool> WindowAccess::open(Link &link, Claims &claims, Claimed &claimed) {
    const WindowGrant &grant = claimed.grant;
    if (claimed.memory != nullptr) return true;
    if (!is_authentic(link, claimed)) return false;
    const int page = link.passed(grant.descriptor), memory = link.passed(grant.memory);
    if (page < 0 || memory < 0) return std::nullopt;
    if (claims.page == nullptr) claims.page = AccessPage::open(page);
    if (claims.page != nullptr) claimed.memory = WindowMemory::open(memory, grant.bytes);
    link.close_passed(grant.memory, 1);
    return claimed.memory != nullptr;
}

std::optional<Status> WindowAccess::move(const CheckedArguments &a, ucp_ep_h ep) {
    const BufferHints *const for_host = &rma_.engine.for_host;
    const auto claims = claims_.find(ep);
    if (claims == claims_.end() || a.bytes == 0 || (a.sends && a.sent.hints != for_host) ||
        (fetches(a.verb) && a.received.hints != for_host))
        return std::nullopt;
    const auto found = claims->second.windows.find(a.window);
    Link *const link = rma_.engine.links.to_owner(ep);
    const ucd_layout_t *layout;
    if (found == claims->second.windows.end() || link == nullptr ||
        !a.type->measure(a.count, layout).ok())
        return std::nullopt;
    Claimed &claimed = found->second;
    const uint64_t most = accumulates(a.verb) ? max_accumulated : max_accessed;
    if (layout->segments == 0 || layout->bytes > most ||
        !is_within(a.displacement, layout->low, layout->high, claimed.grant.bytes))
        return std::nullopt;
    const std::optional<bool> is_open = open(*link, claims->second, claimed);
    if (!is_open) return std::nullopt;
    AccessPage *const page = claims->second.page.get();
    if (!*is_open || !page->begin(claimed.grant.place, claimed.grant.generation)) {
        claims->second.windows.erase(found); // the grant is wrong, or the window is gone
        return std::nullopt;
    }
    std::optional<Status> moved;
    (void)without_exceptions([&] {
        moved = move_mapped(a, ep, *layout, claimed);
        return success;
    });
    page->end();
    return moved;
}

// Copies between the origin's data and the target's, whose layout is given.
Status WindowAccess::copy(const Data &from, const void *from_buf, const Data &to, void *to_buf,
                          const ucd_layout_t &target, ucd_op_t op) {
    const BufferHints &hints = rma_.engine.for_host;
    if (target.contiguous != 0 && from.type == to.type && from.count == to.count)
        return write(op, target, address_at(from_buf, target.low),
                     {to_buf, to.count, to.type, &hints});
    uintptr_t moved;
    return ucd_ok(ucd_copy(from_buf, from.count, from.type, to_buf, to.count, to.type, &moved,
                           hints.info.get(), op));
}

std::optional<Status> WindowAccess::move_mapped(const CheckedArguments &a, ucp_ep_h ep,
                                                const ucd_layout_t &layout, Claimed &claimed) {
    WindowMemory &memory = *claimed.memory;
    const Data there = {nullptr, a.count, a.type->type.get()};
    uint64_t work = Ledger::steps_of_call;
    Overlap overlap = Overlap::none;
    bool refused;
    // The target refuses elements that overlap, also those of a layout that is too long to check.
    if (a.verb != Verb::get &&
        !a.type->find_overlap(a.count, rma_.engine.ledger, ep, work, overlap, &refused).ok())
        return std::nullopt;
    if (overlap != Overlap::none) return std::nullopt;
    char *const target = address_at(memory.base(), a.displacement);
    const auto put = [&] { return copy(a.sent, a.sent.buf, there, target, layout, a.op); };
    const auto fetch = [&] {
        return copy(there, target, a.received, const_cast<void *>(a.received.buf), layout,
                    UCD_OP__REPLACE);
    };
    std::optional<Status> moved;
    if (!accumulates(a.verb)) {
        if ((a.verb == Verb::put ? put() : fetch()).ok()) moved = success;
        return moved;
    }
    if (!memory.take_turn(claimed.grant.origin)) return moved; // another accumulate is at work
    if (!fetches(a.verb) || fetch().ok()) moved = a.sends ? put() : success;
    memory.end_turn();
    return moved;
}

// Ends ------------------------------------------------------------------------------

void WindowAccess::on_endpoint_failed(ucp_ep_h ep) {
    claims_.erase(ep);
    const auto found = granted_.find(ep);
    if (found == granted_.end()) return;
    Granted &granted = found->second;
    for (std::size_t place = 0; place < granted.windows.size(); ++place)
        granted.page->withdraw(place);
    granted.charge.give_back(); // to the account of the endpoint, which is closed
    auto retired = granted_.extract(found);
    retired.key() = nullptr;
    granted_.insert(std::move(retired));
    forget_retired();
}

void WindowAccess::on_link_ended(ucp_ep_h ep) {
    claims_.erase(ep);
}

} // namespace ucd_ucx::rma
