// The extension module ucd._core: libucd's functions over Python's arrays.
#include "core/batch.h"
#include "core/device.h"
#include "core/gather.h"
#include "core/hints.h"
#include "core/ipc.h"
#include "core/lists.h"
#include "core/move.h"
#include "core/overlap.h"
#include "core/quick.h"
#include "core/request.h"
#include "core/stream.h"

#include <nanobind/stl/string.h>

#include <exception>
#include <string>
#include <typeinfo>

namespace ucdpy {

namespace {

nb::tuple version() {
    int major = 0, minor = 0, patch = 0;
    check(ucd_version(&major, &minor, &patch));
    return nb::make_tuple(major, minor, patch);
}

nb::list backends() {
    nb::list list;
    for (const ucd_backend_desc_t &d : backend_list())
        list.append(nb::make_tuple(d.name, d.available != 0, d.devices, d.version, d.reason));
    return list;
}

std::string memory(nb::handle array) {
    const View view(array);
    require_device(view, HintOf::none, UCD_INFO__NULL, Notices::no, "array");
    return memory_of(view);
}

uintptr_t address(nb::handle array) {
    return reinterpret_cast<uintptr_t>(View(array).data);
}

// Waits for what the array's library has enqueued in its current stream.
void synchronize(nb::handle array) {
    const View view(array);
    synchronize_producers(view, view);
}

nb::object element_of(nb::handle array) {
    return View(array).element_type();
}

// Shape, Type of the elements, and what ucd._dtypes makes a numpy.dtype of.
nb::tuple described(nb::handle array, const char *what) {
    const View view(array, View::no_stream, what);
    return nb::make_tuple(extents(view.shape, view.ndim), view.element_type(),
                          view.element_dtype());
}

// The same with address and strides.
nb::tuple placed(nb::handle array, bool written) {
    const View view(array);
    if (written) view.require_writable("the array");
    return nb::make_tuple(reinterpret_cast<uintptr_t>(view.data), extents(view.shape, view.ndim),
                          extents(view.strides, view.ndim), view.element_type(),
                          view.element_dtype());
}

nb::tuple shape_and_strides(nb::handle array, const char *what) {
    const View view(array, View::no_stream, what);
    return nb::make_tuple(extents(view.shape, view.ndim), extents(view.strides, view.ndim));
}

uintptr_t stream_of(nb::handle array, nb::handle stream) {
    const View view(array, dlpack_stream_of(stream));
    return reinterpret_cast<uintptr_t>(
        order_of(view.backend ? &view : nullptr, true, stream).native.native);
}

uintptr_t packed_size(nb::handle array, nb::handle type, intptr_t count) {
    const Side side(array, type, count, nb::none(), "array");
    ucd_layout_t layout{};
    layout.struct_size = sizeof layout;
    check(ucd_get_layout(side.whole.count, side.whole.type, &layout));
    return layout.bytes;
}

bool op_is_supported(nb::handle op, nb::handle type, const std::string &backend) {
    int supported = 0;
    check(ucd_op_is_supported(op_of(op), to_type(type).get(), backend.c_str(), &supported));
    return supported != 0;
}

} // namespace

} // namespace ucdpy

NB_MODULE(_core, m) {
    using namespace ucdpy;
    using nb::arg;
    // Constants and caches of a program live until it ends.
    nb::set_leak_warnings(false);
    // An entry of a tuple or list that is not of the type that it must be.
    nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::bad_cast &) {
            PyErr_SetString(PyExc_TypeError,
                            "an entry of an argument is not of the type that it must be");
        }
    });
    read_environment();
    check(ucd_init(UCD_INFO__NULL));
    bind_type(m);
    bind_hints(m);
    bind_request(m);
    bind_move(m);
    bind_batch(m);
    bind_gather(m);
    bind_ipc(m);
    bind_lists(m);
    bind_overlap(m);
    bind_quick(m);
    m.def("version", &version);
    m.def("backends", &backends);
    m.def(
        "memory", &memory, arg("array").none(),
        "Which memory an array is in: 'host', 'pinned', 'managed', or a device such as 'cuda:0'.\n"
        "Initialises no GPU driver.");
    m.def("address", &address, arg("array").none(), "The address of an array's first element.");
    m.def("synchronize", &synchronize, arg("array").none(),
          "Waits for what the array's library has enqueued in its current stream. Nothing for "
          "arrays of the host.");
    m.def("element_of", &element_of, arg("array").none(), "The Type of an array's elements.");
    m.def("described", &described, arg("array").none(), arg("what") = "the array",
          "Shape, and the Type and the dtype of the elements, of which ucd.interop.Element(type, "
          "dtype) is made.");
    m.def("placed", &placed, arg("array").none(), arg("written") = false,
          "Address, shape, strides, and the Type and the dtype of the elements. written: raises if "
          "it is read-only.");
    m.def("stream_of", &stream_of, arg("array"), arg("stream").none() = nb::none(),
          "The address of the stream that work on a device array is to be enqueued in: the current "
          "one of its\n"
          "library, or `stream`, which then waits for the current one where ucd's functions do.");
    m.def("shape_and_strides", &shape_and_strides, arg("array").none(), arg("what") = "the array",
          "Shape and strides. Strides are in bytes.");
    m.def("packed_size", &packed_size, arg("array").none(), arg("type").none() = nb::none(),
          arg("count") = 1,
          "The bytes that an array's elements have when packed, or those of count of a type that "
          "is laid\n"
          "over its memory. Raises ValueError if the type leaves the memory.");
    m.def("op_is_supported", &op_is_supported, arg("op"), arg("type"), arg("backend") = "seq",
          "Whether a backend ('seq', 'cuda', 'hip', 'ze') supports an op for a type.");
}
