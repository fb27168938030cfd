#include "files/interruption.hpp"

#include "failure.hpp"
#include "files/mapped_file.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include <unistd.h>

namespace ucdtool {
namespace {

// All data that signal handlers use, which may run in any thread.
std::array<char, PATH_MAX> removed;
std::atomic<bool> has_removed = false;
std::atomic<bool> waits_for_step = false;
std::atomic<int> waiting_signal = 0;
std::atomic<const char *> left_behind = nullptr;
std::atomic<bool> line_begun = false;

void remove_file() {
    if (has_removed.exchange(false)) (void)unlink(removed.data());
}

const char *name_of_signal(int signal) {
    switch (signal) {
    case SIGINT: return "SIGINT";
    case SIGTERM: return "SIGTERM";
    default: return "SIGHUP";
    }
}

// Writes a line: "ucd: ", both texts, and what is left behind.
void write_line(const char *text, const char *more) {
    const char *const left = left_behind.load();
    const char *const begin = line_begun.load() ? "\nucd: " : "ucd: ";
    for (const char *const part :
         {begin, text, more, left == nullptr ? "" : ": ", left == nullptr ? "" : left, "\n"})
        (void)!write(STDERR_FILENO, part, std::strlen(part));
}

extern "C" void on_signal(int signal) {
    int none = 0;
    if (waits_for_step.load() && waiting_signal.compare_exchange_strong(none, signal)) return;
    remove_file();
    write_line("ended by ", name_of_signal(signal));
    (void)std::signal(signal, SIG_DFL);
    (void)raise(signal); // takes effect on return, until when the signal is blocked
}

extern "C" void on_bus_error(int, siginfo_t *info, void *) {
    remove_file();
    const char *const path = MappedFile::path_at(info->si_addr);
    write_line(path == nullptr ? "a mapped file" : path, " became shorter, or its disk is full");
    _exit(static_cast<int>(Exit::failed));
}

} // namespace

void watch_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action {};
        (void)sigaction(signal, nullptr, &action);
        if (action.sa_handler == SIG_IGN) continue;
        action = {};
        action.sa_handler = on_signal;
        action.sa_flags = SA_RESTART;
        (void)sigaction(signal, &action, nullptr);
    }
    struct sigaction bus_error {};
    bus_error.sa_sigaction = on_bus_error;
    bus_error.sa_flags = SA_SIGINFO;
    (void)sigaction(SIGBUS, &bus_error, nullptr);
    (void)std::signal(SIGXFSZ, SIG_IGN);
}

void set_removed_by_signals(const std::string &path) {
    has_removed.store(false);
    if (path.empty() || path.size() >= removed.size()) return;
    std::memcpy(removed.data(), path.c_str(), path.size() + 1);
    has_removed.store(true);
}

void set_left_behind(const char *text) {
    left_behind.store(text);
}

void set_line_begun(bool begun) {
    line_begun.store(begun);
}

void end_by_signal(int signal) {
    (void)std::signal(signal, SIG_DFL);
    (void)raise(signal);
    std::_Exit(128 + signal); // reached only if the signal is blocked
}

InPlaceChange::InPlaceChange(std::string path, uint64_t total_bytes, Steps steps)
    : path_(std::move(path)), total_(total_bytes), steps_(steps) {
    announce();
    waits_for_step.store(steps == Steps::many);
}

InPlaceChange::~InPlaceChange() {
    waits_for_step.store(false);
    set_left_behind(nullptr);
    const int signal = waiting_signal.exchange(0);
    if (signal != 0 && std::uncaught_exceptions() == 0) end_by_signal(signal);
}

void InPlaceChange::announce() {
    std::string &text = announced_[++turn_ % 2];
    text = steps_ == Steps::one
               ? fmt::format("{} was changed in part; which part is not known", path_)
               : fmt::format("{}: bytes 0 to {} of the {} packed bytes were written, of those "
                             "after them perhaps some",
                             path_, done_, total_);
    set_left_behind(text.c_str());
}

void InPlaceChange::advance(uint64_t bytes) {
    done_ += bytes;
    announce();
    const int signal = waiting_signal.exchange(0);
    if (signal == 0) return;
    throw Interrupted(
        signal, done_ >= total_
                    ? fmt::format("{}: ended by {} when all {} packed bytes were written", path_,
                                  name_of_signal(signal), total_)
                    : fmt::format("{}: ended by {}: bytes 0 to {} of the {} packed bytes were "
                                  "written, the rest is as it was",
                                  path_, name_of_signal(signal), done_, total_));
}

} // namespace ucdtool
