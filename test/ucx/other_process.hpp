// Another process that runs this same program, in one of its hidden test cases.
#pragma once

#include "support/catch.hpp"
#include "ucx/pair.hpp"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ucdtest {

inline constexpr int to_peer = 8, from_peer = 9; // files of the other process

inline std::string read_line(int file) {
    std::string line;
    for (char c; read(file, &c, 1) == 1 && c != '\n';) line += c;
    return line;
}

inline void write_line(int file, std::string line) {
    line += '\n';
    if (write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw std::runtime_error("the other process does not listen");
}

// A child that runs one of the hidden test cases below, with the addresses exchanged.
class Peer {
public:
    Peer(Side &side, const char *test_case) {
        signal(SIGPIPE, SIG_IGN); // who writes to what has gone is told by an error
        int in[2], out[2];
        REQUIRE(pipe(in) == 0);
        REQUIRE(pipe(out) == 0);
        process_ = fork();
        REQUIRE(process_ >= 0);
        if (process_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); // it may wait for this one for ever
            // Beyond the files that these are.
            const int from = fcntl(in[0], F_DUPFD, 20), to = fcntl(out[1], F_DUPFD, 20);
            dup2(from, to_peer);
            dup2(to, from_peer);
            for (const int file : {in[0], in[1], out[0], out[1], from, to})
                if (file != to_peer && file != from_peer) close(file);
            execl("/proc/self/exe", "peer", test_case, static_cast<char *>(nullptr));
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        to_ = in[1];
        from_ = out[0];
        write_line(to_, to_hex(side.address()));
        side.connect(from_hex(read_line(from_)));
    }
    ~Peer() {
        if (process_ > 0) kill(process_, SIGKILL);
        (void)end();
        close(to_);
        close(from_);
    }
    // How it has ended.
    int end() {
        int status = 0;
        if (process_ > 0) CHECK(waitpid(process_, &status, 0) == process_);
        process_ = -1;
        return status;
    }
    void kill_it(int signal = SIGKILL) const { kill(process_, signal); }
    void say(const std::string &line) const { write_line(to_, line); }
    std::string hear() const { return read_line(from_); }

private:
    pid_t process_ = -1;
    int to_ = -1, from_ = -1;
};

inline void connect_with_parent(Side &side) {
    write_line(from_peer, to_hex(side.address()));
    side.connect(from_hex(read_line(to_peer)));
}

inline void progress_until(Side &side, const std::function<bool()> &condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (ucd_ucx_progress(side.pipeline) == 0) sched_yield(); // processes may share a core
        if (std::chrono::steady_clock::now() > limit) throw std::runtime_error("it takes too long");
    }
}

} // namespace ucdtest
