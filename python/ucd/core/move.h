// Calls that move data between two arrays: pack_into, unpack, copy, gather_into, scatter, and their
// forms with requests.
#pragma once

#include "core/device.h"
#include "core/request.h"
#include "core/stream.h"

#include <optional>
#include <string>

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

// A typed array of a call, or a packed one, whose type is UCD_TYPE__NULL and whose count is bytes.
struct Side {
    // type: a Type at the array's first element, or None for the array's own layout. `name` is for
    // messages.
    Side(nb::handle array, nb::handle type, intptr_t count, nb::handle stream, const char *name);
    // A contiguous array of packed bytes: without a type, and as many as there are.
    Side(nb::handle array, nb::handle stream, const char *name);
    // Whether the array, and the indices that its type reads, are in ordinary host memory.
    bool plain_host() const;
    // Packed bytes; nothing if they do not fit a number, which the library refuses.
    std::optional<uintptr_t> bytes() const;
    // The range of bytes that may be read or written, relative to the array's first element.
    View::Range range() const;
    // Raises ValueError if an op combines and what it combines into has a byte twice: the result
    // would depend on the order in which elements are taken. Indices on a device are not read.
    void require_distinct(ucd_op_t op) const;
    View view;
    Typed whole;
    const char *what;
    bool own_layout = true;      // no type was given
    bool copied_indices = false; // the type reads a copy in device memory, made for the call
};

// Whether two ranges, each relative to an address, have a byte in common.
bool meet(const char *a, View::Range of_a, const char *b, View::Range of_b);

// Raises what the arrays of a move are refused for whatever device they are on: BufferError if the
// target is read-only, ValueError as require_distinct, NotSupported if bytes of the one side mean
// something else in the other.
void require_usable(const Side &from, const Side &to, ucd_op_t op);

// As require_device, of both sides and their indices, if something is moved.
void require_devices(const Side &from, const Side &to, ucd_info_t info, Notices notices);

// Raises Truncated unless a packed side has as many bytes as the other side from an offset on.
void require_same_length(const Side &typed, const Side &packed, uintptr_t offset);

// What a call takes beside its arrays.
struct Options {
    nb::handle hints, stream;
    bool wait = false, non_blocking = false;
};

// A call with its arguments, checked as far as they are no matter of devices.
struct Call {
    enum Kind { packing, unpacking, copying };
    // partial: whether sides of different lengths may move what both have.
    Call(Kind what, Side &&from, Side &&to, intptr_t skipped, ucd_op_t with, bool partial,
         const Options &options);
    // Moves the data, and returns its bytes: complete on return, or in stream order.
    uintptr_t move(const Options &options);
    // Starts to.
    Request *start();

private:
    int invoke(uintptr_t &bytes, const ucd_stream_t *stream, ucd_request_t *request) const;
    IndexLists indices() const;
    void make_capturable(const Order &order) const;
    // Copies the source if it may have bytes in common with the target, and moves from there.
    void separate(nb::handle stream);

    Kind kind;
    Side in, out;
    uintptr_t offset;
    ucd_op_t op;
    ucd_info_t info;
    bool quick;
    std::optional<View> copied; // memory of the source, if that was copied
};

// Binds `name`, which makes a call of its own arguments and moves, and `iname`, which starts to.
// own: what these arguments are in Python. text: the docstring of `name`.
template <class... Own, class... Arguments>
void bind_call(nb::module_ &m, const char *name, Call (*make)(const Options &, Own...),
               const char *text, const Arguments &...own) {
    using nb::arg;
    const nb::object none = nb::none();
    m.def(
        name,
        [make](Own... given, nb::handle hints, nb::handle stream, bool wait, bool non_blocking) {
            const Options options{hints, stream, wait, non_blocking};
            return make(options, given...).move(options);
        },
        own..., arg("hints").none() = none, arg("stream").none() = none, arg("wait") = false,
        arg("non_blocking") = false, text);
    const std::string as_that =
        std::string("As ") + name +
        ", but returns a Request and does not wait for the work.\nWhat the "
        "current streams of the arrays' libraries have enqueued is waited for "
        "first.";
    m.def((std::string("i") + name).c_str(),
          [make](Own... given, nb::handle hints) {
              return make(Options{hints, nb::handle(Py_None)}, given...).start();
          },
          own..., arg("hints").none() = none, as_that.c_str());
}

void bind_move(nb::module_ &m);

} // namespace ucdpy
