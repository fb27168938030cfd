// Processes of one program on this machine, and the memory that they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

// What the processes tell each other besides messages. One of them is at each seat.
class Board {
public:
    explicit Board(unsigned seats);
    ~Board();
    Board(const Board &) = delete;
    Board &operator=(const Board &) = delete;

    unsigned seats() const { return seats_; }
    // All come here; while one waits for the others it makes progress, which returns 0 if there was
    // nothing to do.
    void meet(const std::function<unsigned()> &progress);
    // Each writes its own note, then all meet, then all read. They meet again before the next.
    static constexpr std::size_t max_bytes = 1 << 16;
    void write(unsigned seat, const void *bytes, std::size_t count);
    std::vector<char> read(unsigned seat) const;

private:
    struct Head;
    struct Note;
    Note &note(unsigned seat) const;
    unsigned seats_;
    Head *head_;
};

// Memory that the processes made after it share.
class CommonMemory {
public:
    explicit CommonMemory(std::size_t bytes); // not touched yet, so only address space
    ~CommonMemory();
    CommonMemory(const CommonMemory &) = delete;
    CommonMemory &operator=(const CommonMemory &) = delete;
    char *data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

private:
    const std::size_t bytes_;
    char *data_;
};

// Runs body(seat) in so many processes made for it, of which the first may print. Throws
// std::runtime_error if one of them fails, or has not ended after so many seconds; the others are
// killed then.
void run_processes(unsigned count, double max_seconds, const std::function<void(unsigned)> &body);

// Moves this process into a network namespace that `ip netns add` has made. Throws
// std::runtime_error if that is not allowed.
void enter_host(const std::string &name);

} // namespace bench
