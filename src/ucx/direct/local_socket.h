// Local sockets between processes of one machine: who is at the other end is known from the kernel,
// and file descriptors can be passed. No function waits.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace ucd_ucx {

// Owns a file descriptor.
class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int number) : number_(number) {}
    FileDescriptor(FileDescriptor &&other) noexcept { *this = std::move(other); }
    FileDescriptor &operator=(FileDescriptor &&other) noexcept {
        std::swap(number_, other.number_);
        std::swap(counter_, other.counter_);
        std::swap(watcher_, other.watcher_);
        return *this;
    }
    ~FileDescriptor();
    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }
    // Counts it there until it is closed.
    void count_in(std::atomic<std::size_t> &counter) {
        counter_ = &counter;
        ++counter;
    }
    // Has an epoll descriptor tell what comes, by this tag, until this one is closed. Returns false
    // if the system refuses.
    bool watch(int watcher, uint64_t tag);

private:
    int number_ = -1;
    int watcher_ = -1;
    std::atomic<std::size_t> *counter_ = nullptr;
};

// Unpredictable numbers: the name of a socket, and what admits to it.
using SocketName = std::array<unsigned char, 16>;

// Each message is delivered whole. Names are abstract: they are in no file system, and end with the
// socket.
FileDescriptor listen_at(const SocketName &name, int backlog);
FileDescriptor accept_from(int listening);
enum class Connected : uint8_t { yes, not_now, no };
Connected connect_to(const SocketName &name, FileDescriptor &socket);

// The process that has connected, or that listens, as the kernel knows it.
struct PeerProcess {
    pid_t pid = 0;
    FileDescriptor reference; // also when the pid is used again
};
// Returns false if it is not of this process's user, or if the kernel does not say.
bool find_peer(int socket, PeerProcess &peer);
// Refers to a process. Empty if the kernel has no such thing.
FileDescriptor refer_to(pid_t pid);
// Of a process; or of a pipe that is written to, whether nobody reads it any more.
bool has_ended(int descriptor);

inline constexpr std::size_t max_passed = 32; // descriptors of one message

// Returns false if the message was not sent: there is no room at present, or no peer any more.
bool send_message(int socket, const void *data, std::size_t bytes, std::span<const int> passed);

enum class Heard : uint8_t { message, nothing, closed };
struct SocketMessage {
    std::size_t bytes = 0;
    pid_t pid = 0;     // of the sender; 0 if the socket does not ask for it
    bool lost = false; // data, or descriptors, that did not fit
    std::vector<FileDescriptor> passed;
};
// Writes at most `room` bytes of a message to `data`. Throws std::bad_alloc if there is no memory
// for descriptors, before anything is read.
Heard read_message(int socket, void *data, std::size_t room, SocketMessage &message);

} // namespace ucd_ucx
