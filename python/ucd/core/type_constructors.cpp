// Type.contiguous, Type.vector, ...: one static method for each constructor of ucd.h.
#include "core/gather.h"
#include "core/integers.h"
#include "core/type.h"
#include "core/view.h"

#include <nanobind/stl/string.h>

#include <string>

namespace ucdpy {

namespace {

// Calls a constructor of libucd whose last arguments are old type, info and result.
template <class F, class... A>
Type make(F function, nb::handle old, A... args) {
    const Type type = to_type(old);
    ucd_type_t made = UCD_TYPE__NULL;
    check(function(args..., type.get(), UCD_INFO__NULL, &made));
    return Type::own(made, type.indices());
}

void require_equal(std::size_t a, std::size_t b, const char *what) {
    if (a != b) raise(PyExc_ValueError, "%s must have the same length: %zu and %zu", what, a, b);
}

intptr_t length(const std::vector<intptr_t> &list) {
    return static_cast<intptr_t>(list.size());
}

int dimensions(std::size_t n) {
    if (n > 1 << 20) raise(PyExc_ValueError, "an array of %zu dimensions", n);
    return static_cast<int>(n);
}

int order_of(const std::string &order) {
    if (order == "C") return UCD_ORDER__C;
    if (order == "F") return UCD_ORDER__FORTRAN;
    raise(PyExc_ValueError, "order must be 'C' or 'F'");
}

int distribution_of(nb::handle object) {
    const auto name = nb::cast<std::string>(object);
    if (name == "block") return UCD_DISTRIBUTE__BLOCK;
    if (name == "cyclic") return UCD_DISTRIBUTE__CYCLIC;
    if (name == "none") return UCD_DISTRIBUTE__NONE;
    raise(PyExc_ValueError, "a distribution must be 'block', 'cyclic' or 'none'");
}

template <auto create, class... Numbers>
Type of_numbers(Numbers... numbers, nb::handle old) {
    return make(create, old, numbers...);
}

template <auto create>
Type indexed_block(intptr_t blocklength, nb::handle displacements, nb::handle old) {
    const auto displs = integers(displacements, "displacements");
    return make(create, old, length(displs), blocklength, displs.data());
}

template <auto create>
Type indexed(nb::handle blocklengths, nb::handle displacements, nb::handle old) {
    const auto lengths = integers(blocklengths, "blocklengths");
    const auto displs = integers(displacements, "displacements");
    require_equal(lengths.size(), displs.size(), "blocklengths and displacements");
    return make(create, old, length(displs), lengths.data(), displs.data());
}

Type structure(nb::handle blocklengths, nb::handle displacements, nb::handle types) {
    const auto lengths = integers(blocklengths, "blocklengths");
    const auto displs = integers(displacements, "displacements");
    require_equal(lengths.size(), displs.size(), "blocklengths and displacements");
    std::vector<Type> olds;
    std::vector<ucd_type_t> handles;
    IndexLists indices;
    for (nb::handle t : nb::iter(types)) {
        olds.push_back(to_type(t));
        handles.push_back(olds.back().get());
        const IndexLists &more = olds.back().indices();
        indices.insert(indices.end(), more.begin(), more.end());
    }
    require_equal(lengths.size(), handles.size(), "blocklengths and types");
    ucd_type_t made = UCD_TYPE__NULL;
    check(ucd_create_struct(length(displs), lengths.data(), displs.data(), handles.data(),
                            UCD_INFO__NULL, &made));
    return Type::own(made, std::move(indices));
}

Type subarray(nb::handle sizes, nb::handle subsizes, nb::handle starts, nb::handle old,
              const std::string &order) {
    const auto whole = integers(sizes, "sizes"), part = integers(subsizes, "subsizes"),
               first = integers(starts, "starts");
    require_equal(whole.size(), part.size(), "sizes and subsizes");
    require_equal(whole.size(), first.size(), "sizes and starts");
    return make(ucd_create_subarray, old, dimensions(whole.size()), whole.data(), part.data(),
                first.data(), order_of(order));
}

Type darray(int size, int rank, nb::handle gsizes, nb::handle distribs, nb::handle dargs,
            nb::handle psizes, nb::handle old, const std::string &order) {
    const auto global = integers(gsizes, "gsizes");
    const auto grid = integers<int>(psizes, "psizes");
    std::vector<int> distributions;
    for (nb::handle d : nb::iter(distribs)) distributions.push_back(distribution_of(d));
    std::vector<intptr_t> blocks;
    for (nb::handle d : nb::iter(dargs))
        blocks.push_back(d.is_none() ? UCD_DISTRIBUTE__DFLT_DARG : nb::cast<intptr_t>(d));
    require_equal(global.size(), distributions.size(), "gsizes and distribs");
    require_equal(global.size(), blocks.size(), "gsizes and dargs");
    require_equal(global.size(), grid.size(), "gsizes and psizes");
    return make(ucd_create_darray, old, size, rank, dimensions(global.size()), global.data(),
                distributions.data(), blocks.data(), grid.data(), order_of(order));
}

Type ndarray(nb::handle shape, nb::handle strides, nb::handle old) {
    const auto counts = integers(shape, "shape"), bytes = integers(strides, "strides");
    require_equal(counts.size(), bytes.size(), "shape and strides");
    return make(ucd_create_ndarray, old, dimensions(counts.size()), counts.data(), bytes.data());
}

Type resized(nb::handle old, intptr_t lb, intptr_t extent) {
    const Type type = to_type(old);
    ucd_type_t made = UCD_TYPE__NULL;
    check(ucd_create_resized(type.get(), lb, extent, UCD_INFO__NULL, &made));
    return Type::own(made, type.indices());
}

Type from_view(nb::handle array) {
    const View view(array);
    return Type(shared_type(view.ndim, view.shape, view.strides, view.element));
}

Type indexed_block_ref(intptr_t blocklength, nb::handle indices, intptr_t unit, intptr_t lb,
                       intptr_t extent, nb::handle old) {
    const Type type = to_type(old);
    const auto held = std::make_shared<const View>(indices);
    const View &list = *held;
    if (!are_plain_indices(list))
        raise(PyExc_TypeError, "indices must be a contiguous one-dimensional array of 32-bit or "
                               "64-bit integers: they are read when data moves");
    ucd_type_t made = UCD_TYPE__NULL;
    check(ucd_create_indexed_block_ref(list.shape[0], blocklength, list.data, list.element, unit,
                                       lb, extent, type.get(), UCD_INFO__NULL, &made));
    IndexLists lists = type.indices();
    lists.push_back(held);
    return Type::own(made, std::move(lists));
}

} // namespace

void bind_type_constructors(nb::class_<Type> &t) {
    using nb::arg;
    t.def_static("contiguous", &of_numbers<ucd_create_contig, intptr_t>, arg("count"),
                 arg("oldtype"), "count elements, one extent apart.");
    t.def_static("dup", &of_numbers<ucd_create_dup>, arg("oldtype"),
                 "The same type under a new handle.");
    t.def_static("vector", &of_numbers<ucd_create_vector, intptr_t, intptr_t, intptr_t>,
                 arg("count"), arg("blocklength"), arg("stride"), arg("oldtype"),
                 "count blocks of blocklength elements; block starts are stride extents apart.");
    t.def_static("hvector", &of_numbers<ucd_create_hvector, intptr_t, intptr_t, intptr_t>,
                 arg("count"), arg("blocklength"), arg("stride"), arg("oldtype"),
                 "As vector, with the stride in bytes.");
    t.def_static("indexed_block", &indexed_block<ucd_create_indexed_block>, arg("blocklength"),
                 arg("displacements"), arg("oldtype"),
                 "Blocks of blocklength elements; block i starts at displacements[i] extents.");
    t.def_static("hindexed_block", &indexed_block<ucd_create_hindexed_block>, arg("blocklength"),
                 arg("displacements"), arg("oldtype"),
                 "As indexed_block, with displacements in bytes.");
    t.def_static("indexed", &indexed<ucd_create_indexed>, arg("blocklengths"), arg("displacements"),
                 arg("oldtype"),
                 "Blocks of their own lengths; block i starts at displacements[i] extents.");
    t.def_static("hindexed", &indexed<ucd_create_hindexed>, arg("blocklengths"),
                 arg("displacements"), arg("oldtype"), "As indexed, with displacements in bytes.");
    t.def_static("struct", &structure, arg("blocklengths"), arg("displacements"), arg("types"),
                 "blocklengths[i] elements of types[i] at byte displacements[i], for each i.");
    t.def_static(
        "subarray", &subarray, arg("sizes"), arg("subsizes"), arg("starts"), arg("oldtype"),
        arg("order") = "C",
        "In dimension i, subsizes[i] elements from starts[i] on, of an array of sizes; the\n"
        "bounds are the array's. order is 'C' or 'F'.");
    t.def_static(
        "darray", &darray, arg("size"), arg("rank"), arg("gsizes"), arg("distribs"), arg("dargs"),
        arg("psizes"), arg("oldtype"), arg("order") = "C",
        "The part of a global array that process rank of size has. distribs has 'block',\n"
        "'cyclic' or 'none' for each dimension, dargs a block size or None, psizes the grid.");
    t.def_static("ndarray", &ndarray, arg("shape"), arg("strides"), arg("oldtype"),
                 "An array of this shape, with strides in bytes of any sign.");
    t.def_static("resized", &resized, arg("oldtype"), arg("lb"), arg("extent"),
                 "The same bytes with explicit bounds lb and lb + extent.");
    t.def_static(
        "from_view", &from_view, arg("array"),
        "The shape, strides and elements of an array. Byte 0 is its first element, so the type\n"
        "fits every array of the same form.");
    t.def_static("indexed_block_ref", &indexed_block_ref, arg("blocklength"), arg("indices"),
                 arg("unit"), arg("lb"), arg("extent"), arg("oldtype"),
                 R"(Blocks of blocklength elements; block i starts at byte indices[i] * unit.

The indices, a contiguous array of 32-bit or 64-bit integers in any memory, are read when data
moves. The type keeps the array alive. All blocks must lie between lb and lb + extent; an index that
puts one elsewhere, or that the move itself overwrites, is undefined behaviour.)");
}

} // namespace ucdpy
