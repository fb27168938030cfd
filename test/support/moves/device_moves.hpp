// Moves between the memories of devices, checked against the oracle.
#pragma once

#include "support/buffers/device_buffer.hpp"
#include "support/fake_device/fake_driver.h"
#include "support/keys.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/move_list.hpp"
#include "support/moves/reducing.hpp"
#include "support/moves/subject.hpp"

#include <cstddef>
#include <string>

namespace ucdtest {

// Hints that are true of two buffers, or none.
class TrueHints : public Keys {
public:
    // Perhaps by copy engines, if these can do it.
    TrueHints(Rng &rng, Memory in, Memory out, bool by_engines);
};

// Whether copy engines can move the type: they read no indices.
bool engines_can(ucd_op_t op, const Subject &subject);

// Who reaches what, where that can be chosen, and how long devices take.
void random_knobs(Rng &rng);

// A subject in one memory, and bytes of its packed stream in another.
struct DeviceMove {
    Case &one;
    ucd_op_t op;
    const ReducedSubject &what;
    DeviceBuffer &typed, &packed;
    std::size_t offset, length; // of the stream; whole elements unless op is REPLACE
};

// Makes the expected images, and sends both buffers to their memories.
void set_up(const DeviceMove &move, bool packs);
inline void set_up_pack(const DeviceMove &move) {
    set_up(move, true);
}
inline void set_up_unpack(const DeviceMove &move) {
    set_up(move, false);
}
// Fetches both buffers and compares.
void check_result(const DeviceMove &move);
// All of it, with a call of some form and hints that are true, or none.
// With hints or without; by the engine, or by any.
void check_device_move(const DeviceMove &move, bool packs, const char *engine = nullptr);
inline void check_device_pack(const DeviceMove &move, const char *engine = nullptr) {
    check_device_move(move, true, engine);
}
inline void check_device_unpack(const DeviceMove &move, const char *engine = nullptr) {
    check_device_move(move, false, engine);
}

// A subject in one memory that is copied to another, of the same elements in the range unless op is
// REPLACE.
struct DeviceCopy {
    Case &one;
    ucd_op_t op;
    const ReducedSubject &source;
    DeviceBuffer &in;
    const ReducedSubject &target;
    DeviceBuffer &out;
    CopyRange range;
    std::size_t bytes() const { return range.is_part ? range.bytes : source.subject.size(); }
};
void set_up_copy(const DeviceCopy &copy);
void check_result(const DeviceCopy &copy);
void check_device_copy(const DeviceCopy &copy, const char *engine = nullptr);

// The same as members of lists.
ucd_move_t pack_of(const DeviceMove &move);
ucd_move_t unpack_of(const DeviceMove &move);
ucd_move_t copy_of(const DeviceCopy &copy);

// Options for types that the device can reduce with the op (REPLACE: all).
RecipeOptions device_options(ucd_op_t op);
ucd_op_t random_device_op(Rng &rng); // REPLACE half of the time

// Small pools of staging chunks, so that little data fills them. No work may be outstanding.
void use_staging(std::size_t chunk_bytes, unsigned chunks);

// Everything that a test on devices starts from and leaves behind: a library that was just started,
// no knob turned, no event, chunk or outstanding work left. (Plans live as long as types.)
class DeviceSession {
public:
    DeviceSession();
    ~DeviceSession();
    DeviceSession(const DeviceSession &) = delete;
    DeviceSession &operator=(const DeviceSession &) = delete;
};

} // namespace ucdtest
