#include "core/stream.h"

#include "core/device.h"
#include "core/driver.h"
#include "core/exchange.h"
#include "core/library.h"

#include <algorithm>

namespace ucdpy {

namespace {

nb::object attribute_or_none(nb::handle object, const char *name) {
    return nb::getattr(object, name, nb::none());
}

// The stream in which the library of a device array works now; None: the device's default stream.
nb::object current_stream(const View &array) {
    if (is_of(array.object, "torch", "Tensor"))
        return loaded_module("torch").attr("cuda").attr("current_stream")(
            array.device < 0 ? nb::object(nb::none()) : nb::object(nb::int_(array.device)));
    if (is_of(array.object, "cupy", "ndarray"))
        return loaded_module("cupy").attr("cuda").attr("get_current_stream")();
    const nb::object interface = attribute_or_none(array.object, "__cuda_array_interface__");
    if (PyDict_Check(interface.ptr()))
        if (PyObject *stream = PyDict_GetItemString(interface.ptr(), "stream"))
            return nb::borrow(stream);
    return nb::none();
}

void *address_of(nb::handle number) {
    return reinterpret_cast<void *>(nb::cast<uintptr_t>(number));
}

void synchronize(const View &array, nb::handle stream) {
    // __cuda_array_interface__ without a stream says that nothing is outstanding.
    if (stream.is_none() && nb::hasattr(array.object, "__cuda_array_interface__")) return;
    const nb::object function = attribute_or_none(stream, "synchronize");
    if (function.is_none())
        driver::wait_for(array, native_of(stream));
    else
        function();
}

// The stream that a call is given, or else the current one of an array's library.
void *native_stream(const View &array, nb::handle stream) {
    if (!stream.is_none()) return native_of(stream);
    if (array.exchange) return current_stream_of(*array.exchange, array.backend, array.device);
    return native_of(current_stream(array));
}

// The host waits for what the library of an array in device memory has enqueued. PyTorch's streams
// know their devices.
void wait_for_library(const View &array) {
    if (array.exchange && !is_of(array.object, "torch", "Tensor"))
        driver::wait_for(array, current_stream_of(*array.exchange, array.backend, array.device));
    else
        synchronize(array, current_stream(array));
}

// Lets a stream wait for what the library of an array on its device has enqueued.
void follow(const Order &order, const View &array) {
    void *other = nullptr;
    if (array.exchange) {
        other = current_stream_of(*array.exchange, array.backend, array.device);
    } else {
        const nb::object current = current_stream(array);
        // __cuda_array_interface__ without a stream says that nothing is outstanding.
        if (current.is_none() && nb::hasattr(array.object, "__cuda_array_interface__")) return;
        other = native_of(current);
    }
    if (other != order.native.native && !driver::order(array, other, order.native.native))
        driver::wait_for(array, other);
}

} // namespace

bool is_of_another_device(const View &array, const View &first) {
    return array.backend && array.device >= 0 && first.device >= 0 && array.device != first.device;
}

bool are_of_one_library(const View &a, const View &b) {
    return a.exchange == b.exchange && (a.exchange || a.object.type().is(b.object.type()));
}

void synchronize_producers(const View &a, const View &b) {
    for (const View *array : {&a, &b})
        if (array->backend) wait_for_library(*array);
}

void synchronize_producers(const IndexLists &indices) {
    for (const auto &list : indices) synchronize_producers(*list, *list);
}

void *native_of(nb::handle stream) {
    if (stream.is_none()) return nullptr;
    if (PyLong_Check(stream.ptr())) return address_of(stream);
    nb::object found = attribute_or_none(stream, "__cuda_stream__");
    if (!found.is_none()) {
        if (PyCallable_Check(found.ptr())) found = found();
        return address_of(found[1]); // (version, address)
    }
    for (const char *name : {"cuda_stream", "ptr"}) {
        found = attribute_or_none(stream, name);
        if (!found.is_none()) return address_of(found);
    }
    found = attribute_or_none(stream, "handle");
    if (!found.is_none()) {
        if (!PyLong_Check(found.ptr())) found = found.attr("value"); // a ctypes pointer
        return found.is_none() ? nullptr : address_of(found);
    }
    raise(PyExc_TypeError, "stream must be an integer, or an object with __cuda_stream__, "
                           "cuda_stream, ptr or handle");
}

int64_t dlpack_stream_of(nb::handle stream) {
    // Without a stream, the library's current stream is the order.
    return stream.is_none() ? View::no_stream : dlpack::stream_number(native_of(stream));
}

void Order::wait(const View &array) const {
    if (!captured) driver::wait_for(array, native.native);
}

int Order::make_capturable(std::vector<Typed> types, ucd_op_t op, ucd_info_t info) const {
    for (const Typed &typed : types) {
        const int rc = ucd_prepare(typed.count, typed.type, op, native, info);
        if (rc != UCD_SUCCESS) return rc;
    }
    driver::keep_with_graph(native, std::move(types));
    return UCD_SUCCESS;
}

bool devices_reach(const View &array) {
    return array.backend || memory_of(array) != "host";
}

bool devices_reach(const IndexLists &indices) {
    return std::all_of(indices.begin(), indices.end(),
                       [](const auto &list) { return devices_reach(*list); });
}

Order order_of(const View &a, const View &b, const IndexLists &indices, nb::handle stream) {
    const View *on_device = a.backend ? &a : b.backend ? &b : nullptr;
    const bool reaches_all =
        on_device && devices_reach(on_device == &a ? b : a) && devices_reach(indices);
    Order order = order_of(on_device, reaches_all, stream);
    // A captured stream must wait for no other one.
    if (!order.in_stream || order.captured) return order;
    const bool is_own = stream.is_none();
    const auto come_after = [&](const View &array, bool is_ordered) {
        if (!array.backend || array.size() == 0) return;
        if (is_of_another_device(array, *on_device)) {
            wait_for_library(array);
            order.between_devices = true;
        } else if (!is_ordered) {
            follow(order, array);
        }
    };
    // With stream=, the views of both arrays have been ordered, but not lists of types made before.
    if (on_device == &a) come_after(b, !is_own || are_of_one_library(a, b));
    for (const auto &list : indices)
        come_after(*list, is_own && are_of_one_library(*list, *on_device));
    return order;
}

Order order_of(const View *on_device, bool reaches_all, nb::handle stream) {
    if (!on_device) {
        if (!stream.is_none())
            raise(PyExc_ValueError, "stream is for arrays in device memory; no array is");
        return Order();
    }
    Order order;
    order.in_stream = reaches_all;
    if (order.in_stream) {
        order.native.backend = on_device->backend;
        order.native.device = on_device->device;
        order.native.native = native_stream(*on_device, stream);
        order.captured = driver::is_captured(order.native);
    } else {
        synchronize(*on_device, stream.is_none() ? current_stream(*on_device) : nb::borrow(stream));
    }
    return order;
}

} // namespace ucdpy
