// Types from text, as text, and as pictures: what the tool ucd has, compiled in.
#include "core/predefined.h"
#include "core/type.h"

#include "failure.hpp"
#include "language/build.hpp"
#include "language/parse.hpp"
#include "language/print.hpp"
#include "picture/svg.hpp"

#include <nanobind/stl/string.h>

#include <string>
#include <variant>
#include <vector>

namespace ucdpy {

namespace {

// Calls what throws C++ exceptions of libucd's and of the tool's.
template <class F>
auto translated(F function) {
    try {
        return function();
    } catch (const ucd::Error &e) {
        raise_status(e.code(), e.what());
    }
}

Type from_text(const std::string &text, bool files) {
    using ucdtool::NamedFiles;
    return translated([&] {
        try {
            const auto named = files ? NamedFiles::opened : NamedFiles::refused;
            return Type::own(ucdtool::build(ucdtool::parse(text, named)).release());
        } catch (const ucdtool::SyntaxError &e) {
            const std::string message = "byte " + std::to_string(e.at() + 1) + ": " + e.what() +
                                        "\n" + ucdtool::point_at(text, e.at());
            // Not by a C string: the text may hold a NUL or what is no UTF-8.
            nb::object sentence = nb::steal(PyUnicode_DecodeUTF8(
                message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
            PyErr_SetObject(PyExc_ValueError, sentence.ptr());
            throw nb::python_error();
        }
    });
}

std::string to_text(const Type &type) {
    return translated([&] { return ucdtool::to_text(ucd::TypeRef(type.get())); });
}

nb::object as_object(const ucdtool::Argument &argument) {
    if (const auto *number = std::get_if<intptr_t>(&argument)) return nb::cast(*number);
    if (const auto *node = std::get_if<ucdtool::NodeId>(&argument)) return nb::cast(*node);
    nb::list list;
    if (const auto *ints = std::get_if<ucdtool::Ints>(&argument))
        for (const intptr_t value : ints->values) list.append(value);
    else if (const auto *nodes = std::get_if<std::vector<ucdtool::NodeId>>(&argument))
        for (const ucdtool::NodeId node : *nodes) list.append(node);
    return list;
}

// The constructors of a type of the same flattened bytes, from the elements on: for each its name,
// its arguments, and size, lb and extent of what it makes. Types among arguments are numbers of
// earlier ones. A predefined type has its name and no arguments.
nb::list nodes(const Type &type) {
    const auto expression = translated([&] { return ucdtool::recover(ucd::TypeRef(type.get())); });
    ucdtool::TypeBuilder builder;
    nb::list list;
    for (const ucdtool::Node &node : expression.nodes) {
        const ucd::TypeRef built(translated([&] { return builder.add(node); }));
        nb::list arguments;
        for (const auto &argument : node.arguments) arguments.append(as_object(argument));
        const auto bounds = translated([&] { return built.extent(); });
        list.append(nb::make_tuple(node.constructor != nullptr ? node.constructor->name
                                                               : predefined_name(node.predefined),
                                   arguments, built.size(), bounds.lb, bounds.extent));
    }
    return list;
}

nb::object svg(const Type &type, uintptr_t count, std::size_t columns, std::size_t rows) {
    constexpr std::size_t most = 1000;
    if (columns < 1 || columns > most || rows < 1 || rows > most)
        raise(PyExc_ValueError, "columns and rows must be 1 to %zu", most);
    const std::string figure = translated([&] {
        const ucd::TypeRef shown(type.get());
        return ucdtool::draw_svg(ucdtool::picture_of(shown, count, {columns, rows, 0}),
                                 ucdtool::to_text(shown));
    });
    return nb::str(figure.data(), figure.size());
}

// None, and so the words of __repr__, for types whose indices the host never reads.
nb::object picture_in_notebook(const Type &type) {
    ucd_layout_t layout{};
    layout.struct_size = sizeof layout;
    check(ucd_get_layout(1, type.get(), &layout));
    constexpr std::size_t columns = 48, rows = 16;
    if ((layout.flags & UCD_LAYOUT__BY_REFERENCE) != 0) return nb::none();
    return svg(type, 1, columns, rows);
}

} // namespace

void bind_type_text(nb::module_ &m, nb::class_<Type> &type) {
    m.def("nodes", &nodes, nb::arg("type"));
    type.def_static("from_text", &from_text, nb::arg("text"), nb::kw_only(),
                    nb::arg("files") = false,
                    R"(The type that a text in the type language describes: 'vector(3,1,4,double)'.

The language is that of the tool ucd (docs/reference/type-language.md). files: whether files that
the text names (@list.npy) are opened; without, such a text is refused.

Raises ValueError, with the place in the text, if it is no type, or libucd refuses that.)");
    type.def(
        "to_text", &to_text,
        R"(A text in the type language, of a type that is the same byte by byte and in its bounds.

It is not always the text or the constructors that the type came from. Raises NotSupported for types
of indexed_block_ref.)");
    type.def("svg", &svg, nb::arg("count") = 1, nb::kw_only(), nb::arg("columns") = 64,
             nb::arg("rows") = 32,
             R"(A picture of count of them in memory, as the text of an SVG file.

Cells are bytes of memory, coloured by their place in the packed stream; empty ones are gaps. Large
layouts are scaled to at most so many columns and rows of cells. A notebook shows it by itself.
Raises ValueError if columns or rows are not 1 to 1000, NotSupported for types of
indexed_block_ref.)");
    type.def("_repr_svg_", &picture_in_notebook);
}

} // namespace ucdpy
