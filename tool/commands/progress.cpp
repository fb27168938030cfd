#include "commands/progress.hpp"

#include "files/interruption.hpp"
#include "picture/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include <unistd.h>

namespace ucdtool {
namespace {

constexpr std::chrono::milliseconds patience{500}, between{100};

} // namespace

Progress::Progress(uint64_t total_bytes, const std::string &choice)
    : total_(total_bytes), wanted_(choice != "never"), at_once_(choice == "always") {
    if (choice == "auto") wanted_ = isatty(STDERR_FILENO) != 0;
    if (at_once_) draw();
}

Progress::~Progress() {
    if (drawn_) std::fputs(at_once_ ? "\n" : "\r\x1b[K", stderr);
    set_line_begun(false);
}

double Progress::seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::advance(uint64_t bytes) {
    done_ += bytes;
    if (!wanted_) return;
    const auto now = Clock::now();
    if (!at_once_ && (now - last_ < between || now - start_ < patience)) return;
    last_ = now;
    draw();
}

void Progress::draw() {
    constexpr std::size_t width = 30;
    const double part =
        total_ == 0 ? 1 : std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
    const auto full = static_cast<std::size_t>(part * width);
    const double left = part > 0 ? seconds() * (1 - part) / part : 0;
    fmt::print(
        stderr, "\r[{}{}] {:3.0f}% {}, {}/s, {:.0f} s left\x1b[K", std::string(full, '#'),
        std::string(width - full, ' '), 100 * part, bytes_text(done_),
        bytes_text(static_cast<uint64_t>(static_cast<double>(done_) / std::max(seconds(), 1e-9))),
        left);
    std::fflush(stderr);
    drawn_ = true;
    set_line_begun(true);
}

std::string Progress::summary() const {
    return fmt::format(
        "{} in {:.3g} s, {}/s", bytes_text(done_), seconds(),
        bytes_text(static_cast<uint64_t>(static_cast<double>(done_) / std::max(seconds(), 1e-9))));
}

} // namespace ucdtool
