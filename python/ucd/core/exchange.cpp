#include "core/exchange.h"

#include "core/library.h"

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

namespace ucdpy {

namespace {

constexpr const char *attribute_name = "__dlpack_c_exchange_api__";

const dlpack::Exchange *usable(nb::handle capsule) {
    const auto *found = static_cast<const dlpack::Exchange *>(
        PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")
            ? PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api")
            : nullptr);
    // A producer has few versions; a longer chain is a ring.
    for (int k = 0; k < 16 && found; ++k, found = found->other_version)
        if (found->major == 1)
            return found->managed_tensor && found->current_stream ? found : nullptr;
    return nullptr;
}

const dlpack::Exchange *defined_by(nb::handle type) {
    const nb::object own = nb::getattr(type, "__dict__");
    PyObject *capsule = PyMapping_GetItemString(own.ptr(), attribute_name);
    if (capsule) return usable(nb::steal(capsule));
    PyErr_Clear();
    return nullptr;
}

// Classes with an interface. They stay, with one reference each, since an interface may not go
// before the process does. Entries below `known_classes` do not change any more.
std::array<KnownClass, 8> known;
std::atomic<std::size_t> known_classes = 0;
std::mutex adding;

void remember(nb::handle array, const dlpack::Exchange *exchange) {
    const nb::handle type = array.type();
    const bool is_torchs = is_of(array, "torch", "Tensor");
    const std::lock_guard lock(adding);
    const std::size_t n = known_classes.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < n; ++i)
        if (known[i].type == type.ptr()) return;
    if (n == known.size()) return;
    known[n] = {type.inc_ref().ptr(), exchange, is_torchs};
    known_classes.store(n + 1, std::memory_order_release);
}

// Names of attributes as Python looks them up quickest. They stay for ever.
struct Names {
    PyObject *requires_grad = PyUnicode_InternFromString("requires_grad");
    PyObject *is_neg = PyUnicode_InternFromString("is_neg");
    PyObject *is_conj = PyUnicode_InternFromString("is_conj");
};
const Names &names() {
    static const Names made;
    return made;
}

// An answer, or a missing attribute, which means no.
bool is_true(PyObject *answer) {
    if (answer) return nb::steal(answer).is(nb::handle(Py_True));
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nb::python_error();
    PyErr_Clear();
    return false;
}

bool calls_true(nb::handle array, PyObject *method) {
    PyObject *arguments[] = {array.ptr()};
    return is_true(PyObject_VectorcallMethod(method, arguments, 1, nullptr));
}

} // namespace

const KnownClass *known_class_of(nb::handle array) {
    const nb::handle type = array.type();
    const std::size_t n = known_classes.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < n; ++i)
        if (known[i].type == type.ptr()) return &known[i];
    return nullptr;
}

const dlpack::Exchange *exchange_of(nb::handle array) {
    if (const KnownClass *found = known_class_of(array)) return found->exchange;
    const dlpack::Exchange *found = defined_by(array.type());
    if (found) remember(array, found);
    return found;
}

void check_producer(int rc) {
    if (rc == 0) return;
    if (!PyErr_Occurred()) raise(PyExc_BufferError, "the array's library failed, and said nothing");
    throw nb::python_error();
}

const char *reason_against_values(nb::handle array, const dlpack::DataType &dtype) {
    if (dlpack::is_integer(dtype)) return nullptr;
    if (is_true(PyObject_GetAttr(array.ptr(), names().requires_grad)) && records_gradients())
        return "the tensor requires a gradient, which ucd does not pass on; use "
               "tensor.detach() or torch.no_grad()";
    if (calls_true(array, names().is_neg))
        return "the tensor's values are negated when they are read; use tensor.resolve_neg()";
    if (dlpack::is_complex(dtype) && calls_true(array, names().is_conj))
        return "the tensor's values are conjugated when they are read; use tensor.resolve_conj()";
    return nullptr;
}

void *current_stream_of(const dlpack::Exchange &exchange, const char *backend, int device) {
    void *stream = nullptr;
    const int32_t type = std::strcmp(backend, "hip") == 0 ? dlpack::rocm : dlpack::cuda;
    check_producer(exchange.current_stream(type, device, &stream));
    return stream;
}

} // namespace ucdpy
