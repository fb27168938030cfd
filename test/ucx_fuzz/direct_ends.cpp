#include "direct_ends.hpp"

#include "ucx/wire.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
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
enum About : unsigned { token = 1, key };

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

std::string message_of(unsigned about, const std::string &secret) {
    std::string text = "UCDL";
    put_number(text, about, 4);
    put_number(text, 0, 8);
    put_number(text, 0, 8);
    text += secret;
    text.resize(message_bytes);
    return text;
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
    put_number(text, 0, 4);
    text += p.handle;
    text.resize(56 + 8 + 128 + mac_bytes);
    return text;
}

DirectEnds::DirectEnds(Writer writer, ucdtest::Rng &rng)
    : rng_(rng), name_(random_bytes(rng, name_bytes)), memory_(make_memory(writer, rng)),
      memory_at_times_(make_memory(writer, rng)) {
    // Worlds with one seed follow each other: the name is not known to the kernel any more.
    sockaddr_un address;
    const socklen_t length = address_of_name(name_, address);
    listening_ = socket(AF_UNIX, socket_type, 0);
    if (bind(listening_, reinterpret_cast<sockaddr *>(&address), length) != 0 ||
        listen(listening_, 8) != 0)
        found_fatal("setup", "a socket");
}

DirectEnds::~DirectEnds() {
    while (!connections_.empty()) close_one();
    close(listening_);
    for (char *m : {memory_, memory_at_times_}) munmap(m, own_bytes + 2 * around);
}

char *DirectEnds::make_memory(Writer writer, ucdtest::Rng &rng) const {
    constexpr std::size_t bytes = own_bytes + 2 * around;
    auto *memory = static_cast<char *>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory == MAP_FAILED) found_fatal("setup", "mmap");
    std::memset(memory, untouched, bytes);
    const std::string own = written_by(writer, own_bytes, rng);
    std::copy(own.begin(), own.end(), memory + around);
    return memory;
}

std::string DirectEnds::introduce(int node) {
    std::string &t = tokens_[static_cast<std::size_t>(node)];
    if (t.empty() || rng_.chance(10)) t = random_bytes(rng_, name_bytes);
    return name_ + t;
}

// A process may let others read whatever it has. But here all peers are one process, and what the
// honest ones have must not be offered; nor what is around this one's bytes, which shows whether a
// reader stays within a range.
bool DirectEnds::may_offer(std::string_view offer) const {
    constexpr std::size_t at = ucdtest::wire::Header::bytes + 8;
    const std::uint64_t base = ucdtest::wire::number_at(offer, at, 8);
    const std::uint64_t low = ucdtest::wire::number_at(offer, at + 8, 8);
    const std::uint64_t bytes = ucdtest::wire::number_at(offer, at + 16, 8) - low;
    const std::uint64_t first = base + low;
    if (first < page || first >= nowhere) return true;
    for (const char *memory : {memory_, memory_at_times_}) {
        const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(memory) + around;
        if (first >= begin && bytes <= own_bytes && first - begin <= own_bytes - bytes) return true;
    }
    return false;
}

bool DirectEnds::sign(int node, std::string &offer) {
    const std::string &k = keys_[static_cast<std::size_t>(node)];
    constexpr std::size_t header_bytes = ucdtest::wire::Header::bytes;
    if (k.empty() || offer.size() < header_bytes + 32 + mac_bytes || !may_offer(offer))
        return false;
    std::string number;
    put_number(number, numbers_[static_cast<std::size_t>(node)] += 1 + rng_.below(2), 8);
    offer.replace(header_bytes, 8, number);
    unsigned char mac[mac_bytes];
    (void)crypto_generichash(mac, sizeof mac, reinterpret_cast<const unsigned char *>(offer.data()),
                             offer.size() - mac_bytes,
                             reinterpret_cast<const unsigned char *>(k.data()), k.size());
    offer.replace(offer.size() - mac_bytes, mac_bytes, reinterpret_cast<char *>(mac), mac_bytes);
    return true;
}

std::uint64_t DirectEnds::address_of(std::uint64_t bytes) {
    switch (rng_.below(20)) {
    case 0: return rng_.below(page);           // no memory is there
    case 1: return UINT64_MAX - rng_.below(3); // nor there
    case 2: return nowhere;
    default: break;
    }
    char *const memory = rng_.chance(20) ? memory_at_times_ : memory_;
    const std::uint64_t room = own_bytes - std::min<std::uint64_t>(bytes, own_bytes);
    return reinterpret_cast<std::uintptr_t>(memory) + around + rng_.below(room + 1);
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

void DirectEnds::close_one() {
    const std::size_t i = rng_.below(connections_.size());
    close(connections_[i]);
    connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i));
}

// A token is answered by a key, or by anything.
void DirectEnds::answer(int connection) {
    char text[message_bytes];
    if (recv(connection, text, sizeof text, MSG_DONTWAIT) != static_cast<ssize_t>(sizeof text))
        return;
    for (std::size_t node = 0; node < honest_peers; ++node) {
        if (tokens_[node].empty() ||
            tokens_[node].compare(0, name_bytes, text + 24, name_bytes) != 0)
            continue;
        const std::string secret = random_bytes(rng_, key_bytes);
        std::string said = message_of(key, secret);
        if (rng_.chance(5)) said = random_bytes(rng_, rng_.below(80) + 1);
        if (::send(connection, said.data(), said.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
        keys_[node] = secret;
        numbers_[node] = 0;
        tokens_[node].clear();
    }
}

void DirectEnds::progress() {
    for (int one; (one = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;)
        connections_.push_back(one);
    for (const int connection : connections_) answer(connection);
    if (!connections_.empty() && rng_.below(2000) == 0) close_one();
    if (rng_.below(50) == 0)
        (void)mprotect(memory_at_times_, own_bytes + 2 * around,
                       rng_.chance(50) ? PROT_NONE : PROT_READ | PROT_WRITE);
}

} // namespace ucdfuzz
