#include "support/ze_driver/controls.h"
#include "support/ze_driver/state.h"

#include <chrono>

namespace zedriver {
namespace {

std::atomic<unsigned> delay_us{knobs().delay_us};

} // namespace

void Event::set(bool value) {
    const std::lock_guard lock(mutex_);
    set_ = value;
    changed_.notify_all();
}

bool Event::is_set() {
    const std::lock_guard lock(mutex_);
    return set_;
}

bool Event::wait(uint64_t nanoseconds) {
    std::unique_lock lock(mutex_);
    const auto done = [this] { return set_; };
    if (nanoseconds == UINT64_MAX) {
        changed_.wait(lock, done);
        return true;
    }
    return changed_.wait_for(lock, std::chrono::nanoseconds(nanoseconds), done);
}

Queue::Queue() : random_(knobs().seed), thread_([this] { work(); }) {}

Queue::~Queue() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Queue::add(Command command) {
    {
        const std::lock_guard lock(mutex_);
        commands_.push_back(std::move(command));
    }
    changed_.notify_all();
}

void Queue::wait_until_idle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return commands_.empty() && !running_; });
}

bool Queue::may_start(const Command &command) {
    for (Event *event : command.waits)
        if (!event->is_set()) return false;
    return true;
}

bool Queue::take(Command &command) {
    std::vector<std::size_t> able;
    for (std::size_t i = 0; i < commands_.size(); ++i) {
        const bool ordered = commands_[i].barrier || !knobs().shuffle;
        if (ordered && i > 0) break;
        if (may_start(commands_[i])) able.push_back(i);
        if (ordered) break;
    }
    if (able.empty()) return false;
    const std::size_t chosen = able[random_() % able.size()];
    command = std::move(commands_[chosen]);
    commands_.erase(commands_.begin() + static_cast<std::ptrdiff_t>(chosen));
    return true;
}

void Queue::work() {
    std::unique_lock lock(mutex_);
    while (!ends_) {
        Command command;
        if (!take(command)) {
            // Other lists set events without a word to this one.
            if (commands_.empty())
                changed_.wait(lock);
            else
                changed_.wait_for(lock, std::chrono::microseconds(100));
            continue;
        }
        running_ = true;
        lock.unlock();
        if (delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
        if (command.run) {
            const DeviceAccess access;
            command.run();
        }
        if (command.signal != nullptr) command.signal->set(true);
        lock.lock();
        running_ = false;
        changed_.notify_all();
    }
}

} // namespace zedriver

void ucd_ze_driver_delay(unsigned microseconds) {
    zedriver::delay_us = microseconds;
}
