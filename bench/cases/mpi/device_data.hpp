// The devices of processes, and the data of layouts in their memory.
#pragma once

#include "cases/mpi/layouts.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <ucd.h>

namespace bench {

// The device of the process with this number: of a list with commas, as many times as it takes.
std::string own_device(const std::string &list, int number);
// Says whether libucd can allocate memory there. If it cannot, ucd_last_error says why.
bool can_use(const std::string &device);

struct FreeMemory {
    void operator()(char *memory) const;
};
using Memory = std::unique_ptr<char, FreeMemory>;

// A layout's data on the device, `blocks` times, and what users stage it in.
class DeviceData {
public:
    DeviceData(const std::string &device, const MpiLayout &layout, int blocks);
    DeviceData(const DeviceData &) = delete;
    DeviceData &operator=(const DeviceData &) = delete;
    ~DeviceData() { (void)ucd_free(&type_); }

    // MPI libraries copy each segment by itself, which takes minutes for so many.
    bool has_few_segments() const;

    bool usable() const {
        return data_ && packed_ && staged_ && staged_by_engines_ && type_ != UCD_TYPE__NULL;
    }
    char *data() const { return data_.get(); }
    char *staged() const { return staged_.get(); }
    // Its own, since what one way leaves in the caches would help the other.
    char *staged_by_engines() const { return staged_by_engines_.get(); }
    char *packed() const { return packed_.get(); }
    std::size_t bytes() const { return layout_.bytes * blocks_; }

    // By a kernel on the device, and a copy.
    bool pack() const;
    bool unpack() const;
    // By a kernel on the device, where it stays.
    bool pack_there() const { return pack_to(packed_.get(), UCD_INFO__NULL); }
    bool unpack_there() const { return unpack_from(packed_.get(), UCD_INFO__NULL); }
    // By the copy engines only; false for layouts that they do not know.
    bool copy_out() const;
    bool copy_in() const;

private:
    std::uintptr_t items() const { return static_cast<std::uintptr_t>(layout_.count) * blocks_; }
    bool pack_to(void *to, ucd_info_t info) const;
    bool unpack_from(const void *from, ucd_info_t info) const;
    bool move(void *to, const void *from) const;

    const MpiLayout &layout_;
    std::size_t blocks_;
    ucd_type_t type_ = UCD_TYPE__NULL;
    Memory data_, packed_, staged_, staged_by_engines_;
};

} // namespace bench
