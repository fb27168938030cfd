// The data of a send or receive: a buffer, a count and a type, with the hints for moving it.
#pragma once

#include "common/failure.h"
#include "common/ledger.h"
#include "datatype/options.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace ucd_ucx {

enum class TransferDirection : uint8_t { send, receive };

// Owners of libucd's handles.
template <class Handle, int (*release)(Handle *)>
class Owned {
public:
    Owned() = default;
    ~Owned() {
        if (handle_ != nullptr) (void)release(&handle_);
    }
    Owned(const Owned &) = delete;
    Owned &operator=(const Owned &) = delete;
    Handle get() const { return handle_; }

protected:
    Handle handle_ = nullptr;
};

class OwnedType : public Owned<ucd_type_t, ucd_free> {
public:
    Status keep(ucd_type_t type); // duplicates the handle
    Status unflatten(const void *flattened, std::size_t bytes);
};

class OwnedInfo : public Owned<ucd_info_t, ucd_info_free> {
public:
    Status set(const char *key, const char *value);
    Status copy(ucd_info_t from, const char *key); // does nothing if `from` lacks the key
};

// The value of a key, or "" if it is not set.
Status read_key(ucd_info_t info, const char *key, std::string &value);
// The key with this number; "" if there are fewer.
Status read_nth_key(ucd_info_t info, uintptr_t number, std::string &key);

// The layout of `count` of a type.
Status layout_of(uint64_t count, ucd_type_t type, ucd_layout_t &layout);

// Copies the hints of `info` about moving data, except those that name the buffers' memory.
Status copy_hints(ucd_info_t info, OwnedInfo &hints);

// The name of a buffer's memory, as in hints.
class BufferMemory {
public:
    // As the hint for this direction says, or else by asking libucd.
    Status find(const void *buf, uintptr_t count, ucd_type_t type, ucd_info_t info,
                TransferDirection direction);
    const char *text() const { return hinted_.empty() ? found_ : hinted_.c_str(); }
    bool is_host() const {
        return hinted_.empty() ? std::memcmp(found_, "host", sizeof "host") == 0
                               : hinted_ == "host";
    }

private:
    std::string hinted_;
    char found_[32] = ""; // performance only: no string is made for each short message
};
// Whether the host can access this memory.
bool host_reaches(std::string_view memory);

// The hints for moving data in one memory in one direction. One object serves all data that is
// moved in the same way.
struct BufferHints {
    // Sets all hints, from the name of the memory and `info`.
    Status set(const char *memory, ucd_info_t info, TransferDirection direction);

    OwnedInfo info;      // names the memory, so that libucd need not look it up
    OwnedInfo near;      // for devices: both buffers are in this memory
    bool on_host = true; // the host can access the memory
    std::string device;  // the device, if the host cannot access its memory; else ""
};

// Finds the hints for a buffer: `for_host`, if the buffer is in host memory and `info` has no hints
// about it; else new ones, which `made` owns.
Status find_hints(const void *buf, uintptr_t count, ucd_type_t type, ucd_info_t info,
                  TransferDirection direction, const BufferHints &for_host,
                  std::unique_ptr<const BufferHints> &made, const BufferHints *&hints);

// The data arguments of a call.
struct Data {
    const void *buf = nullptr;
    uintptr_t count = 0;
    ucd_type_t type = UCD_TYPE__BYTE;
    const BufferHints *hints = nullptr; // null if not known yet
};

// Where packed data is: own_device is memory that the buffer's device accesses as its own.
enum class PackedPlace : uint8_t { host, own_device };

class TypedBuffer {
public:
    // Unpacking combines new data with the data in the buffer by `op`. If the hints are not known
    // yet, they are derived from `info`. Hints that are known must outlive this object, as
    // `for_host` must.
    Status set(const Data &data, ucd_info_t info, TransferDirection direction,
               const BufferHints &for_host, ucd_op_t op = UCD_OP__REPLACE);

    uint64_t bytes() const { return bytes_; }
    // The host's work for moving this many bytes, in steps of the ledger.
    uint64_t steps(uint64_t bytes) const { return steps_of(bytes, segments_ + op_steps_, bytes_); }
    // The number of the message's bytes that fit the buffer.
    uint64_t bytes_of(uint64_t message) const { return std::min(message, bytes()); }
    // The address of the first byte, if the data is one segment of memory that UCX may read and
    // write; else null.
    char *in_place() const { return in_place_; }
    bool on_host() const { return hints_->on_host; }
    const BufferHints &hints() const { return *hints_; }
    // The device that the data is on, if the host cannot access its memory; else "".
    const std::string &device() const { return hints_->device; }
    void *buf() const { return buf_; }
    uint64_t count() const { return count_; }
    ucd_type_t type() const { return type_.get(); }
    // Its displacements are only known when data moves.
    bool is_by_reference() const { return segments_ == 0 && bytes_ > 0; }
    ucd_op_t op() const { return op_; }
    uint64_t mean_segment() const { return segments_ == 0 ? 0 : bytes_ / segments_; }
    // Returns whether all rows are of one length, at regular distances, or each element has few
    // segments.
    bool is_regular() const { return is_regular_; }
    // Returns how much of what a device reads is data, in percent, since it reads whole sectors; 0
    // if the data is not in a device's memory.
    unsigned share_of_sectors() const { return share_of_sectors_; }
    // The address of the lowest byte, and the distance from there to the end of the highest.
    uint64_t lowest() const { return lowest_; }
    uint64_t range() const { return range_; }
    // Same as in_place(), for data in a device's memory.
    char *device_in_place() const { return device_in_place_; }

    // Pack or unpack a range of the packed stream. Without a request, they block.
    Status pack(uint64_t offset, void *to, uint64_t bytes, ucd_request_t *request,
                PackedPlace place = PackedPlace::host) const;
    Status unpack(uint64_t offset, const void *from, uint64_t bytes, ucd_request_t *request,
                  PackedPlace place = PackedPlace::host) const;
    // Copies bytes [offset, offset + bytes) of the stream of `count` of `type` at `from` to the
    // same bytes of this stream. Without a request, `from` is in host memory, and it blocks; with
    // one, in memory that the buffer's device accesses as its own.
    Status copy_from(const void *from, uint64_t count, ucd_type_t type, uint64_t offset,
                     uint64_t bytes, ucd_request_t *request) const;

private:
    ucd_info_t hints_for(PackedPlace place) const {
        return (place == PackedPlace::host ? hints_->info : hints_->near).get();
    }

    char *buf_ = nullptr;
    uintptr_t count_ = 0;
    OwnedType type_;
    const BufferHints *hints_ = nullptr;
    std::unique_ptr<const BufferHints> own_hints_; // null if the hints belong to another object
    uint64_t bytes_ = 0, segments_ = 0, lowest_ = 0, range_ = 0;
    uint64_t op_steps_ = 0; // for combining all of the elements
    static constexpr uint64_t few_segments = 8;
    bool is_regular_ = false;
    unsigned share_of_sectors_ = 0;
    ucd_op_t op_ = UCD_OP__REPLACE;
    char *in_place_ = nullptr;
    char *device_in_place_ = nullptr;
};

} // namespace ucd_ucx
