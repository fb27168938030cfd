// Messages between two processes of a test, with file descriptors.
#pragma once

#include "support/catch.hpp"

#include <ucd_memory.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ucdtest {

// Descriptors that are closed at the end.
class Fds {
public:
    Fds() = default;
    explicit Fds(std::vector<int> fds) : fds_(std::move(fds)) {}
    ~Fds() {
        for (const int fd : fds_) ::close(fd);
    }
    Fds(Fds &&other) noexcept { fds_.swap(other.fds_); }
    Fds &operator=(Fds &&other) noexcept {
        fds_.swap(other.fds_);
        return *this;
    }
    const int *data() const { return fds_.data(); }
    int count() const { return static_cast<int>(fds_.size()); }
    int operator[](std::size_t i) const { return fds_[i]; }

private:
    std::vector<int> fds_;
};

// A range as it is sent to another process.
struct SharedRange {
    ucd_ipc_handle_t handle = {};
    Fds fds;
};

inline SharedRange export_range(const void *address, std::size_t bytes) {
    int fds[UCD_IPC__MAX_FDS];
    int count = UCD_IPC__MAX_FDS;
    SharedRange range;
    const int rc = ucd_ipc_export_fds(address, bytes, &range.handle, fds, &count);
    INFO(ucd_last_error());
    REQUIRE(rc == UCD_SUCCESS);
    range.fds = Fds(std::vector<int>(fds, fds + count));
    return range;
}

inline void *open_range(const SharedRange &range, const std::string &device,
                        std::uintptr_t &bytes) {
    void *address = nullptr;
    const int rc = ucd_ipc_open_fds(&range.handle, range.fds.data(), range.fds.count(),
                                    device.c_str(), &address, &bytes);
    INFO(ucd_last_error());
    REQUIRE(rc == UCD_SUCCESS);
    return address;
}

// A word, and with it perhaps a range.
inline void send_word(int socket, char word, const SharedRange *range = nullptr) {
    char bytes[1 + sizeof(ucd_ipc_handle_t)] = {word};
    if (range != nullptr) std::memcpy(bytes + 1, &range->handle, sizeof range->handle);
    iovec part = {bytes, range != nullptr ? sizeof bytes : 1};
    const auto count = static_cast<std::size_t>(range != nullptr ? range->fds.count() : 0);
    std::vector<char> control(CMSG_SPACE(sizeof(int) * UCD_IPC__MAX_FDS));
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (count > 0) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        cmsghdr *const head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int) * count);
        std::memcpy(CMSG_DATA(head), range->fds.data(), sizeof(int) * count);
    }
    REQUIRE(::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(part.iov_len));
}

// 0 if the other process has ended.
inline char receive_word(int socket, SharedRange *range = nullptr) {
    char bytes[1 + sizeof(ucd_ipc_handle_t)] = {};
    iovec part = {bytes, sizeof bytes};
    std::vector<char> control(CMSG_SPACE(sizeof(int) * UCD_IPC__MAX_FDS));
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t length = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (length <= 0) return 0;
    std::vector<int> fds;
    if (const cmsghdr *const head = CMSG_FIRSTHDR(&message)) {
        fds.resize((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        std::memcpy(fds.data(), CMSG_DATA(head), fds.size() * sizeof(int));
    }
    Fds received(std::move(fds));
    if (range != nullptr) {
        std::memcpy(&range->handle, bytes + 1, sizeof range->handle);
        range->fds = std::move(received);
    }
    return bytes[0];
}

// This program once more, which runs the test case of that name. The two are joined by a socket of
// messages, whose number is in the environment.
class OtherProcess {
public:
    explicit OtherProcess(const char *test_case) {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
        process_ = ::fork();
        REQUIRE(process_ >= 0);
        if (process_ == 0) {
            (void)::fcntl(ends[1], F_SETFD, 0);
            ::setenv(variable, std::to_string(ends[1]).c_str(), 1);
            ::execl("/proc/self/exe", "other process", test_case, static_cast<char *>(nullptr));
            ::_exit(127);
        }
        ::close(ends[1]);
        socket_ = ends[0];
    }
    ~OtherProcess() {
        kill_it();
        ::close(socket_);
    }
    OtherProcess(const OtherProcess &) = delete;
    OtherProcess &operator=(const OtherProcess &) = delete;

    int socket() const { return socket_; }
    void kill_it() {
        if (process_ <= 0) return;
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        process_ = -1;
    }
    // Its exit status, once it ends by itself.
    int end() {
        int status = -1;
        REQUIRE(::waitpid(process_, &status, 0) == process_);
        process_ = -1;
        return status;
    }

    // In the other process.
    static int its_socket() {
        const char *const number = std::getenv(variable);
        REQUIRE(number != nullptr);
        return std::atoi(number);
    }

private:
    static constexpr const char *variable = "UCD_TEST_SOCKET";
    pid_t process_ = -1;
    int socket_ = -1;
};

// Says a word, and waits for the same one as the answer.
inline void say(const OtherProcess &other, char word, const SharedRange *range = nullptr) {
    send_word(other.socket(), word, range);
    REQUIRE(receive_word(other.socket()) == word);
}

inline int count_open_files() {
    int count = 0;
    DIR *const folder = ::opendir("/proc/self/fd");
    REQUIRE(folder != nullptr);
    while (::readdir(folder) != nullptr) ++count;
    ::closedir(folder);
    return count;
}

} // namespace ucdtest
