// Duplicates file descriptors of other processes.
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

// Identifies the file of a descriptor. Since Linux 5.6, each shared range of device memory is a
// file of its own.
struct File {
    uint64_t device = 0, number = 0;
    bool operator==(const File &) const = default;
};

// Finds the file of a descriptor. NOT_AVAILABLE if the descriptor is not open.
ze_result_t look_at(int descriptor, File &file);

// Duplicates the descriptor `theirs` of another process. UNSUPPORTED_FEATURE before Linux 5.6;
// INSUFFICIENT_PERMISSIONS unless this process has permission to debug the other one.
ze_result_t take(pid_t process, int theirs, Descriptor &taken);

} // namespace ucd::ze
