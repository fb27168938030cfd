// What SIGINT, SIGTERM and SIGHUP do to files that are being written, and SIGBUS, which a mapped
// file raises that became shorter or whose disk is full. SIGXFSZ is ignored: the call that would
// make a file too large then fails, with the file's name in its message.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ucdtool {

// Installs the handlers; a signal that is ignored, as under nohup, stays ignored.
void watch_signals();

// A file that a signal removes before it ends the program; "" for none. There is at most one.
void set_removed_by_signals(const std::string &path);

// What a signal leaves behind, such as "a.bin is as it was", for its message; null for nothing. The
// text must stay until another one is set.
void set_left_behind(const char *text);

// Whether standard error is in the middle of a line, as after a bar: a signal's message then begins
// a new one.
void set_line_begun(bool begun);

// A signal that came while a file was changed in place. The program ends with end_by_signal once
// the message, what the file holds now, has been printed.
class Interrupted : public std::runtime_error {
public:
    Interrupted(int signal, const std::string &message)
        : std::runtime_error(message), signal_(signal) {}
    int signal() const { return signal_; }

private:
    int signal_;
};
[[noreturn]] void end_by_signal(int signal);

// While a file is changed in place. The first signal lets the step under way finish, so that the
// message says exactly what is written; a second one ends the program at once.
class InPlaceChange {
public:
    enum class Steps { many, one }; // one: nothing is known before the end, so no signal waits
    InPlaceChange(std::string path, uint64_t total_bytes, Steps steps = Steps::many);
    ~InPlaceChange();
    InPlaceChange(const InPlaceChange &) = delete;
    InPlaceChange &operator=(const InPlaceChange &) = delete;

    // After a step that wrote the next `bytes` of the packed data. Throws Interrupted.
    void advance(uint64_t bytes);

private:
    void announce(); // to the handlers, what a signal at once would leave

    std::string path_;
    uint64_t total_, done_ = 0;
    Steps steps_;
    std::string announced_[2]; // the handlers read one while the other changes
    unsigned turn_ = 0;
};

} // namespace ucdtool
