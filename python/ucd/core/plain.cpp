#include "core/plain.h"

#include "core/exchange.h"
#include "core/library.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>

namespace ucdpy {

namespace {

// The public structs of NumPy's C interface, as far as they are the same in versions 1 and 2.
struct NumpyArray {
    PyObject head;
    char *data;
    int nd;
    Py_ssize_t *dimensions, *strides;
    PyObject *base, *descr;
    int flags;
};
struct NumpyDescr {
    PyObject head;
    PyObject *typeobj;
    char kind, type, byteorder, former_flags;
    int type_num;
};
constexpr int writeable = 0x400;

// The elements of a dtype, as a View has read them.
struct Number {
    ucd_type_t element = UCD_TYPE__NULL;
    intptr_t itemsize = 0;
};
// By NumPy's numbers of dtypes, of which the last one is that of float16.
std::array<Number, 24> numbers;

const NumpyDescr &descr_of(nb::handle array) {
    const auto *found = reinterpret_cast<const NumpyArray *>(array.ptr());
    return *reinterpret_cast<const NumpyDescr *>(found->descr);
}

Number *number_of(const NumpyDescr &descr) {
    const auto at = static_cast<std::size_t>(descr.type_num);
    return at < numbers.size() ? &numbers[at] : nullptr;
}

// Fills in what follows from shape and strides.
bool finish(Plain &plain, uintptr_t most) {
    intptr_t expected = plain.itemsize;
    plain.is_contiguous = true;
    plain.low = plain.high = 0;
    for (int k = plain.ndim; k-- > 0;) {
        if (plain.shape[k] > 1 && plain.strides[k] != expected) plain.is_contiguous = false;
        intptr_t reach = 0;
        if (__builtin_mul_overflow(plain.shape[k] - 1, plain.strides[k], &reach)) return false;
        intptr_t &end = reach < 0 ? plain.low : plain.high;
        if (__builtin_add_overflow(end, reach, &end)) return false;
        if (__builtin_mul_overflow(expected, plain.shape[k], &expected)) return false;
        if (expected <= 0 || static_cast<uintptr_t>(expected) > most) return false;
    }
    plain.high += plain.itemsize;
    plain.size = expected / plain.itemsize;
    return plain.data != nullptr;
}

bool read_numpy(nb::handle array, uintptr_t most, Plain &plain) {
    const auto *found = reinterpret_cast<const NumpyArray *>(array.ptr());
    const NumpyDescr &descr = descr_of(array);
    if (found->nd > Plain::max_dims || (descr.byteorder != '=' && descr.byteorder != '|'))
        return false;
    const Number *const number = number_of(descr);
    if (!number || number->element == UCD_TYPE__NULL) return false;
    plain.element = number->element;
    plain.itemsize = number->itemsize;
    plain.data = found->data;
    plain.ndim = found->nd;
    std::copy_n(found->dimensions, found->nd, plain.shape);
    std::copy_n(found->strides, found->nd, plain.strides);
    plain.is_writable = (found->flags & writeable) != 0;
    return finish(plain, most);
}

// Notes the elements of an array's dtype. False if its number is no number of one dtype.
bool learn_number(nb::handle array) {
    const View view(array);
    Number *const number = number_of(descr_of(array));
    if (!number || number->element != UCD_TYPE__NULL) return false;
    *number = {view.element, view.itemsize};
    return true;
}

bool agrees(nb::handle array) {
    const View view(array);
    Plain plain;
    return read_numpy(array, 1 << 20, plain) && plain.data == view.data &&
           plain.ndim == view.ndim && plain.element == view.element &&
           plain.itemsize == view.itemsize && plain.is_writable != view.readonly &&
           std::equal(view.shape, view.shape + view.ndim, plain.shape) &&
           std::equal(view.strides, view.strides + view.ndim, plain.strides);
}

// numpy.ndarray, once NumPy is there and some arrays were read alike in both ways.
std::atomic<PyTypeObject *> numpys_class;
std::atomic<PyObject *> empty_of_numpy;

void learn_numpy() {
    static std::atomic<bool> tried;
    const nb::object numpy = loaded_module("numpy");
    if (numpy.is_none() || !nb::hasattr(numpy, "ndarray") || tried.exchange(true)) return;
    bool all = true;
    for (const char *kind :
         {"?", "i1", "B", "i2", "H", "i4", "I", "l", "L", "q", "Q", "e", "f4", "f8", "c8", "c16"}) {
        const nb::object made = numpy.attr("ones")(nb::make_tuple(2, 3), kind);
        const nb::object turned = made.attr("T");
        const nb::object frozen = turned[nb::int_(1)];
        all = all && learn_number(made) && agrees(made) && agrees(turned);
        frozen.attr("flags").attr("writeable") = nb::bool_(false);
        all = all && agrees(frozen);
    }
    empty_of_numpy = nb::object(numpy.attr("empty")).release().ptr();
    if (all)
        numpys_class =
            reinterpret_cast<PyTypeObject *>(nb::object(numpy.attr("ndarray")).release().ptr());
}

bool read_tensor(nb::handle array, const KnownClass &known, uintptr_t most, Plain &plain) {
    const dlpack::Exchange &exchange = *known.exchange;
    dlpack::Tensor tensor{};
    if (!exchange.borrowed_tensor || exchange.borrowed_tensor(array.ptr(), &tensor) != 0)
        return false;
    if (tensor.ndim > Plain::max_dims || tensor.ndim < 0 ||
        (tensor.ndim > 0 && (!tensor.shape || !tensor.strides)) || tensor.dtype.lanes != 1 ||
        tensor.dtype.bits % 8 != 0)
        return false;
    plain.element = dlpack::number_of(tensor.dtype);
    plain.is_on_host = tensor.device.type == dlpack::cpu;
    if (plain.element == UCD_TYPE__NULL) return false;
    // Of others, the general function asks.
    if (plain.is_on_host && reason_against_values(array, tensor.dtype)) return false;
    plain.itemsize = tensor.dtype.bits / 8;
    plain.data = static_cast<char *>(tensor.data);
    if (!plain.data) return false;
    plain.data += tensor.byte_offset;
    plain.ndim = tensor.ndim;
    std::copy_n(tensor.shape, tensor.ndim, plain.shape);
    for (int k = 0; k < tensor.ndim; ++k)
        if (__builtin_mul_overflow(tensor.strides[k], plain.itemsize, &plain.strides[k]))
            return false;
    plain.is_writable = known.is_torchs; // a borrowed tensor does not say
    return finish(plain, most);
}

} // namespace

bool is_numpys(nb::handle array) {
    return Py_TYPE(array.ptr()) == numpys_class.load(std::memory_order_relaxed);
}

PyObject *numpys_empty() {
    return empty_of_numpy.load(std::memory_order_relaxed);
}

bool read_plain(nb::handle array, uintptr_t most, Plain &plain) {
    return read_anywhere(array, most, plain) && plain.is_on_host;
}

bool read_anywhere(nb::handle array, uintptr_t most, Plain &plain) {
    if (is_numpys(array)) return read_numpy(array, most, plain);
    if (const KnownClass *known = known_class_of(array))
        return read_tensor(array, *known, most, plain);
    if (!numpys_class.load(std::memory_order_relaxed)) learn_numpy();
    return false;
}

} // namespace ucdpy
