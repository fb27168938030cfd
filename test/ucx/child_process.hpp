// A child of the test's process, and bytes from one to the other.
#pragma once

#include "support/catch.hpp"

#include <csignal>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace ucdtest {

// A child process, killed in the end.
class Child {
public:
    template <class Body>
    explicit Child(Body &&body) : pid_(::fork()) {
        if (pid_ != 0) return;
        body();
        ::_exit(0);
    }
    ~Child() { kill(); }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;
    pid_t pid() const { return pid_; }
    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }

private:
    pid_t pid_;
};

// Bytes from one process to the other.
struct Pipe {
    Pipe() { REQUIRE(::pipe(ends) == 0); }
    ~Pipe() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    template <class T>
    void put(const T &value) const {
        if (::write(ends[1], &value, sizeof value) != sizeof value) ::_exit(1);
    }
    template <class T>
    T get() const {
        T value = {};
        REQUIRE(::read(ends[0], &value, sizeof value) == sizeof value);
        return value;
    }
    bool has_come() const {
        pollfd asked = {ends[0], POLLIN, 0};
        return ::poll(&asked, 1, 0) != 0;
    }
    void put_text(const std::string &text) const {
        put(text.size());
        if (::write(ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size()))
            ::_exit(1);
    }
    std::string get_text() const {
        std::string text(get<std::size_t>(), ' ');
        REQUIRE(::read(ends[0], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        return text;
    }
    int ends[2];
};

} // namespace ucdtest
