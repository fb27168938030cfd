// What is to be sent or received: a buffer, a count and a type, with the hints for moving it.
#pragma once

#include "common/failure.h"
#include "common/ledger.h"
#include "datatype/options.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

namespace ucd_ucx {

enum class Direction : uint8_t { send, receive };

// Handles of libucd that end themselves.
class OwnedType {
public:
    OwnedType() = default;
    ~OwnedType();
    OwnedType(const OwnedType &) = delete;
    OwnedType &operator=(const OwnedType &) = delete;
    Status keep(ucd_type_t type); // another handle of it
    Status unflatten(const void *flattened, std::size_t bytes);
    ucd_type_t get() const { return type_; }

private:
    ucd_type_t type_ = UCD_TYPE__NULL;
};

class OwnedInfo {
public:
    OwnedInfo() = default;
    ~OwnedInfo();
    OwnedInfo(const OwnedInfo &) = delete;
    OwnedInfo &operator=(const OwnedInfo &) = delete;
    Status set(const char *key, const char *value);
    Status copy(ucd_info_t from, const char *key); // if it is set there
    ucd_info_t get() const { return info_; }

private:
    ucd_info_t info_ = UCD_INFO__NULL;
};

// The value of a key, or "" if it is not set.
Status read_key(ucd_info_t info, const char *key, std::string &value);

// Copies the hints of `info` for moving data, but for those on where buffers are.
Status copy_hints(ucd_info_t info, OwnedInfo &hints);

// Which memory a buffer is in: as the hint for this direction says, else as libucd finds.
Status find_memory(const void *buf, uintptr_t count, ucd_type_t type, ucd_info_t info,
                   Direction direction, std::string &memory);
// Whether the processor reaches it.
bool host_reaches(const std::string &memory);

// How data of one memory is moved one way. Made once for whatever is moved alike.
struct Hints {
    // The memory's name, and the other hints of `info`.
    Status set(const std::string &memory, ucd_info_t info, Direction direction);

    OwnedInfo info;      // where the data is, so that libucd does not look
    OwnedInfo near;      // of a device: for what is there too
    bool on_host = true; // the processor reaches it
    std::string device;  // whose memory it is in, if the processor does not reach it; else ""
};

// Up to that many bytes, data is one message. The ring is not worth its question for less.
uint64_t direct_limit(const TransferOptions &options, const Hints &hints);

// Of a buffer: `made`, or for host memory of which `info` says nothing, `for_host`.
Status find_hints(const void *buf, uintptr_t count, ucd_type_t type, ucd_info_t info,
                  Direction direction, const Hints &for_host, std::unique_ptr<const Hints> &made,
                  const Hints *&hints);

// The arguments of a call.
struct Data {
    const void *buf = nullptr;
    uintptr_t count = 0;
    ucd_type_t type = UCD_TYPE__BYTE;
    const Hints *hints = nullptr; // if they are known
};

class TypedBuffer {
public:
    // What is unpacked is combined with what is there by `op`. The hints are found, by `info`,
    // unless they are known; then they stay where they are meanwhile, as those for the host do.
    Status set(const Data &data, ucd_info_t info, Direction direction, const Hints &for_host,
               ucd_op_t op = UCD_OP__REPLACE);

    uint64_t bytes() const { return bytes_; }
    // What it takes to move so many of them by the host, as a ledger counts it.
    uint64_t steps(uint64_t bytes) const { return steps_of(bytes, segments_, bytes_); }
    // Those of a message that there is room for.
    uint64_t bytes_of(uint64_t message) const { return std::min(message, bytes()); }
    // The first byte, if all of them are one segment of memory that UCX may read and write.
    char *in_place() const { return in_place_; }
    bool on_host() const { return hints_->on_host; }
    const Hints &hints() const { return *hints_; }
    // Whose memory it is in, if the processor does not reach it; else "".
    const std::string &device() const { return hints_->device; }
    // As in_place(), of a device's memory.
    char *device_in_place() const { return device_in_place_; }

    // The two calls that move a range of the stream; without a request, they wait.
    Status pack(uint64_t offset, void *to, uint64_t bytes, ucd_request_t *request) const;
    Status unpack(uint64_t offset, const void *from, uint64_t bytes, ucd_request_t *request) const;

    // The same, to and from memory that the buffer's device reaches as its own; and a copy there.
    Status pack_to_own_device(uint64_t offset, void *to, uint64_t bytes,
                              ucd_request_t *request) const;
    Status unpack_from_own_device(uint64_t offset, const void *from, uint64_t bytes,
                                  ucd_request_t *request) const;
    Status copy_near(const void *from, void *to, uint64_t bytes, ucd_request_t *request) const;

private:
    Status unpack_by(ucd_info_t hints, uint64_t offset, const void *from, uint64_t bytes,
                     ucd_request_t *request) const;

    char *buf_ = nullptr;
    uintptr_t count_ = 0;
    OwnedType type_;
    const Hints *hints_ = nullptr;
    std::unique_ptr<const Hints> own_hints_; // if nobody else has them
    uint64_t bytes_ = 0, segments_ = 0;
    ucd_op_t op_ = UCD_OP__REPLACE;
    char *in_place_ = nullptr;
    char *device_in_place_ = nullptr;
};

} // namespace ucd_ucx
