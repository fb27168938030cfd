#include "direct_ends.hpp"

#include "ucx/wire.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace ucdfuzz {
namespace {

using ucdtest::wire::put_number;

constexpr std::size_t name_bytes = 16, key_bytes = 32, mac_bytes = 16, message_bytes = 56;
constexpr int socket_type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
enum About : unsigned { token = 1, key, pass };

std::string random_bytes(ucdtest::Rng &rng, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) put_number(text, rng.bits(), 8);
    text.resize(bytes);
    return text;
}

socklen_t address_of_name(std::string_view name, sockaddr_un &address) {
    address = {};
    address.sun_family = AF_UNIX;
    std::string text = "ucd-";
    for (const char c : name)
        for (const int shift : {4, 0}) text += "0123456789abcdef"[c >> shift & 15];
    std::copy(text.begin(), text.end(), address.sun_path + 1);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
}

std::string message_of(unsigned about, const std::string &secret, std::uint64_t first = 0,
                       std::uint64_t count = 0) {
    std::string text = "UCDL";
    put_number(text, about, 4);
    put_number(text, first, 8);
    put_number(text, count, 8);
    text += secret;
    text.resize(message_bytes);
    return text;
}

std::string mac_of(std::string_view text, const std::string &key_of_link) {
    unsigned char mac[mac_bytes];
    (void)crypto_generichash(
        mac, sizeof mac, reinterpret_cast<const unsigned char *>(text.data()), text.size(),
        reinterpret_cast<const unsigned char *>(key_of_link.data()), key_of_link.size());
    return {reinterpret_cast<char *>(mac), mac_bytes};
}

} // namespace

std::string encode(const DirectPlace &p) {
    std::string text;
    put_number(text, 0, 8); // see sign
    put_number(text, p.base, 8);
    put_number(text, static_cast<std::uint64_t>(p.low), 8);
    put_number(text, static_cast<std::uint64_t>(p.high), 8);
    put_number(text, p.count, 8);
    text += p.type;
    put_number(text, p.memory, 4);
    put_number(text, p.descriptors, 4);
    put_number(text, p.first_descriptor, 8);
    text += p.handle;
    text.resize(56 + 16 + 128 + mac_bytes);
    return text;
}

DirectEnds::DirectEnds(Writer writer, ucdtest::Rng &rng)
    : rng_(rng), name_(random_bytes(rng, name_bytes)), own_(written_by(writer, own_bytes, rng)),
      hidden_(own_bytes, static_cast<char>(untouched)) {
    // Worlds with one seed follow each other: the name is not known to the kernel any more.
    sockaddr_un address;
    const socklen_t length = address_of_name(name_, address);
    listening_ = socket(AF_UNIX, socket_type, 0);
    if (bind(listening_, reinterpret_cast<sockaddr *>(&address), length) != 0 ||
        listen(listening_, 8) != 0)
        found_fatal("setup", "a socket");
}

DirectEnds::~DirectEnds() {
    if (hidden_.find_first_not_of(static_cast<char>(untouched)) != std::string::npos)
        found(finding::outside, "in memory of a hostile peer that nobody can map");
    while (!connections_.empty()) close_one();
    close(listening_);
    for (Owned &link : owned_) forget_access_page(link);
}

std::string DirectEnds::introduce(int node, unsigned am) {
    std::string &t = owned_[index(node, am)].token;
    if (t.empty() || rng_.chance(10)) t = random_bytes(rng_, name_bytes);
    return name_ + t;
}

bool DirectEnds::sign(int node, std::string &offer) {
    Owned &link = owned_[index(node, pipeline_am)];
    constexpr std::size_t header_bytes = ucdtest::wire::Header::bytes;
    if (link.key.empty() || offer.size() < header_bytes + 32 + mac_bytes) return false;
    std::string number;
    put_number(number, link.number += 1 + rng_.below(2), 8);
    offer.replace(header_bytes, 8, number);
    const std::size_t before = offer.size() - mac_bytes;
    offer.replace(before, mac_bytes, mac_of(std::string_view(offer).substr(0, before), link.key));
    return true;
}

std::string DirectEnds::grant(int node, std::string_view window) {
    Owned &link = owned_[index(node, rma_am)];
    if (link.access_page == nullptr || rng_.chance(10)) pass_access_page(link);
    std::uint64_t place = rng_.below(3);
    const std::uint64_t generation = rng_.bits() | 1;
    if (link.access_page != nullptr && rng_.chance(95)) link.access_page[1 + place] = generation;
    if (rng_.chance(5)) place = rng_.chance(50) ? rng_.bits() : page / 8 - 2 + rng_.below(3);
    // Or longer than it is; nobody accesses so much.
    const std::uint64_t bytes = rng_.chance(95) ? rng_.below(1500) : UINT64_MAX - rng_.below(3);
    std::string text = rng_.chance(97) ? "UCDGRANT" : random_bytes(rng_, 8);
    text += window;
    const std::uint64_t descriptor = rng_.chance(95) ? link.passed - 1 : rng_.bits();
    const std::uint64_t memory = pass_window(link, bytes);
    const std::uint64_t origin = rng_.chance(90) ? rng_.bits() : rng_.below(3);
    for (const std::uint64_t number :
         {place, generation, address_of(bytes), bytes, descriptor, memory, origin})
        put_number(text, number, 8);
    const bool forges = link.key.empty() || rng_.chance(5);
    return text + (forges ? random_bytes(rng_, mac_bytes) : mac_of(text, link.key));
}

void DirectEnds::forget_access_page(Owned &link) {
    if (link.access_page != nullptr) munmap(link.access_page, page);
    link.access_page = nullptr;
}

void DirectEnds::pass_file(Owned &link, int file) {
    std::string text = message_of(pass, "", link.passed, rng_.chance(97) ? 1 : rng_.below(40));
    iovec segment = {text.data(), text.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
    msghdr message = {};
    message.msg_iov = &segment;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr *const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(rights), &file, sizeof file);
    if (sendmsg(link.connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) ++link.passed;
}

// At the end of the memory, so that it is seen if the reader goes beyond. Its size is a wrong one,
// or not fixed, at times; and the memory may be that of an offer before.
void DirectEnds::attach(int node, DirectPlace &place) {
    Owned &link = owned_[index(node, pipeline_am)];
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(place.high) - static_cast<std::uint64_t>(place.low);
    if (link.connection < 0 || bytes > own_bytes) return;
    place.memory = DirectPlace::attached;
    place.descriptors = rng_.chance(95) ? 1 : static_cast<std::uint32_t>(rng_.below(4));
    place.first_descriptor = rng_.chance(95) ? link.passed : rng_.bits();
    if (link.attached.empty() || rng_.chance(50)) {
        const std::uint64_t all = std::max<std::uint64_t>(1, (bytes + page - 1) / page) * page;
        std::string content(all, static_cast<char>(untouched));
        content.replace(all - bytes, bytes, own_, 0, bytes);
        const int file = memfd_create("ucx_fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (::write(file, content.data(), all) != static_cast<ssize_t>(all) ||
            (rng_.chance(5) && ftruncate(file, static_cast<off_t>(rng_.below(2 * all))) != 0))
            found_fatal("setup", "memory to map");
        if (rng_.chance(95))
            (void)fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
        pass_file(link, file);
        close(file);
        const bool is_known = rng_.chance(10); // another's name, or that of the one before
        if (!is_known || link.attached.empty()) {
            link.attached = rng_.chance(97) ? "SHRDHMEM" : random_bytes(rng_, 8);
            put_number(link.attached, rng_.chance(97) ? all : rng_.bits(), 8);
            link.attached += random_bytes(rng_, 16);
            link.attached_bytes = all;
        }
    }
    place.handle = link.attached;
    place.handle.resize(128);
    place.base = link.attached_bytes - bytes - static_cast<std::uint64_t>(place.low);
}

// A window's memory, which the peer may map, with the page for the turn behind it. Its number is of
// none at times, and its size is a wrong one, or not fixed, at times.
std::uint64_t DirectEnds::pass_window(Owned &link, std::uint64_t bytes) {
    if (rng_.chance(50)) return UINT64_MAX;
    if (link.connection < 0 || bytes > own_bytes || rng_.chance(5)) return rng_.bits();
    const int file = memfd_create("ucx_fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const std::uint64_t whole = (bytes + page - 1) / page * page, all = whole + page;
    const std::uint64_t turn = rng_.chance(80) ? 0 : rng_.bits();
    const auto size = static_cast<off_t>(rng_.chance(95) ? all : rng_.below(2 * all));
    if (::pwrite(file, own_.data(), bytes, 0) < 0 ||
        ::pwrite(file, &turn, sizeof turn, static_cast<off_t>(whole)) < 0 ||
        ftruncate(file, size) != 0)
        found_fatal("setup", "a window's memory");
    if (rng_.chance(95)) (void)fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    const std::uint64_t number = link.passed;
    pass_file(link, file);
    close(file);
    return number;
}

// One that is too short, or whose size is not fixed, must not be used.
void DirectEnds::pass_access_page(Owned &link) {
    forget_access_page(link);
    if (link.connection < 0) return;
    int passed = memfd_create("ucx_fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const bool is_page = rng_.chance(95);
    if (ftruncate(passed, static_cast<off_t>(is_page ? page : rng_.below(page))) != 0)
        found_fatal("setup", "ftruncate");
    if (rng_.chance(95))
        (void)fcntl(passed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    pass_file(link, passed);
    if (is_page) {
        void *const memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, passed, 0);
        if (memory == MAP_FAILED) found_fatal("setup", "mmap");
        link.access_page = static_cast<std::uint64_t *>(memory);
    }
    close(passed);
}

std::uint64_t DirectEnds::address_of(std::uint64_t bytes) {
    const std::uint64_t room = own_bytes - std::min<std::uint64_t>(bytes, own_bytes);
    return reinterpret_cast<std::uintptr_t>(hidden_.data()) + rng_.below(room + 1);
}

void DirectEnds::connect(std::string_view introduction) {
    if (introduction.size() != 2 * name_bytes || connections_.size() > 20) return;
    sockaddr_un address;
    const socklen_t length = address_of_name(introduction.substr(0, name_bytes), address);
    const int connection = socket(AF_UNIX, socket_type, 0);
    if (::connect(connection, reinterpret_cast<sockaddr *>(&address), length) != 0) {
        close(connection);
        return;
    }
    connections_.push_back(connection);
    std::string text = message_of(token, std::string(introduction.substr(name_bytes)));
    if (rng_.chance(10)) text = random_bytes(rng_, rng_.below(80) + 1);
    (void)::send(connection, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool DirectEnds::is_authentic(std::string_view grant) {
    for (const int connection : connections_) hear(connection);
    const std::string_view before = grant.substr(0, grant_bytes - mac_bytes);
    return std::any_of(keys_.begin(), keys_.end(), [&](const std::string &k) {
        return mac_of(before, k) == grant.substr(before.size());
    });
}

void DirectEnds::close_one() {
    const std::size_t i = rng_.below(connections_.size());
    const int connection = connections_[i];
    hear(connection);
    for (Owned &link : owned_)
        if (link.connection == connection) link.connection = -1;
    close(connection);
    connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i));
}

void DirectEnds::hear(int connection) {
    constexpr std::size_t before_secret = message_bytes - key_bytes;
    char text[message_bytes];
    for (ssize_t bytes; (bytes = recv(connection, text, sizeof text, MSG_DONTWAIT)) > 0;) {
        const std::string_view heard(text, static_cast<std::size_t>(bytes));
        if (heard.size() != message_bytes) continue;
        if (ucdtest::wire::number_at(heard, 4, 4) == key)
            keys_.emplace_back(heard.substr(before_secret));
        else
            answer(connection, heard.substr(before_secret));
    }
}

// A token is answered by a key, or by anything.
void DirectEnds::answer(int connection, std::string_view shown) {
    for (Owned &link : owned_) {
        if (link.token.empty() || link.token != shown.substr(0, name_bytes)) continue;
        const std::string secret = random_bytes(rng_, key_bytes);
        std::string said = message_of(key, secret);
        if (rng_.chance(5)) said = random_bytes(rng_, rng_.below(80) + 1);
        if (::send(connection, said.data(), said.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
        forget_access_page(link);
        link = {"", secret, 0, connection, 0, "", 0, nullptr};
    }
}

void DirectEnds::progress() {
    for (int one; (one = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;)
        connections_.push_back(one);
    for (const int connection : connections_) hear(connection);
    if (!connections_.empty() && rng_.below(2000) == 0) close_one();
    Owned &link = owned_[rng_.below(owned_.size())];
    if (link.access_page != nullptr && rng_.below(50) == 0)
        link.access_page[1 + rng_.below(3)] = 0; // withdraws a window
}

} // namespace ucdfuzz
