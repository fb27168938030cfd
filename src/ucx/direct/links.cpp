#include "direct/links.h"

#include "direct/attachable_memory.h"

#include <algorithm>
#include <cstring>
#include <sodium.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <ucd_memory.h>
#include <unistd.h>

namespace ucd_ucx {

// All messages on the socket have this form.
struct LinkMessage {
    static constexpr uint32_t expected_letters = 0x4c444355; // "UCDL"
    enum class About : uint32_t { token = 1, key, pass, recall };
    uint32_t letters = expected_letters;
    About about = About::token;
    uint64_t first = 0, count = 0; // of descriptors
    LinkKey secret = {};           // the token, or the key
};

namespace {

constexpr uint64_t listening_tag = 0; // no link has this address

constexpr std::chrono::milliseconds between_retries{1};

std::size_t default_limit() {
    rlimit limit = {};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur / 4, 16384));
}

// Whether what has no meaning in such a message is 0, so that a later version can give it one.
bool unused_are_zero(const LinkMessage &message) {
    using About = LinkMessage::About;
    const bool has_numbers = message.about == About::pass || message.about == About::recall;
    const auto used = message.about == About::token ? sizeof(SocketName)
                      : message.about == About::key ? message.secret.size()
                                                    : 0;
    return (has_numbers || (message.first == 0 && message.count == 0)) &&
           std::all_of(message.secret.begin() + used, message.secret.end(),
                       [](unsigned char byte) { return byte == 0; });
}

bool send(const FileDescriptor &socket, const LinkMessage &message,
          std::span<const int> passed = {}) {
    return send_message(socket.get(), &message, sizeof message, passed);
}

} // namespace

// Link ------------------------------------------------------------------------

Mac Link::authenticate(const void *data, std::size_t bytes) const {
    Mac mac;
    (void)crypto_generichash(mac.data(), mac.size(), static_cast<const unsigned char *>(data),
                             bytes, key_.data(), key_.size());
    return mac;
}

bool Link::is_authentic(const void *data, std::size_t bytes, const Mac &mac) const {
    const Mac expected = authenticate(data, bytes);
    return sodium_memcmp(expected.data(), mac.data(), mac.size()) == 0;
}

bool Link::admits(uint64_t number) {
    if (number <= number_) return false;
    number_ = number;
    return true;
}

bool Link::pass(std::span<const int> descriptors, uint64_t *first) {
    if (state_ != LinkState::up || descriptors.empty() || descriptors.size() > max_passed)
        return false;
    const LinkMessage message = {
        .about = LinkMessage::About::pass, .first = next_passed_, .count = descriptors.size()};
    if (!send(socket_, message, descriptors)) return false;
    *first = next_passed_;
    next_passed_ += descriptors.size();
    return true;
}

bool Link::recall(uint64_t first, uint64_t count) {
    const LinkMessage message = {
        .about = LinkMessage::About::recall, .first = first, .count = count};
    return state_ == LinkState::up && send(socket_, message);
}

bool Link::pass_memory(const ucd_ipc_handle_t &handle, std::span<const int> descriptors,
                       PassedRange &range) {
    if (again_ > max_again) return false;
    ranges_.reserve(max_ranges);
    range = {next_passed_, 0};
    while (range.count < descriptors.size()) {
        const auto left = descriptors.subspan(range.count);
        const auto some = left.first(std::min(left.size(), max_passed));
        uint64_t first;
        if (!pass(some, &first)) {
            if (range.count > 0) (void)recall(range.first, range.count);
            return false;
        }
        range.count += static_cast<uint32_t>(some.size());
    }
    if (ranges_.size() == max_ranges) {
        const PassedRange &oldest = ranges_.front().range;
        (void)recall(oldest.first, oldest.count); // else the reader's limits do it
        ranges_.erase(ranges_.begin());
    }
    ranges_.push_back({handle, range});
    return true;
}

bool Link::has_passed(const ucd_ipc_handle_t &handle, PassedRange &range) const {
    const auto found = std::find_if(ranges_.begin(), ranges_.end(), [&](const PassedTo &passed) {
        return is_same(passed.handle, handle);
    });
    if (found != ranges_.end()) range = found->range;
    return found != ranges_.end();
}

void Link::pass_again(const ucd_ipc_handle_t &handle) {
    ++again_;
    std::erase_if(ranges_, [&](const PassedTo &passed) { return is_same(passed.handle, handle); });
}

bool Link::has_to_be_sent(const ContentId &type) {
    if (std::find(sent_types_.begin(), sent_types_.end(), type) != sent_types_.end()) return false;
    if (sent_types_.size() == max_sent_types) sent_types_.clear();
    // Must not fail, because the transfer has begun. Without memory, the type is sent again.
    (void)without_exceptions([&] {
        sent_types_.push_back(type);
        return success;
    });
    return true;
}

int Link::passed(uint64_t number) const {
    const auto found = passed_.find(number);
    return found == passed_.end() ? -1 : found->second.descriptor.get();
}

void Link::close_passed(uint64_t first, uint64_t count) {
    passed_.erase(passed_.lower_bound(first),
                  count > UINT64_MAX - first ? passed_.end() : passed_.lower_bound(first + count));
}

// Links -----------------------------------------------------------------------

Links::Links(Ledger &ledger, const LinkLimits &limits) : ledger_(ledger), limits_(limits) {
    if (limits_.descriptors == 0) limits_.descriptors = default_limit();
}

bool Links::open() {
    if (events_) return true;
    if (has_room(1)) events_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
    if (events_) events_.count_in(open_descriptors);
    return static_cast<bool>(events_);
}

bool Links::watch(FileDescriptor &descriptor, uint64_t tag) const {
    descriptor.count_in(open_descriptors);
    return descriptor.watch(events_.get(), tag);
}

Link *Links::find(ucp_ep_h ep, bool owns) const {
    const auto peer = peers_.find(ep);
    if (peer == peers_.end()) return nullptr;
    Link *const link = (owns ? peer->second.to_reader : peer->second.to_owner).get();
    return link != nullptr && link->state_ == Link::LinkState::up ? link : nullptr;
}

void Links::close(ucp_ep_h ep) {
    const auto found = peers_.find(ep);
    if (found == peers_.end()) return;
    std::erase(waiting_, found->second.to_owner.get());
    peers_.erase(found);
    std::erase_if(ended_, [ep](const LinkEnd &end) { return end.ep == ep; });
}

LinkEnd Links::take_end() {
    if (ended_.empty()) return {};
    const LinkEnd end = ended_.back();
    ended_.pop_back();
    return end;
}

// The owner -------------------------------------------------------------------

std::optional<Introduction> Links::introduce(ucp_ep_h ep) {
    LinksOfPeer &peer = peers_[ep];
    if (peer.token || peer.to_reader != nullptr || !open()) return std::nullopt;
    if (!listening_ && has_room(1)) {
        fill_randomly(name_.data(), name_.size());
        listening_ = listen_at(name_, limits_.backlog);
        if (listening_ && !watch(listening_, listening_tag)) listening_ = FileDescriptor();
    }
    if (!listening_) return std::nullopt;
    SocketName token;
    fill_randomly(token.data(), token.size());
    peer.token = token;
    return Introduction{name_, token};
}

// Whoever knows the socket's name may connect, and names of such sockets are public. So connections
// of other users are closed at once, and there is a limit on those that show no token.
void Links::accept() {
    FileDescriptor socket = accept_from(listening_.get());
    PeerProcess peer;
    if (!socket || !find_peer(socket.get(), peer)) return;
    while (!accepted_.empty() && (accepted_.size() >= limits_.accepted || !has_room(2)))
        accepted_.erase(accepted_.begin());
    if (!has_room(2)) return;
    accepted_.emplace_back(
        std::unique_ptr<Link>(new Link(nullptr, true, Link::LinkState::accepted)));
    Link &link = *accepted_.back();
    link.socket_ = std::move(socket);
    link.peer_ = std::move(peer);
    if (!watch(link)) accepted_.pop_back();
}

bool Links::take_token(Link &link, const SocketName &token) {
    const auto found = std::find_if(peers_.begin(), peers_.end(), [&](const auto &peer) {
        const std::optional<SocketName> &sent = peer.second.token;
        return sent && sodium_memcmp(sent->data(), token.data(), token.size()) == 0;
    });
    if (found == peers_.end()) return false;
    auto &[ep, peer] = *found;
    link.charge_ = ledger_.take(ep, bytes_of_link, LedgerUse::request);
    peer.token.reset(); // it admits one connection
    if (!link.charge_) return false;
    fill_randomly(link.key_.data(), link.key_.size());
    if (!send(link.socket_, {.about = LinkMessage::About::key, .secret = link.key_})) return false;
    const auto at = std::find_if(accepted_.begin(), accepted_.end(),
                                 [&](const auto &other) { return other.get() == &link; });
    link.ep_ = ep;
    link.state_ = Link::LinkState::up;
    peer.to_reader = std::move(*at);
    accepted_.erase(at);
    return true;
}

// The reader ------------------------------------------------------------------

void Links::connect(ucp_ep_h ep, const Introduction &introduction) {
    Charge charge = ledger_.take(ep, bytes_of_link, LedgerUse::request);
    if (!charge || !open()) return;
    LinksOfPeer &peer = peers_[ep];
    if (peer.to_owner != nullptr) return;
    // charged: each link. Now, because nobody connects a link again that is not in the list.
    waiting_.reserve(waiting_.size() + 1);
    peer.to_owner.reset(new Link(ep, false, Link::LinkState::waiting));
    Link &link = *peer.to_owner;
    link.charge_ = std::move(charge);
    link.introduction_ = introduction;
    try_connect(link);
}

// take() says why the owner is the process that the link refers to.
void Links::try_connect(Link &link) {
    const Connected connected =
        has_room(2) ? connect_to(link.introduction_.socket, link.socket_) : Connected::no;
    if (connected == Connected::not_now) { // the owner has to accept others first
        waiting_.push_back(&link);
        return;
    }
    LinkMessage message;
    std::copy(link.introduction_.token.begin(), link.introduction_.token.end(),
              message.secret.begin());
    if (connected == Connected::yes && find_peer(link.socket_.get(), link.peer_) && watch(link) &&
        send(link.socket_, message)) {
        link.state_ = Link::LinkState::greeting;
        return;
    }
    end(link, false);
}

bool Links::watch(Link &link) const {
    const uint64_t tag = reinterpret_cast<uintptr_t>(&link);
    return watch(link.peer_.reference, tag + 1) && watch(link.socket_, tag);
}

bool Links::take_passed(Link &link, const LinkMessage &message, SocketMessage &heard) {
    if (message.first != link.next_passed_ || message.count != heard.passed.size()) return false;
    // First, so that the next message is the expected one also if there is no memory for this one.
    link.next_passed_ += message.count;
    for (uint64_t number = message.first; FileDescriptor & descriptor : heard.passed) {
        // One that is refused is closed. Offers that name it are then not taken.
        if (link.passed_.size() < limits_.passed && has_room(1)) {
            Charge charge = ledger_.take(link.ep_, bytes_of_passed, LedgerUse::type);
            if (charge) {
                descriptor.count_in(open_descriptors);
                link.passed_[number] = {std::move(descriptor), std::move(charge)};
            }
        }
        ++number;
    }
    return true;
}

// Messages --------------------------------------------------------------------

// The key comes from the owner's process, and from the one that the link refers to: the reader
// opened that before it showed the token, so the sender of the answer had the pid later, and that
// process has not ended since.
bool Links::take(Link &link, const LinkMessage &message, SocketMessage &heard) {
    using About = LinkMessage::About;
    using enum Link::LinkState;
    if (message.letters != LinkMessage::expected_letters || !unused_are_zero(message)) return false;
    switch (message.about) {
    case About::token: {
        SocketName token;
        std::copy_n(message.secret.begin(), token.size(), token.begin());
        return link.state_ == accepted && heard.passed.empty() && take_token(link, token);
    }
    case About::key:
        if (link.state_ != greeting || !heard.passed.empty() || heard.pid != link.peer_.pid ||
            link.peer_has_ended())
            return false;
        link.key_ = message.secret;
        link.state_ = up;
        return true;
    case About::pass: return link.state_ == up && !link.owns_ && take_passed(link, message, heard);
    case About::recall:
        if (link.state_ != up || link.owns_ || !heard.passed.empty() ||
            message.count > link.next_passed_ || message.first > link.next_passed_ - message.count)
            return false;
        link.close_passed(message.first, message.count);
        return true;
    }
    return false;
}

bool Links::hear(Link &link) {
    LinkMessage message;
    SocketMessage heard;
    const Heard result = read_message(link.socket_.get(), &message, sizeof message, heard);
    if (result == Heard::nothing) return false;
    const bool is_good = result == Heard::message && !heard.lost && heard.bytes == sizeof message &&
                         take(link, message, heard);
    if (!is_good) end(link, false);
    return is_good;
}

// What an offer names was passed before the offer was sent, so it is here already.
void Links::take_passed_by(ucp_ep_h ep) {
    constexpr int max_messages = 2 * (UCD_IPC__MAX_FDS / max_passed + 1);
    for (int i = 0; i < max_messages; ++i) {
        Link *const link = find(ep, false);
        if (link == nullptr || !hear(*link)) return;
    }
}

// If the process has not ended, it is still watched: if it ends, its sockets close first, and the
// end has to be told, too.
void Links::end(Link &link, bool is_process) {
    using enum Link::LinkState;
    if (link.ep_ == nullptr) {
        std::erase_if(accepted_, [&](const auto &other) { return other.get() == &link; });
        return;
    }
    if (is_process ? link.state_ != greeting : link.state_ == up && !link.owns_)
        ended_.push_back({link.ep_, is_process});
    link.socket_ = FileDescriptor();
    if (is_process) link.peer_.reference = FileDescriptor();
    link.passed_.clear();
    link.state_ = is_process ? ended : closed;
}

// Progress --------------------------------------------------------------------

bool Links::progress() {
    if (!events_) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_) return false;
    next_look_ = now + interval;
    if (!waiting_.empty() && now >= next_retry_) {
        next_retry_ = now + between_retries;
        std::vector<Link *> again;
        // charged: each link. Before the swap, so that none gets lost if this fails.
        again.reserve(waiting_.size());
        again.swap(waiting_);
        for (Link *link : again) try_connect(*link);
    }
    // One at a time, since each may remove links. The number is limited, so that a flood of
    // messages cannot keep this thread here.
    constexpr int at_a_time = 32;
    int any = 0;
    epoll_event event;
    for (; any < at_a_time && ::epoll_wait(events_.get(), &event, 1, 0) == 1; ++any) {
        if (event.data.u64 == listening_tag) {
            accept();
            continue;
        }
        const bool is_process = event.data.u64 % 2 == 1;
        Link &link = *reinterpret_cast<Link *>(event.data.u64 - (is_process ? 1 : 0));
        if (is_process)
            end(link, true);
        else
            (void)hear(link);
    }
    return any > 0;
}

} // namespace ucd_ucx
