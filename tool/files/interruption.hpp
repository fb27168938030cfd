// Handles signals while files are written. SIGINT, SIGTERM and SIGHUP clean up. So does SIGBUS,
// which accesses to a mapped file raise if the file has become shorter or its disk is full. SIGXFSZ
// is ignored, so that a call that would make a file too large fails, with a message that names the
// file.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ucdtool {

// Installs the handlers. A signal that is ignored, as under nohup, stays ignored.
void watch_signals();

// Sets the file that a signal removes before it ends the program; "" for none.
void set_removed_by_signals(const std::string &path);

// Sets what a signal's message says about the files, such as "a.bin is as it was"; null for
// nothing. The text must stay valid until the next call.
void set_left_behind(const char *text);

// Set while the cursor is in the middle of a line of standard error, as behind a progress bar. A
// signal's message then begins with a newline.
void set_line_begun(bool begun);

// Thrown when a signal arrived while a file was changed in place. Its message says what the file
// now holds. After printing it, the program calls end_by_signal.
class Interrupted : public std::runtime_error {
public:
    Interrupted(int signal, const std::string &message)
        : std::runtime_error(message), signal_(signal) {}
    int signal() const { return signal_; }

private:
    int signal_;
};
[[noreturn]] void end_by_signal(int signal);

// Exists while a file is changed in place. After the first signal, the current step is finished, so
// that the message can say exactly what was written. A second signal ends the program at once.
class InPlaceChange {
public:
    enum class Steps { many, one }; // one: progress is known only at the end, so no signal waits
    InPlaceChange(std::string path, uint64_t total_bytes, Steps steps = Steps::many);
    ~InPlaceChange();
    InPlaceChange(const InPlaceChange &) = delete;
    InPlaceChange &operator=(const InPlaceChange &) = delete;

    // Call this after each step, with the number of packed bytes that it wrote. Throws Interrupted.
    void advance(uint64_t bytes);

private:
    void announce(); // tells the handlers the state of the file, for a signal that ends the program
                     // at once

    std::string path_;
    uint64_t total_, done_ = 0;
    Steps steps_;
    std::string announced_[2]; // two, because a handler may read one while the other changes
    unsigned turn_ = 0;
};

} // namespace ucdtool
