#include "core/type.h"

#include "core/predefined.h"

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

namespace ucdpy {

Type to_type(nb::handle object) {
    if (nb::isinstance<Type>(object)) return nb::cast<Type>(object);
    return nb::cast<Type>(nb::module_::import_("ucd._dtypes").attr("of")(object));
}

namespace {

// The objects of the predefined types, in the order of the handle values. They stay.
std::vector<PyObject *> predefined_objects;

} // namespace

std::vector<char> flattened(ucd_type_t type) {
    uintptr_t size = 0;
    check(ucd_flatten_size(type, &size));
    std::vector<char> bytes(size);
    check(ucd_flatten(type, bytes.data(), size));
    return bytes;
}

nb::object predefined_object(ucd_type_t type) {
    const std::size_t index = reinterpret_cast<uintptr_t>(type) - 1;
    return index < predefined_objects.size() ? nb::borrow(predefined_objects[index]) : nb::object();
}

namespace {

// What a function of libucd says of a type, or of a number of them, in one pair of numbers.
template <class F>
std::pair<intptr_t, intptr_t> bounds(F function, const Type &type) {
    intptr_t lb = 0, extent = 0;
    check(function(type.get(), &lb, &extent));
    return {lb, extent};
}

std::string describe(const Type &type) {
    std::string text;
    uintptr_t needed = 0;
    // Plans that another thread makes in between may lengthen it.
    do {
        text.resize(needed);
        const int rc = ucd_describe(type.get(), text.data(), text.size(), &needed);
        if (rc != UCD_ERR__TRUNCATED) check(rc);
    } while (text.size() < needed);
    text.resize(needed - 1); // without the NUL
    return text;
}

nb::dict layout(const Type &type, uintptr_t count) {
    ucd_layout_t l{};
    l.struct_size = sizeof l;
    check(ucd_get_layout(count, type.get(), &l));
    nb::dict d;
    d["contiguous"] = l.contiguous != 0;
    d["by_reference"] = (l.flags & UCD_LAYOUT__BY_REFERENCE) != 0;
    d["bytes"] = l.bytes;
    d["segments"] = l.segments;
    d["min_segment"] = l.min_segment;
    d["max_segment"] = l.max_segment;
    d["low"] = l.low;
    d["high"] = l.high;
    const char *element = predefined_name(l.element);
    d["element"] = element ? nb::object(nb::str(element)) : nb::object(nb::none());
    return d;
}

nb::dict advice(const Type &type, uintptr_t count, uintptr_t min_segment, uintptr_t max_entries) {
    constexpr const char *forms[] = {"contiguous", "iov", "boxes", "pack"};
    ucd_advice_t a{};
    a.struct_size = sizeof a;
    check(ucd_get_advice(count, type.get(), min_segment, max_entries, &a));
    nb::dict d;
    d["form"] = forms[a.form];
    d["segments"] = a.segments;
    d["boxes"] = a.boxes;
    d["bytes"] = a.bytes;
    d["mean_segment"] = a.mean_segment;
    return d;
}

nb::object flatten(const Type &type) {
    const std::vector<char> bytes = flattened(type.get());
    return nb::bytes(bytes.data(), bytes.size());
}

Type unflatten(nb::handle source) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(source.ptr(), &buffer, PyBUF_SIMPLE) != 0) throw nb::python_error();
    ucd_type_t type = UCD_TYPE__NULL;
    const int rc = ucd_unflatten(&type, buffer.buf, static_cast<uintptr_t>(buffer.len));
    PyBuffer_Release(&buffer);
    check(rc);
    return Type::own(type);
}

nb::object reduce(nb::handle self) {
    const Type &type = nb::cast<const Type &>(self);
    nb::module_ pickling = nb::module_::import_("ucd._pickling");
    if (const char *name = predefined_name(type.get()))
        return nb::make_tuple(pickling.attr("predefined"), nb::make_tuple(name));
    return nb::make_tuple(pickling.attr("unflatten"), nb::make_tuple(flatten(type)));
}

std::string represent(const Type &type) {
    if (const char *name = predefined_name(type.get())) return std::string("ucd.types.") + name;
    uintptr_t size = 0;
    check(ucd_get_size(type.get(), &size));
    const auto [lb, extent] = bounds(ucd_get_extent, type);
    return "<ucd.Type of " + std::to_string(size) + " bytes, lb " + std::to_string(lb) +
           ", extent " + std::to_string(extent) + ">";
}

} // namespace

void bind_type(nb::module_ &m) {
    nb::class_<Type> type(
        m, "Type",
        R"(Where bytes lie in memory, and in which order they are packed: an MPI datatype.

Types are immutable, and any threads may share them. The static methods that make them have the
standard's names (MPI-4.1, chapter 5). Counts, block lengths, displacements and strides count
elements of the old type, in methods with an h in the name bytes. Instead of an old type, anything
that names a type of elements will do: 'float32', torch.float32, numpy.int64, a structured
numpy.dtype.)");
    bind_type_constructors(type);
    bind_type_text(m, type);
    type.def_static("unflatten", &unflatten, nb::arg("data"),
                    R"(The type that flatten() wrote; the bytes need not be trusted.

Raises Corrupt if they are not exactly one flattened type.)");
    type.def("flatten", &flatten, R"(The type as bytes, for another process or a file.

Raises NotSupported for types of indexed_block_ref.)");
    type.def_prop_ro(
        "size",
        [](const Type &t) {
            uintptr_t size = 0;
            check(ucd_get_size(t.get(), &size));
            return size;
        },
        "Packed bytes of one.");
    type.def_prop_ro(
        "lb", [](const Type &t) { return bounds(ucd_get_extent, t).first; },
        "Lower bound in bytes.");
    type.def_prop_ro(
        "extent", [](const Type &t) { return bounds(ucd_get_extent, t).second; },
        "Bytes from one to the next in an array of them.");
    type.def_prop_ro(
        "true_lb", [](const Type &t) { return bounds(ucd_get_true_extent, t).first; },
        "The lowest byte that is touched.");
    type.def_prop_ro(
        "true_extent", [](const Type &t) { return bounds(ucd_get_true_extent, t).second; },
        "Bytes from the lowest to the end of the highest that are touched.");
    type.def_prop_ro(
        "name",
        [](const Type &t) -> nb::object {
            const char *name = predefined_name(t.get());
            return name ? nb::object(nb::str(name)) : nb::object(nb::none());
        },
        "The name of a predefined type, None for others.");
    type.def("layout", &layout, nb::arg("count") = 1,
             R"(What count of them look like in memory, as a dict.

contiguous, by_reference: bool. bytes: the packed size. segments, min_segment, max_segment: number
of contiguous pieces, and bytes of the shortest and longest. low, high: all touched bytes lie
between them. element: the name of the predefined type that all elements have, or None.)");
    type.def("advice", &advice, nb::arg("count") = 1, nb::kw_only(), nb::arg("min_segment") = 0,
             nb::arg("max_entries") = 0,
             R"(How count of them are best sent, as a dict.

form: 'contiguous' (as it is), 'iov' (a list of its segments), 'boxes' (one strided box, for a copy
engine) or 'pack'. segments, boxes: the entries that these lists have. bytes: the packed size.
mean_segment: bytes of a segment on average. min_segment, max_entries: from which size on a segment is
worth an entry, and how many entries one operation takes; 0: 1024 each.)");
    type.def(
        "describe", &describe,
        "The type in words, in lines of the form \"key: value\": how it was built, the normalised\n"
        "layout, the kernels that move it, and advice on how to send it.");
    type.def("__reduce__", &reduce);
    type.def("__copy__", [](nb::object self) { return self; });
    type.def(
        "__deepcopy__", [](nb::object self, nb::handle) { return self; }, nb::arg("memo"));
    type.def("__repr__", &represent);

    nb::dict all;
    for (const auto &[name, handle] : predefined_types()) {
        const char *key = name.c_str();
        all[key] = nb::cast(Type(std::make_shared<const TypeHandle>(handle, false)));
        m.attr(key) = all[key];
        predefined_objects.push_back(nb::object(all[key]).release().ptr());
    }
    m.attr("predefined") = all;
}

} // namespace ucdpy
