// Calls without options but `convert`, of ordinary arrays of the host that are small: most of the
// time of such a call would be the reading of arguments. What is not such a call, errors included,
// is left to the general function.
#include "core/quick.h"

#include "core/exchange.h"
#include "core/hints.h"
#include "core/move.h"
#include "core/plain.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace ucdpy {

namespace {

constexpr uintptr_t most_bytes = quick_bytes - 1;

// Objects that stay for ever. Made when the module is, since Python may switch threads while it
// makes an object.
struct Objects {
    explicit Objects(nb::handle module)
        : core(module.inc_ref().ptr()), keyword_dtype(PyTuple_Pack(1, dtype)),
          keyword_convert(PyTuple_Pack(1, convert)) {}
    PyObject *core, *new_empty = PyUnicode_InternFromString("new_empty"),
                    *shape = PyUnicode_InternFromString("shape"),
                    *dtype = PyUnicode_InternFromString("dtype"),
                    *convert = PyUnicode_InternFromString("convert");
    PyObject *keyword_dtype, *keyword_convert; // names of arguments
};
const Objects *objects;

// Whether no byte can be in both.
bool are_apart(const Plain &a, const Plain &b) {
    return a.data + a.high <= b.data + b.low || b.data + b.high <= a.data + a.low;
}

struct Layout {
    explicit Layout(const Plain &array)
        : owner(array.is_contiguous
                    ? nullptr
                    : shared_type(array.ndim, array.shape, array.strides, array.element)),
          type(owner ? owner->get() : array.element),
          count(owner ? 1 : static_cast<uintptr_t>(array.size)) {}
    SharedType owner; // of a type that is not the elements'
    ucd_type_t type;
    uintptr_t count;
};

// Moves all bytes of one array to another one of as many. False if the library refuses.
bool move(const Plain &from, const Plain &to) {
    const ucd_info_t info = info_of(nb::handle(Py_None), true);
    uintptr_t bytes = 0;
    if (from.is_contiguous && to.is_contiguous) {
        std::memcpy(to.data, from.data, from.bytes());
        return true;
    }
    if (to.is_contiguous) {
        const Layout a(from);
        return ucd_pack(from.data, a.count, a.type, 0, to.data, to.bytes(), &bytes, info,
                        UCD_OP__REPLACE) == UCD_SUCCESS;
    }
    if (from.is_contiguous) {
        const Layout b(to);
        return ucd_unpack(from.data, from.bytes(), to.data, b.count, b.type, 0, &bytes, info,
                          UCD_OP__REPLACE) == UCD_SUCCESS;
    }
    const Layout a(from), b(to);
    return ucd_copy(from.data, a.count, a.type, to.data, b.count, b.type, &bytes, info,
                    UCD_OP__REPLACE) == UCD_SUCCESS;
}

bool read_pair(PyObject *const *given, Plain &from, Plain &to) {
    return read_plain(given[0], most_bytes, from) && read_plain(given[1], most_bytes, to) &&
           to.is_writable && are_apart(from, to);
}

// What a quick function gives: a new reference, or nullptr if the general one has to do it.
PyObject *moved(const Plain &from, const Plain &to) {
    return move(from, to) ? PyLong_FromSize_t(from.bytes()) : nullptr;
}

bool have_same_shape(const Plain &from, const Plain &to) {
    return from.ndim == to.ndim && std::equal(from.shape, from.shape + from.ndim, to.shape);
}

PyObject *copy(PyObject *, PyObject *const *given) {
    Plain from, to;
    const bool usable = read_pair(given, from, to) && from.bytes() == to.bytes() &&
                        from.element == to.element && have_same_shape(from, to);
    return usable ? moved(from, to) : nullptr;
}

// Converts elements. False if the library refuses.
bool convert(const Plain &from, const Plain &to, ucd_op_t op) {
    const Layout a(from), b(to);
    uintptr_t bytes = 0;
    return ucd_copy(from.data, a.count, a.type, to.data, b.count, b.type, &bytes,
                    info_of(nb::handle(Py_None), true), op) == UCD_SUCCESS;
}

// A copy with the option `convert`, which comes last.
PyObject *converting_copy(PyObject *, PyObject *const *given) {
    Plain from, to;
    if (!read_pair(given, from, to) || !have_same_shape(from, to)) return nullptr;
    const ucd_op_t op = op_of(nb::handle(Py_None), nb::handle(given[2]));
    return op != UCD_OP__REPLACE && convert(from, to, op) ? PyLong_FromSize_t(to.bytes()) : nullptr;
}

PyObject *pack_into(PyObject *, PyObject *const *given) {
    Plain from, to;
    const bool usable =
        read_pair(given, from, to) && from.bytes() == to.bytes() && to.is_contiguous;
    return usable ? moved(from, to) : nullptr;
}

PyObject *unpack(PyObject *, PyObject *const *given) {
    Plain from, to;
    const bool usable =
        read_pair(given, from, to) && from.bytes() == to.bytes() && from.is_contiguous;
    return usable ? moved(from, to) : nullptr;
}

// A new array like another one. shape: a tuple or a number. dtype: nullptr for the same one.
nb::object made_like(PyObject *like, nb::handle shape, PyObject *dtype) {
    if (!is_numpys(like)) {
        if (const KnownClass *known = known_class_of(like); !known || !known->is_torchs)
            return nb::object();
        PyObject *given[] = {like, shape.ptr(), dtype};
        return nb::steal(PyObject_VectorcallMethod(objects->new_empty, given, 2,
                                                   dtype ? objects->keyword_dtype : nullptr));
    }
    const nb::object same =
        dtype ? nb::object() : nb::steal(PyObject_GetAttr(like, objects->dtype));
    PyObject *given[] = {shape.ptr(), dtype ? dtype : same.ptr()};
    return nb::steal(PyObject_Vectorcall(numpys_empty(), given, 2, nullptr));
}

constexpr uintptr_t any_size = uintptr_t{1} << 62;

// Calls the general function of the extension for arrays of any size and in any memory. Whether it
// moved them.
bool moved_by(const char *name, std::initializer_list<PyObject *> arrays,
              PyObject *convert = nullptr) {
    std::vector<PyObject *> given(arrays);
    if (convert) given.push_back(convert);
    const nb::object function = nb::steal(PyObject_GetAttrString(objects->core, name));
    return nb::steal(PyObject_Vectorcall(function.ptr(), given.data(), arrays.size(),
                                         convert ? objects->keyword_convert : nullptr))
        .is_valid();
}

PyObject *pack(PyObject *, PyObject *const *given) {
    Plain from, to;
    if (!read_anywhere(given[0], any_size, from)) return nullptr;
    nb::object made = made_like(given[0], nb::make_tuple(from.size), nullptr);
    if (!made.is_valid()) return nullptr;
    const bool is_quick = from.is_on_host && from.bytes() <= most_bytes;
    const bool done = is_quick ? read_plain(made, most_bytes, to) && move(from, to)
                               : moved_by("pack_into", {given[0], made.ptr()});
    return done ? made.release().ptr() : nullptr;
}

PyObject *cast(PyObject *, PyObject *const *given) {
    Plain from, to;
    if (!read_anywhere(given[0], any_size, from)) return nullptr;
    if (!is_numpys(given[0]) && PyUnicode_Check(given[1])) return nullptr;
    const nb::object shape = nb::steal(PyObject_GetAttr(given[0], objects->shape));
    if (!shape.is_valid()) return nullptr;
    nb::object made = made_like(given[0], shape, given[1]);
    if (!made.is_valid()) return nullptr;
    const bool is_quick = from.is_on_host && from.bytes() <= most_bytes;
    const bool done =
        (is_quick && read_plain(made, 8 * most_bytes, to) && convert(from, to, UCD_OP__CONVERT)) ||
        moved_by("copy", {given[0], made.ptr()}, Py_True);
    return done ? made.release().ptr() : nullptr;
}

// Bytes of a pool's entry, if that is contiguous; 0 if not.
uintptr_t bytes_of_row(const Plain &pool) {
    if (pool.ndim < 1) return 0;
    intptr_t row = pool.itemsize;
    for (int k = pool.ndim; k-- > 1; row *= pool.shape[k])
        if (pool.shape[k] > 1 && pool.strides[k] != row) return 0;
    return static_cast<uintptr_t>(row);
}

// Copies the rows that indices choose. False if one is no row: before a row is copied, unless
// another thread writes to the list meanwhile.
bool copy_rows(const Plain &pool, const Plain &indices, uintptr_t row, char *to) {
    const auto *const list = reinterpret_cast<const int64_t *>(indices.data);
    const auto is_row = [&](int64_t at) { return at >= 0 && at < pool.shape[0]; };
    if (!std::all_of(list, list + indices.size, is_row)) return false;
    for (intptr_t i = 0; i < indices.size; ++i, to += row) {
        const int64_t at = list[i];
        if (!is_row(at)) return false;
        std::memcpy(to, pool.data + at * pool.strides[0], row);
    }
    return true;
}

// Larger ones are moved by libucd as well as by memcpy.
constexpr uintptr_t most_rows = 1 << 22;

// Gathers rows into an array; the bytes, or 0 if the general function has to do it.
uintptr_t gather_rows(const Plain &pool, const Plain &indices, nb::handle out) {
    const uintptr_t row = bytes_of_row(pool);
    Plain to;
    if (row == 0 || indices.element != UCD_TYPE__INT64_T || indices.ndim != 1 ||
        !indices.is_contiguous || !read_plain(out, most_rows, to) || !to.is_writable ||
        !to.is_contiguous || to.bytes() / row != static_cast<uintptr_t>(indices.size) ||
        to.bytes() % row != 0 || !are_apart(pool, to) || !are_apart(indices, to))
        return 0;
    bool done = false;
    (void)run(to.bytes() < 4 * quick_bytes, [&] {
        done = copy_rows(pool, indices, row, to.data);
        return UCD_SUCCESS;
    });
    return done ? to.bytes() : 0;
}

PyObject *gather_into(PyObject *, PyObject *const *given) {
    Plain pool, indices;
    const bool readable =
        read_plain(given[0], any_size, pool) && read_plain(given[1], any_size, indices);
    const uintptr_t bytes = readable ? gather_rows(pool, indices, given[2]) : 0;
    return bytes > 0 ? PyLong_FromSize_t(bytes) : nullptr;
}

PyObject *gather(PyObject *, PyObject *const *given) {
    Plain pool, indices;
    if (!read_anywhere(given[0], any_size, pool) || !read_anywhere(given[1], any_size, indices) ||
        pool.ndim < 1 || indices.ndim != 1)
        return nullptr;
    nb::list shape;
    shape.append(indices.size);
    for (int k = 1; k < pool.ndim; ++k) shape.append(pool.shape[k]);
    nb::object made = made_like(given[0], nb::tuple(shape), nullptr);
    if (!made.is_valid()) return nullptr;
    const bool is_on_host = pool.is_on_host && indices.is_on_host;
    const bool done = (is_on_host && gather_rows(pool, indices, made) > 0) ||
                      moved_by("gather_into", {given[0], given[1], made.ptr()});
    return done ? made.release().ptr() : nullptr;
}

using Quick = PyObject *(*)(PyObject *, PyObject *const *);

// Returns whether a call has one option, and this is `convert`.
bool only_converts(PyObject *names) {
    return PyTuple_Size(names) == 1 && PyTuple_GetItem(names, 0) == objects->convert;
}

// What Python calls: `general` is the function that takes all arguments.
template <Quick quick, Py_ssize_t arguments, Quick converting>
PyObject *entry(PyObject *general, PyObject *const *given, Py_ssize_t count, PyObject *names) {
    const Quick chosen = !names ? quick : converting && only_converts(names) ? converting : nullptr;
    if (count == arguments && chosen) {
        try {
            if (PyObject *result = chosen(general, given)) return result;
        } catch (...) { // which the general function raises again
        }
        PyErr_Clear();
    }
    return PyObject_Vectorcall(general, given, static_cast<std::size_t>(count), names);
}

template <Quick quick, Py_ssize_t arguments, Quick converting = nullptr>
nb::object before(nb::handle general, const char *name) {
    // Both stay as long as the process, as CPython wants it of a definition.
    auto *const text = new std::string(nb::str(nb::getattr(general, "__doc__")).c_str());
    const auto function = reinterpret_cast<PyCFunction>(
        reinterpret_cast<void (*)()>(&entry<quick, arguments, converting>));
    auto *const definition =
        new PyMethodDef{name, function, METH_FASTCALL | METH_KEYWORDS, text->c_str()};
    return nb::steal(PyCFunction_NewEx(definition, general.ptr(), nullptr));
}

nb::object quickened(nb::handle general) {
    const std::string name = nb::str(nb::getattr(general, "__name__")).c_str();
    if (name == "pack") return before<&pack, 1>(general, "pack");
    if (name == "cast") return before<&cast, 2>(general, "cast");
    return before<&gather, 2>(general, "gather");
}

} // namespace

void bind_quick(nb::module_ &m) {
    objects = new Objects(m);
    m.attr("copy") = before<&copy, 2, &converting_copy>(m.attr("copy"), "copy");
    m.attr("pack_into") = before<&pack_into, 2>(m.attr("pack_into"), "pack_into");
    m.attr("unpack") = before<&unpack, 2>(m.attr("unpack"), "unpack");
    m.attr("gather_into") = before<&gather_into, 3>(m.attr("gather_into"), "gather_into");
    m.def("quickened", &quickened, nb::arg("general"));
}

} // namespace ucdpy
