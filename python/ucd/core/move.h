// pack_into, unpack, copy, and their forms with requests.
#pragma once

#include "core/request.h"

#include <memory>

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

// A typed array of a call.
struct Side {
    // type: a Type at the array's first element, or None for the array's own layout. `what` is for
    // messages.
    Side(nb::handle array, nb::handle type, intptr_t count, nb::handle stream, const char *what);
    View view;
    Typed whole;
    std::unique_ptr<const View> indices; // what a type by reference reads
};

// A typed array and a packed one, with what both directions of packing check.
struct PackCall {
    PackCall(Side &&typed_side, nb::handle packed_array, const char *what, intptr_t offset,
             nb::handle op, nb::handle hints, nb::handle stream);
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
