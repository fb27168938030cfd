// pack_into, unpack, copy, and their forms with requests.
#pragma once

#include "core/device.h"
#include "core/request.h"

namespace ucdpy {

// Below this, giving up the GIL costs more than others gain by it.
constexpr uintptr_t quick_bytes = 1 << 14;

// Runs work of libucd, without the GIL if it may take long; its status.
template <class F>
int run(bool quick, F work) {
    if (quick) return work();
    nb::gil_scoped_release no_gil;
    return work();
}

// A typed array of a call, or a packed one.
struct Side {
    // type: a Type at the array's first element, or None for the array's own layout. `name` is for
    // messages.
    Side(nb::handle array, nb::handle type, intptr_t count, nb::handle stream, const char *name);
    // A contiguous array of packed bytes: without a type, and as many as there are.
    Side(nb::handle array, const char *name);
    // Whether the array, and the indices that its type reads, are in ordinary host memory.
    bool plain_host() const;
    // Raises ValueError if an op combines and what it combines into has a byte twice: the result
    // would depend on the order in which elements are taken. Indices on a device are not read.
    void require_distinct(ucd_op_t op) const;
    View view;
    Typed whole;
    const char *what;
    bool own_layout = true; // no type was given
};

// Raises NotSupported if bytes of the one mean something else in the other: numbers of the two byte
// orders, or dates in different units. Types that are given say what bytes mean, and are believed.
void require_same_meaning(const Side &from, const Side &to);
void require_same_meaning(const View &from, const View &to, const char *to_what);

// A typed array and a packed one, with what both directions of packing check.
struct PackCall {
    enum Direction { packing, unpacking };
    PackCall(Direction which, Side &&typed_side, nb::handle packed_array, intptr_t offset,
             nb::handle op, nb::handle hints, nb::handle stream);
    // Raises NotSupported if libucd cannot use the devices that arrays are in the memory of.
    void require_devices(Notices notices) const;
    const char *packed_name() const { return direction == packing ? "out" : "packed"; }
    Direction direction;
    Side side;
    View packed;
    uintptr_t packed_bytes, offset;
    ucd_op_t op;
    ucd_info_t info;
    bool quick;
};

uintptr_t pack(const PackCall &call, nb::handle stream);
uintptr_t unpack(const PackCall &call, nb::handle stream);

void bind_move(nb::module_ &m);

} // namespace ucdpy
