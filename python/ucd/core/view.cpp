#include "core/view.h"

#include "core/driver.h"
#include "core/exchange.h"
#include "core/library.h"

#include <algorithm>
#include <atomic>

namespace ucdpy {

namespace {

constexpr int max_dims = 64; // NumPy's limit, and the buffer protocol's

nb::object attribute(nb::handle object, const char *name) {
    PyObject *found = PyObject_GetAttrString(object.ptr(), name);
    if (found) return nb::steal(found);
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nb::python_error();
    PyErr_Clear();
    return nb::object();
}

nb::object item(nb::handle dict, const char *key) {
    PyObject *found = PyDict_GetItemString(dict.ptr(), key);
    return found ? nb::borrow(found) : nb::none();
}

std::vector<intptr_t> numbers(nb::handle sequence) {
    std::vector<intptr_t> list;
    for (nb::handle number : nb::iter(sequence)) {
        if (list.size() == max_dims) raise(PyExc_ValueError, "an array of more than 64 dimensions");
        list.push_back(nb::cast<intptr_t>(number));
    }
    return list;
}

// Whether what comes next in a stream, DLPack's number of it, comes after the work in another one.
bool follows(const View &array, void *current, int64_t stream) {
    return stream == dlpack::stream_number(current) ||
           driver::order(array, current, reinterpret_cast<void *>(stream));
}

// What a producer is told to order its work before. A library without current streams is told the
// default stream, which is where calls work then.
int64_t ordered_before(nb::handle array, int64_t stream, int device_type) {
    const bool has_streams = is_of(array, "torch", "Tensor") || is_of(array, "cupy", "ndarray");
    if (stream != View::no_stream || has_streams) return stream;
    return device_type == dlpack::rocm ? 0 : dlpack::stream_number(nullptr);
}

// Classes whose arrays have no mask. They stay, with one reference each.
std::atomic<PyTypeObject *> without_mask[8];

// Whether an array is a masked array of numpy.ma. Such arrays export their data without the mask.
bool is_masked(nb::handle array) {
    PyTypeObject *type = Py_TYPE(array.ptr());
    for (const auto &known : without_mask)
        if (known.load(std::memory_order_relaxed) == type) return false;
    if (is_of(array, "numpy.ma", "MaskedArray")) return true;
    for (auto &known : without_mask) {
        PyTypeObject *none = nullptr;
        if (!known.compare_exchange_strong(none, type)) continue;
        Py_INCREF(reinterpret_cast<PyObject *>(type));
        break;
    }
    return false;
}

[[noreturn]] void raise_masked() {
    raise(PyExc_ValueError, "masked arrays have no layout; give data and mask apart");
}

constexpr const char *no_memory = "the tensor has elements, but no memory of its own";

[[noreturn]] void raise_strides() {
    raise(PyExc_OverflowError, "the tensor's strides do not fit");
}

} // namespace

View::View(nb::handle array, int64_t stream, const char *what) : object(nb::borrow(array)) {
    if (is_masked(array)) raise_masked();
    try {
        read(array, stream, what);
        require_sound();
    } catch (nb::python_error &error) {
        release();
        // PyTorch fails for tensors without memory in ways that depend on its version.
        const nb::object reason =
            nb::module_::import_("ucd._refusals").attr("reason_against")(array);
        if (reason.is_none()) throw;
        nb::raise_from(error, PyExc_BufferError, "%s is %s", what, nb::str(reason).c_str());
    } catch (...) {
        release();
        throw;
    }
}

void View::require_sound() {
    if (itemsize < 0 || std::any_of(shape, shape + ndim, [](intptr_t n) { return n < 0; }))
        raise(PyExc_ValueError, "the array's shape or the size of its elements is negative");
    if (!find_bounds()) raise(PyExc_OverflowError, "the array's shape and strides do not fit");
    if (itemsize == 0 || size_ == 0) return;
    if (!data) raise(PyExc_BufferError, "the array has elements, but their address is 0");
    const auto at = reinterpret_cast<uintptr_t>(data);
    uintptr_t end = 0;
    if (at < -static_cast<uintptr_t>(range_.low) ||
        __builtin_add_overflow(at, static_cast<uintptr_t>(range_.high), &end))
        raise(PyExc_OverflowError, "the array's elements are beyond the end of memory");
}

bool View::find_bounds() {
    if (std::find(shape, shape + ndim, 0) != shape + ndim) {
        size_ = 0;
        return true;
    }
    intptr_t expected = itemsize; // the stride without gaps
    for (int k = ndim; k-- > 0;) {
        intptr_t reach = 0;
        if (__builtin_mul_overflow(shape[k] - 1, strides[k], &reach) ||
            __builtin_mul_overflow(size_, shape[k], &size_))
            return false;
        intptr_t &end = reach < 0 ? range_.low : range_.high;
        if (__builtin_add_overflow(end, reach, &end)) return false;
        if (shape[k] > 1 && strides[k] != expected) is_contiguous_ = false;
        if (__builtin_mul_overflow(expected, shape[k], &expected)) is_contiguous_ = false;
    }
    return !__builtin_add_overflow(range_.high, itemsize, &range_.high);
}

void View::read(nb::handle array, int64_t stream, const char *what) {
    if (from_buffer(array) || from_exchange(array, stream)) return;
    // A host array that the buffer protocol cannot express: bfloat16 of ml_dtypes, dates.
    nb::object found = attribute(array, "__array_interface__");
    if (found.is_valid()) {
        from_interface(array, found, false);
        return;
    }
    if (attribute(array, "__dlpack__").is_valid()) {
        from_dlpack(without_gradient(array), stream);
        return;
    }
    found = attribute(array, "__cuda_array_interface__");
    if (found.is_valid()) {
        from_interface(array, found, true);
        return;
    }
    if (array.is_none()) raise(PyExc_TypeError, "%s is None, which is no array", what);
    raise(PyExc_TypeError,
          "%s is of class '%s', which is no array: it has neither the buffer protocol, nor "
          "__array_interface__, __dlpack__ or __cuda_array_interface__",
          what, nb::str(array.type().attr("__name__")).c_str());
}

View::View(View &&other) noexcept
    : data(other.data), ndim(other.ndim), shape(other.shape), strides(other.strides),
      itemsize(other.itemsize), element(other.element), readonly(other.readonly),
      backend(other.backend), device(other.device), plain_host(other.plain_host),
      exchange(other.exchange), object(std::move(other.object)), buffer_(other.buffer_),
      has_buffer_(other.has_buffer_), managed_(other.managed_), managed_0_(other.managed_0_),
      owner_(std::move(other.owner_)), reading_(std::move(other.reading_)), size_(other.size_),
      is_contiguous_(other.is_contiguous_), range_(other.range_),
      shape_list_(std::move(other.shape_list_)), strides_list_(std::move(other.strides_list_)) {
    other.has_buffer_ = false;
    other.managed_ = nullptr;
    other.managed_0_ = nullptr;
    if (other.shape == &other.line_[0]) {
        line_[0] = other.line_[0];
        line_[1] = other.line_[1];
        shape = &line_[0];
        strides = &line_[1];
    }
}

void View::stand_in(const View &other, char *at) {
    data = at;
    backend = other.backend;
    device = other.device;
    plain_host = other.plain_host;
    exchange = other.exchange;
}

void View::release() noexcept {
    if (has_buffer_) PyBuffer_Release(&buffer_);
    has_buffer_ = false;
    if (!managed_ && !managed_0_) return;
    const nb::error_scope pending; // the producers may run Python
    if (managed_ && managed_->deleter) managed_->deleter(managed_);
    if (managed_0_ && managed_0_->deleter) managed_0_->deleter(managed_0_);
    managed_ = nullptr;
    managed_0_ = nullptr;
}

bool View::from_buffer(nb::handle array) {
    if (!PyObject_CheckBuffer(array.ptr())) return false;
    if (PyObject_GetBuffer(array.ptr(), &buffer_, PyBUF_RECORDS_RO) != 0) {
        PyErr_Clear(); // the other protocols may express it
        return false;
    }
    has_buffer_ = true;
    data = static_cast<char *>(buffer_.buf);
    ndim = buffer_.ndim;
    itemsize = buffer_.itemsize;
    readonly = buffer_.readonly != 0;
    // Some exporters (bytes, array.array) point into the Py_buffer itself, which moves with the
    // View.
    if (ndim == 1) {
        line_[0] = buffer_.shape ? buffer_.shape[0] : buffer_.len / std::max<intptr_t>(itemsize, 1);
        line_[1] = buffer_.strides ? buffer_.strides[0] : itemsize;
        shape = &line_[0];
        strides = &line_[1];
    } else {
        if (ndim < 0 || ndim > max_dims || (ndim > 0 && !buffer_.shape))
            raise(PyExc_BufferError, "a buffer of %d dimensions without a shape", ndim);
        shape = buffer_.shape;
        strides = buffer_.strides;
        if (!strides) set_contiguous_strides(); // ctypes
    }
    set_element(element_of_buffer(array, buffer_.format, itemsize));
    return true;
}

void View::set_element(Element reading) {
    reading_ = std::move(reading);
    element = reading_.type;
}

nb::object View::element_type() const {
    nb::object predefined = predefined_object(element);
    return predefined.is_valid() ? predefined : element_owner();
}

void View::set_contiguous_strides() {
    strides_list_.resize(static_cast<std::size_t>(ndim));
    intptr_t stride = itemsize;
    for (int k = ndim; k-- > 0;) {
        strides_list_[static_cast<std::size_t>(k)] = stride;
        if (__builtin_mul_overflow(stride, shape[k], &stride))
            raise(PyExc_OverflowError, "the array's shape does not fit");
    }
    strides = strides_list_.data();
}

void View::set_shape(std::vector<intptr_t> shape_list) {
    shape_list_ = std::move(shape_list);
    shape = shape_list_.data();
    ndim = static_cast<int>(shape_list_.size());
}

void View::set_lists(std::vector<intptr_t> shape_list, nb::handle strides_or_none) {
    set_shape(std::move(shape_list));
    if (strides_or_none.is_none()) return set_contiguous_strides();
    strides_list_ = numbers(strides_or_none);
    if (strides_list_.size() != shape_list_.size())
        raise(PyExc_ValueError, "the array's shape and strides differ in length");
    strides = strides_list_.data();
}

void View::from_interface(nb::handle array, nb::handle interface, bool on_device) {
    if (!PyDict_Check(interface.ptr()))
        raise(PyExc_TypeError, "the array's interface must be a dict");
    owner_ = nb::borrow(interface);
    if (!item(interface, "mask").is_none()) raise_masked();
    set_element(element_of_interface(array, interface));
    intptr_t lb = 0;
    check(ucd_get_extent(element, &lb, &itemsize));
    const nb::object memory = item(interface, "data");
    if (!PyTuple_Check(memory.ptr()) || nb::len(memory) != 2)
        raise(PyExc_TypeError, "the array's interface must give its data as (address, read-only)");
    data = reinterpret_cast<char *>(nb::cast<uintptr_t>(memory[0]));
    readonly = nb::cast<bool>(memory[1]);
    nb::object said = item(interface, "strides");
    // numba says nothing of strides of 0: it takes such arrays for contiguous.
    if (on_device && said.is_none() && derives_from_package(array, "numba"))
        said = array.attr("strides");
    set_lists(numbers(item(interface, "shape")), said);
    if (on_device) {
        backend = "cuda";
        device = -1;
        plain_host = false;
    }
}

void View::from_dlpack(nb::handle array, int64_t stream) {
    const nb::object where = array.attr("__dlpack_device__")();
    const auto device_type = nb::cast<int>(where[0]);
    nb::dict arguments;
    arguments["max_version"] = nb::make_tuple(1, 0);
    if (dlpack::on_device(device_type))
        arguments["stream"] = ordered_before(array, stream, device_type);
    const nb::object produce = array.attr("__dlpack__");
    PyObject *made = PyObject_Call(produce.ptr(), nb::tuple().ptr(), arguments.ptr());
    if (!made && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear(); // a producer from before version 1
        nb::del(arguments["max_version"]);
        made = PyObject_Call(produce.ptr(), nb::tuple().ptr(), arguments.ptr());
    }
    if (!made) throw nb::python_error();
    owner_ = nb::steal(made);
    dlpack::take(owner_, managed_, managed_0_);
    readonly = managed_ && dlpack::is_readonly(*managed_);
    if (set_tensor(managed_ ? managed_->tensor : managed_0_->tensor)) return;
    // CuPy divides negative strides as if they were unsigned.
    const nb::object interface = attribute(array, "__cuda_array_interface__");
    if (!interface.is_valid()) raise_strides();
    const char *const of_backend = backend;
    const int of_device = device;
    from_interface(array, interface, true);
    if (of_backend) {
        backend = of_backend;
        device = of_device;
    }
}

bool View::from_exchange(nb::handle array, int64_t stream) {
    const dlpack::Exchange *found = exchange_of(array);
    if (!found) return false;
    dlpack::ManagedVersioned *made = nullptr;
    check_producer(found->managed_tensor(array.ptr(), &made));
    managed_ = made;
    if (!managed_) raise(PyExc_BufferError, "the array's library gave no tensor");
    dlpack::require_version(managed_->major);
    readonly = dlpack::is_readonly(*managed_);
    if (!set_tensor(managed_->tensor)) raise_strides();
    if (const char *reason = reason_against_values(array, managed_->tensor.dtype))
        raise(PyExc_BufferError, "%s", reason);
    exchange = found;
    if (!backend || stream == no_stream ||
        follows(*this, current_stream_of(*found, backend, device), stream))
        return true;
    // The driver refused to order the streams. __dlpack__ may do it.
    release();
    shape_list_.clear();
    strides_list_.clear();
    return false;
}

// False if the strides do not fit.
bool View::set_tensor(const dlpack::Tensor &tensor) {
    ndim = tensor.ndim;
    if (ndim < 0 || ndim > max_dims) raise(PyExc_ValueError, "a tensor of %d dimensions", ndim);
    if (ndim > 0 && !tensor.shape) raise(PyExc_BufferError, "a tensor without a shape");
    set_element(dlpack::element_of(tensor.dtype, itemsize));
    if (reading_.owner.is_valid()) set_element(element_of_tensor(object, itemsize));
    set_shape({tensor.shape, tensor.shape + ndim});
    bool fit = true;
    if (tensor.strides)
        fit = set_tensor_strides(tensor.strides);
    else
        set_contiguous_strides();
    data = static_cast<char *>(tensor.data);
    uintptr_t at = 0;
    // Tensors without memory: those of a tracer, or on no device.
    const bool has_elements = std::find(shape, shape + ndim, 0) == shape + ndim;
    if (!data && has_elements) raise(PyExc_BufferError, "%s", no_memory);
    if (data && __builtin_add_overflow(reinterpret_cast<uintptr_t>(data), tensor.byte_offset, &at))
        raise(PyExc_OverflowError, "the tensor's elements are beyond the end of memory");
    if (data) data = reinterpret_cast<char *>(at);
    plain_host = tensor.device.type == dlpack::cpu;
    backend = dlpack::backend_of(tensor.device.type);
    device = tensor.device.id;
    return fit;
}

// In elements. Those that no element is found by may be anything.
bool View::set_tensor_strides(const int64_t *in_elements) {
    const bool empty = std::find(shape, shape + ndim, 0) != shape + ndim;
    strides_list_.assign(static_cast<std::size_t>(ndim), 0);
    strides = strides_list_.data();
    for (int k = 0; k < ndim; ++k) {
        intptr_t &stride = strides_list_[static_cast<std::size_t>(k)];
        if (!__builtin_mul_overflow(in_elements[k], itemsize, &stride)) continue;
        if (!empty && shape[k] > 1) return false;
        stride = 0;
    }
    return true;
}

nb::tuple extents(const intptr_t *numbers, int n) {
    nb::list list;
    for (int k = 0; k < n; ++k) list.append(numbers[k]);
    return nb::tuple(list);
}

void View::require_writable(const char *what) const {
    if (readonly) raise(PyExc_BufferError, "%s is read-only", what);
}

uintptr_t View::require_contiguous(const char *what) const {
    if (!contiguous())
        raise(PyExc_ValueError,
              "%s must be contiguous, since it holds packed bytes; ucd.copy "
              "moves from view to view",
              what);
    return static_cast<uintptr_t>(size()) * static_cast<uintptr_t>(itemsize);
}

} // namespace ucdpy
