#include "direct/local_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <poll.h>
#include <sodium.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace ucd_ucx {
namespace {

// An abstract name begins with a zero byte, and is not terminated.
socklen_t make_address(const SocketName &name, sockaddr_un &address) {
    static constexpr char prefix[] = {'\0', 'u', 'c', 'd', '-'};
    address = {};
    address.sun_family = AF_UNIX;
    char *const digits = std::copy(std::begin(prefix), std::end(prefix), address.sun_path);
    (void)sodium_bin2hex(digits, 2 * name.size() + 1, name.data(), name.size());
    return static_cast<socklen_t>(digits + 2 * name.size() - reinterpret_cast<char *>(&address));
}

constexpr int socket_type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

// Room for the descriptors, and for the sender's credentials.
constexpr std::size_t control_room =
    CMSG_SPACE(max_passed * sizeof(int)) + CMSG_SPACE(sizeof(ucred));

// The kernel gives this number in place of each user that this process's user namespace does not
// map. So two processes that have it need not be of one user.
bool is_overflow(uid_t user) {
    constexpr uid_t by_default = 65534;
    unsigned set = by_default;
    std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen("/proc/sys/kernel/overflowuid", "re"),
                                                std::fclose);
    if (file == nullptr || std::fscanf(file.get(), "%u", &set) != 1) set = by_default;
    return user == set || user == by_default;
}

// Numbers of users may be compared where both are mapped. The kernel compares the users themselves:
// it lets this process send a signal (none, here) to those of its user, and not to another user's
// that only acts as this one.
bool is_of_this_user(uid_t user, int process) {
    return user == ::geteuid() && !is_overflow(user) &&
           ::syscall(SYS_pidfd_send_signal, process, 0, nullptr, 0) == 0;
}

} // namespace

// Explicitly taken from what is watched, since a child process may have the descriptor, too.
FileDescriptor::~FileDescriptor() {
    if (watcher_ >= 0) (void)::epoll_ctl(watcher_, EPOLL_CTL_DEL, number_, nullptr);
    if (number_ >= 0) ::close(number_);
    if (counter_ != nullptr) --*counter_;
}

bool FileDescriptor::watch(int watcher, uint64_t tag) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = tag;
    if (::epoll_ctl(watcher, EPOLL_CTL_ADD, number_, &event) != 0) return false;
    watcher_ = watcher;
    return true;
}

FileDescriptor listen_at(const SocketName &name, int backlog) {
    FileDescriptor socket(::socket(AF_UNIX, socket_type, 0));
    sockaddr_un address;
    const socklen_t length = make_address(name, address);
    if (!socket || ::bind(socket.get(), reinterpret_cast<sockaddr *>(&address), length) != 0 ||
        ::listen(socket.get(), backlog) != 0)
        return {};
    return socket;
}

FileDescriptor accept_from(int listening) {
    return FileDescriptor(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

Connected connect_to(const SocketName &name, FileDescriptor &socket) {
    FileDescriptor made(::socket(AF_UNIX, socket_type, 0));
    sockaddr_un address;
    const socklen_t length = make_address(name, address);
    const int on = 1;
    if (!made || ::setsockopt(made.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
        return Connected::no;
    if (::connect(made.get(), reinterpret_cast<sockaddr *>(&address), length) != 0)
        return errno == EAGAIN || errno == EINTR ? Connected::not_now : Connected::no;
    socket = std::move(made);
    return Connected::yes;
}

bool find_peer(int socket, PeerProcess &peer) {
    ucred credentials = {};
    socklen_t length = sizeof credentials;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return false;
    if (credentials.pid <= 0) return false; // 0 stands for a process that this one cannot see
    PeerProcess found = {credentials.pid, refer_to(credentials.pid)};
    if (!found.reference || !is_of_this_user(credentials.uid, found.reference.get())) return false;
    peer = std::move(found);
    return true;
}

FileDescriptor refer_to(pid_t pid) {
    return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool has_ended(int descriptor) {
    pollfd asked = {descriptor, POLLIN, 0};
    int found;
    do found = ::poll(&asked, 1, 0);
    while (found < 0 && errno == EINTR); // this process has handled a signal
    return found > 0;
}

bool send_message(int socket, const void *data, std::size_t bytes, std::span<const int> passed) {
    alignas(cmsghdr) char control[control_room] = {};
    iovec segment = {const_cast<void *>(data), bytes};
    msghdr message = {};
    message.msg_iov = &segment;
    message.msg_iovlen = 1;
    if (passed.size() > max_passed) return false;
    if (!passed.empty()) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(passed.size_bytes());
        cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(passed.size_bytes());
        std::memcpy(CMSG_DATA(header), passed.data(), passed.size_bytes());
    }
    return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes);
}

Heard read_message(int socket, void *data, std::size_t room, SocketMessage &heard) {
    heard = {};
    heard.passed.reserve(control_room /
                         sizeof(int)); // a hostile peer may pass more than max_passed
    alignas(cmsghdr) char control[control_room];
    iovec segment = {data, room};
    msghdr message = {};
    message.msg_iov = &segment;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t bytes = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (bytes < 0)
        return errno == EAGAIN || errno == EINTR || errno == ENOMEM ? Heard::nothing
                                                                    : Heard::closed;
    for (cmsghdr *h = CMSG_FIRSTHDR(&message); h != nullptr; h = CMSG_NXTHDR(&message, h)) {
        if (h->cmsg_level != SOL_SOCKET) continue;
        const std::size_t length = h->cmsg_len - CMSG_LEN(0);
        if (h->cmsg_type == SCM_CREDENTIALS && length == sizeof(ucred)) {
            ucred credentials;
            std::memcpy(&credentials, CMSG_DATA(h), sizeof credentials);
            heard.pid = credentials.pid;
        }
        for (std::size_t i = 0; h->cmsg_type == SCM_RIGHTS && i < length / sizeof(int); ++i) {
            int number;
            std::memcpy(&number, CMSG_DATA(h) + i * sizeof number, sizeof number);
            heard.passed.emplace_back(number);
        }
    }
    heard.bytes = static_cast<std::size_t>(bytes);
    heard.lost = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
    // No message is empty, so this is the end.
    return bytes == 0 ? Heard::closed : Heard::message;
}

} // namespace ucd_ucx
