#include "harness/processes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace bench {

struct Board::Head {
    std::atomic<unsigned> here, meetings;
};
struct Board::Note {
    std::size_t bytes;
    char text[max_bytes];
};

namespace {
constexpr std::size_t head_bytes = 64;
}

Board::Board(unsigned seats) : seats_(seats) {
    static_assert(std::atomic<unsigned>::is_always_lock_free && sizeof(Head) <= head_bytes);
    void *memory = mmap(nullptr, head_bytes + seats * sizeof(Note), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory can be had");
    head_ = new (memory) Head{0, 0};
}

Board::~Board() {
    munmap(head_, head_bytes + seats_ * sizeof(Note));
}

void Board::meet(const std::function<unsigned()> &progress) {
    const unsigned meeting = head_->meetings.load();
    if (head_->here.fetch_add(1) + 1 == seats_) {
        head_->here.store(0);
        head_->meetings.store(meeting + 1);
        return;
    }
    while (head_->meetings.load() == meeting)
        if (progress() == 0) sched_yield(); // there may be more processes than processors
}

Board::Note &Board::note(unsigned seat) const {
    return reinterpret_cast<Note *>(reinterpret_cast<char *>(head_) + head_bytes)[seat];
}

void Board::write(unsigned seat, const void *bytes, std::size_t count) {
    if (count > max_bytes) throw std::runtime_error("a note is too long");
    note(seat).bytes = count;
    std::memcpy(note(seat).text, bytes, count);
}

std::vector<char> Board::read(unsigned seat) const {
    const Note &n = note(seat);
    return {n.text, n.text + n.bytes};
}

CommonMemory::CommonMemory(std::size_t bytes)
    : bytes_(bytes),
      data_(static_cast<char *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (data_ == MAP_FAILED) throw std::runtime_error("no shared memory can be had");
}

CommonMemory::~CommonMemory() {
    munmap(data_, bytes_);
}

namespace {

[[noreturn]] void be_a_process(unsigned seat, pid_t parent,
                               const std::function<void(unsigned)> &body) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::_Exit(1);
    int status = 0;
    try {
        body(seat);
    } catch (const std::exception &e) {
        std::fflush(stdout);
        fmt::print(stderr, "process {}: {}\n", seat, e.what());
        status = 1;
    }
    std::fflush(stdout);
    // No destructors of the parent's.
    std::_Exit(status);
}

void kill_all(const std::vector<pid_t> &processes) {
    for (const pid_t process : processes) {
        kill(process, SIGKILL);
        waitpid(process, nullptr, 0);
    }
}

} // namespace

void run_processes(unsigned count, double max_seconds, const std::function<void(unsigned)> &body) {
    std::fflush(stdout);
    const pid_t parent = getpid();
    std::vector<pid_t> running;
    for (unsigned seat = 0; seat < count; ++seat) {
        const pid_t process = fork();
        if (process == 0) be_a_process(seat, parent, body);
        if (process < 0) {
            kill_all(running);
            throw std::runtime_error("no process can be had");
        }
        running.push_back(process);
    }
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                               std::chrono::duration<double>(max_seconds));
    while (!running.empty()) {
        for (std::size_t i = 0; i < running.size(); ++i) {
            int status;
            if (waitpid(running[i], &status, WNOHANG) == 0) continue;
            running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
            kill_all(running);
            throw std::runtime_error(
                WIFSIGNALED(status) ? fmt::format("a process ended by signal {}", WTERMSIG(status))
                                    : std::string("a process failed"));
        }
        if (std::chrono::steady_clock::now() > end) {
            kill_all(running);
            throw std::runtime_error(
                fmt::format("the processes were not done after {:.0f} s", max_seconds));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

void enter_host(const std::string &name) {
    const int file = open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
    // UCX looks for devices in /sys, which shows those of the namespace that it was mounted in.
    if (file < 0 || setns(file, CLONE_NEWNET) != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount("", "/", "none", MS_SLAVE | MS_REC, nullptr) != 0 ||
        mount("bench", "/sys", "sysfs", 0, nullptr) != 0)
        throw std::runtime_error(fmt::format("host {}: {}", name, std::strerror(errno)));
    close(file);
}

} // namespace bench
