// Arrays of Python's libraries as address, shape, strides and element.
#pragma once

#include "core/dlpack.h"
#include "core/type.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ucdpy {

static_assert(sizeof(Py_ssize_t) == sizeof(intptr_t) && sizeof(int64_t) == sizeof(intptr_t));

// An array for as long as the View exists: the buffer protocol's, __array_interface__'s, DLPack's
// or __cuda_array_interface__'s. Made, moved and destroyed with the GIL held.
class View {
public:
    // stream: what a producer of device memory is told to order its work before; see stream.h.
    // what: the name of the argument, for messages.
    explicit View(nb::handle array, int64_t stream = no_stream, const char *what = "the array");
    ~View() { release(); }
    View(View &&other) noexcept;
    View &operator=(View &&) = delete;

    static constexpr int64_t no_stream = -1;

    char *data = nullptr;
    int ndim = 0;
    const intptr_t *shape = nullptr, *strides = nullptr;
    intptr_t itemsize = 0;
    ucd_type_t element = UCD_TYPE__NULL;
    bool readonly = false;
    // The backend and device whose memory it is, managed memory included; nullptr for host memory.
    const char *backend = nullptr;
    int device = 0;
    // Ordinary host memory, as far as the protocol says.
    bool plain_host = true;
    // How to ask the library of an array in device memory for its current stream, if it is quick.
    const dlpack::Exchange *exchange = nullptr;
    // What was handed in.
    nb::object object;

    // Number of elements.
    intptr_t size() const { return size_; }
    // Elements follow each other without gaps, the last index fastest.
    bool contiguous() const { return is_contiguous_; }
    // The range of bytes that elements lie in, relative to data: 0 and 0 if there are none.
    struct Range {
        intptr_t low = 0, high = 0;
    };
    Range range() const { return range_; }

    // What keeps `element` alive: a Type, or None for predefined ones.
    nb::object element_owner() const {
        return reading_.owner.is_valid() ? reading_.owner : nb::none();
    }
    // What ucd._dtypes makes a numpy.dtype of; None: as `element` says.
    nb::object element_dtype() const {
        return reading_.dtype.is_valid() ? reading_.dtype : nb::none();
    }
    // The Type of `element`: one object for each kind of element.
    nb::object element_type() const;

    // Reads and writes another array's memory from now on, with the same shape and strides.
    void stand_in(const View &other, char *at);

    // Raise BufferError or ValueError.
    void require_writable(const char *what) const;
    // Bytes of a contiguous array.
    uintptr_t require_contiguous(const char *what) const;

private:
    void read(nb::handle array, int64_t stream, const char *what);
    bool from_buffer(nb::handle array);
    // Finds size and range. False if a number does not fit.
    bool find_bounds();
    // Raises unless bytes from data on can be what shape and strides say.
    void require_sound();
    void from_interface(nb::handle array, nb::handle interface, bool on_device);
    bool from_exchange(nb::handle array, int64_t stream);
    void from_dlpack(nb::handle array, int64_t stream);
    bool set_tensor(const dlpack::Tensor &tensor);
    bool set_tensor_strides(const int64_t *strides);
    void set_element(Element reading);
    void set_shape(std::vector<intptr_t> shape_list);
    void set_lists(std::vector<intptr_t> shape_list, nb::handle strides_or_none);
    void set_contiguous_strides();
    void release() noexcept;

    Py_buffer buffer_{};
    bool has_buffer_ = false;
    dlpack::ManagedVersioned *managed_ = nullptr;
    dlpack::Managed *managed_0_ = nullptr; // of DLPack before version 1
    nb::object owner_;                     // a capsule or an interface's dict
    Element reading_;                      // of `element`
    intptr_t size_ = 1;
    bool is_contiguous_ = true;
    Range range_;
    std::vector<intptr_t> shape_list_, strides_list_;
    intptr_t line_[2] = {}; // shape and stride of one dimension
};

// The layout of a whole view, or a type that was given for it, and what keeps that alive. Destroyed
// with the GIL held.
struct Typed {
    ucd_type_t type = UCD_TYPE__NULL;
    uintptr_t count = 1;
    SharedType owner;
    nb::object keep = nb::none(); // the Type of a view's elements
    IndexLists indices;           // what types by reference read
};

// Numbers as a tuple.
nb::tuple extents(const intptr_t *numbers, int n);

// The range of bytes that so many of a type cover. Raises OverflowError if it does not fit.
View::Range touched(const Typed &whole);

// The type of strided elements, which is cached by thread.
SharedType shared_type(int ndim, const intptr_t *shape, const intptr_t *strides,
                       ucd_type_t element);

// The type of a view.
Typed typed(const View &view);

// A type that was given for the memory of a view. Raises ValueError if it leaves that memory.
Typed typed(const View &view, const Type &type, intptr_t count, const char *what);

} // namespace ucdpy
