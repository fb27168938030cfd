#include "files/interruption.hpp"

#include "failure.hpp"

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

// All that handlers use. They run in any thread.
std::array<char, PATH_MAX> removed;
std::atomic<bool> has_removed = false;
std::atomic<bool> waits_for_step = false;
std::atomic<int> waiting_signal = 0;
std::atomic<const char *> left_behind = nullptr; // a line

void remove_file() {
    if (has_removed.exchange(false)) (void)unlink(removed.data());
}

void write_text(const char *text) {
    (void)!write(STDERR_FILENO, text, std::strlen(text));
}

extern "C" void on_signal(int signal) {
    int none = 0;
    if (waits_for_step.load() && waiting_signal.compare_exchange_strong(none, signal)) return;
    remove_file();
    if (const char *const line = left_behind.load()) write_text(line);
    (void)std::signal(signal, SIG_DFL);
    (void)raise(signal); // it is blocked until this returns
}

extern "C" void on_bus_error(int) {
    remove_file();
    write_text("ucd: a mapped file shrank, or its disk is full\n");
    if (const char *const line = left_behind.load()) write_text(line);
    _exit(static_cast<int>(Exit::failed));
}

const char *name_of_signal(int signal) {
    switch (signal) {
    case SIGINT: return "SIGINT";
    case SIGTERM: return "SIGTERM";
    default: return "SIGHUP";
    }
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
    (void)std::signal(SIGBUS, on_bus_error);
}

void set_removed_by_signals(const std::string &path) {
    has_removed.store(false);
    if (path.empty() || path.size() >= removed.size()) return;
    std::memcpy(removed.data(), path.c_str(), path.size() + 1);
    has_removed.store(true);
}

void end_by_signal(int signal) {
    (void)std::signal(signal, SIG_DFL);
    (void)raise(signal);
    std::_Exit(128 + signal); // only if the signal is blocked
}

InPlaceChange::InPlaceChange(std::string path, uint64_t total_bytes, Steps steps)
    : path_(std::move(path)), total_(total_bytes), steps_(steps) {
    announce();
    waits_for_step.store(steps == Steps::many);
}

InPlaceChange::~InPlaceChange() {
    waits_for_step.store(false);
    left_behind.store(nullptr);
    const int signal = waiting_signal.exchange(0);
    if (signal != 0 && std::uncaught_exceptions() == 0) end_by_signal(signal);
}

void InPlaceChange::announce() {
    std::string &line = announced_[++turn_ % 2];
    line = steps_ == Steps::one
               ? fmt::format("ucd: {}: it was changed in part; which part is not known\n", path_)
               : fmt::format("ucd: {}: bytes 0 to {} of the {} packed bytes were written, of those "
                             "after them perhaps some\n",
                             path_, done_, total_);
    left_behind.store(line.c_str());
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
