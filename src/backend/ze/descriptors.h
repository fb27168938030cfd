// File descriptors of other processes.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <utility>

#include <sys/types.h>

namespace ucd::ze {

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor &&other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor &operator=(Descriptor &&other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor();

    int number() const { return number_; }

private:
    int number_ = -1;
};

// What a descriptor is open on. On Linux 5.6 and newer, each range of device memory that is shared
// is a file of its own.
struct File {
    uint64_t device = 0, number = 0;
    bool operator==(const File &) const = default;
};

// NOT_AVAILABLE if the descriptor is none.
ze_result_t look_at(int descriptor, File &file);

// A descriptor of this process for what another process has open as number `theirs`.
// UNSUPPORTED_FEATURE before Linux 5.6; INSUFFICIENT_PERMISSIONS unless this process may look into
// the other one as a debugger may.
ze_result_t take(pid_t process, int theirs, Descriptor &taken);

} // namespace ucd::ze
