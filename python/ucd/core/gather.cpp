// gather_into and scatter: parts of an array that a list of indices chooses when data moves.
#include "core/gather.h"

#include "core/hints.h"
#include "core/move.h"
#include "core/stream.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ucdpy {

namespace {

// Raises IndexError unless all indices that the host can read are those of n entries. Indices in
// device memory are never read here.
template <class T>
void check_indices(const View &indices, intptr_t n) {
    const T *list = reinterpret_cast<const T *>(indices.data);
    const intptr_t count = indices.shape[0];
    intptr_t bad = -1;
    (void)run(count < 4096, [&] {
        for (intptr_t i = 0; i < count && bad < 0; ++i)
            if (list[i] < 0 || static_cast<uint64_t>(list[i]) >= static_cast<uint64_t>(n)) bad = i;
        return UCD_SUCCESS;
    });
    if (bad >= 0)
        raise(PyExc_IndexError, "indices[%zd] is %lld; it must be >= 0 and < %zd", bad,
              static_cast<long long>(list[bad]), n);
}

void check_indices(const View &indices, intptr_t n) {
    if (indices.backend) return;
    if (indices.element == UCD_TYPE__INT32_T) return check_indices<int32_t>(indices, n);
    if (indices.element == UCD_TYPE__UINT32_T) return check_indices<uint32_t>(indices, n);
    if (indices.element == UCD_TYPE__INT64_T) return check_indices<int64_t>(indices, n);
    check_indices<uint64_t>(indices, n);
}

SharedType own(ucd_type_t made) {
    return std::make_shared<const TypeHandle>(made, true);
}

// The chosen entries of dimension `axis` of a pool, within what the outer dimensions list, with all
// of the inner ones. Indices are read when data moves.
Typed chosen(const View &pool, const View &indices, int axis) {
    const intptr_t unit = pool.strides[axis], n = pool.shape[axis];
    ucd_type_t made = UCD_TYPE__NULL;
    check(ucd_create_ndarray(pool.ndim - axis - 1, pool.shape + axis + 1, pool.strides + axis + 1,
                             pool.element, UCD_INFO__NULL, &made));
    const SharedType entry = own(made);
    intptr_t low = 0, extent = 0, reach = 0;
    check(ucd_get_true_extent(entry->get(), &low, &extent));
    if (__builtin_mul_overflow(std::max<intptr_t>(n - 1, 0), unit, &reach))
        raise(PyExc_OverflowError, "the array's range of bytes does not fit");
    static const int64_t none = 0; // an address for lists without entries, which may have any
    const void *const list =
        indices.shape[0] > 0 ? indices.data : reinterpret_cast<const char *>(&none);
    check(ucd_create_indexed_block_ref(indices.shape[0], 1, list, indices.element, unit,
                                       low + std::min<intptr_t>(reach, 0), extent + std::abs(reach),
                                       entry->get(), UCD_INFO__NULL, &made));
    Typed t;
    t.owner = own(made);
    if (axis > 0) {
        check(ucd_create_ndarray(axis, pool.shape, pool.strides, made, UCD_INFO__NULL, &made));
        t.owner = own(made);
    }
    t.type = made;
    return t;
}

// Indices as libucd reads them. Lists, strided ones and short integers are copied, in stream order;
// and so are those in memory that the call writes: they were checked, and stay what they are.
// on_device: whether a copy was made there.
View plain_indices(nb::handle given, const View &written, nb::handle stream, bool &on_device) {
    if (!PyList_Check(given.ptr()) && !PyTuple_Check(given.ptr()) && !PyRange_Check(given.ptr())) {
        View indices(given, dlpack_stream_of(stream), "indices");
        if (are_plain_indices(indices) &&
            !meet(indices.data, indices.range(), written.data, written.range()))
            return indices;
        on_device = indices.backend != nullptr;
    }
    return View(nb::module_::import_("ucd._arrays").attr("plain_indices")(given, stream),
                dlpack_stream_of(stream), "indices");
}

// The side of a call that is the chosen part of a pool. out: what the call writes; nullptr: the
// pool.
Side side_of(nb::handle pool, nb::handle index_array, int axis, nb::handle stream,
             const View *out) {
    Side side(pool, nb::none(), 1, stream, "pool");
    const auto held = std::make_shared<const View>(
        plain_indices(index_array, out ? *out : side.view, stream, side.copied_indices));
    const View &indices = *held;
    const View &view = side.view;
    if (axis < -view.ndim || axis >= view.ndim)
        raise(PyExc_ValueError, "axis is %d; the pool has %d dimensions", axis, view.ndim);
    if (axis < 0) axis += view.ndim;
    check_indices(indices, view.shape[axis]);
    side.whole = chosen(view, indices, axis);
    side.whole.indices.push_back(held);
    return side;
}

uintptr_t gather_into(nb::handle pool, nb::handle indices, nb::handle out, int axis, nb::handle op,
                      nb::handle hints, nb::handle stream, bool wait, bool non_blocking,
                      bool partial) {
    const Options options{hints, stream, wait, non_blocking};
    Side to(out, stream, "out");
    return Call(Call::packing, side_of(pool, indices, axis, stream, &to.view), std::move(to), 0,
                op_of(op), partial, options)
        .move(options);
}

uintptr_t scatter(nb::handle packed, nb::handle pool, nb::handle indices, int axis, nb::handle op,
                  nb::handle hints, nb::handle stream, bool wait, bool non_blocking, bool partial) {
    const Options options{hints, stream, wait, non_blocking};
    return Call(Call::unpacking, {packed, stream, "packed"},
                side_of(pool, indices, axis, stream, nullptr), 0, op_of(op), partial, options)
        .move(options);
}

} // namespace

bool are_plain_indices(const View &indices) {
    const bool integers =
        indices.element == UCD_TYPE__INT32_T || indices.element == UCD_TYPE__INT64_T ||
        indices.element == UCD_TYPE__UINT32_T || indices.element == UCD_TYPE__UINT64_T;
    const bool is_aligned =
        integers &&
        reinterpret_cast<uintptr_t>(indices.data) % static_cast<uintptr_t>(indices.itemsize) == 0;
    return indices.ndim == 1 && is_aligned && indices.contiguous();
}

void bind_gather(nb::module_ &m) {
    using nb::arg;
    m.def(
        "gather_into", &gather_into, arg("pool").none(), arg("indices").none(), arg("out").none(),
        nb::kw_only(), arg("axis") = 0, arg("op").none() = nb::none(),
        arg("hints").none() = nb::none(), arg("stream").none() = nb::none(), arg("wait") = false,
        arg("non_blocking") = false, arg("partial") = false,
        R"(Packs the entries of a pool that indices choose along axis, and returns the bytes written.

pool     any array; numpy.take(pool, indices, axis) is what gets packed.
indices  a one-dimensional array of integers, on the host or the device, or a list. Those that are not
         contiguous, of 8 or 16 bits, or in memory that is written, are copied first. Entries may
         repeat. Those on a device are read by the kernel that moves the data, in stream order, and
         are not checked: one outside the pool is undefined behaviour.
out      a contiguous array of any element, of as many bytes.

op, hints, stream, wait, non_blocking, partial, and when the work is done: as pack_into. Raises IndexError for an index on the
host that is negative or too large, and what pack_into raises.)");
    m.def("scatter", &scatter, arg("packed").none(), arg("pool").none(), arg("indices").none(),
          nb::kw_only(), arg("axis") = 0, arg("op").none() = nb::none(),
          arg("hints").none() = nb::none(), arg("stream").none() = nb::none(), arg("wait") = false,
          arg("non_blocking") = false, arg("partial") = false,
          R"(The inverse of gather_into: unpacks contiguous bytes into the entries of a pool that
indices choose along axis, and returns the bytes read. Of an entry that indices name twice, it is
unspecified which of its values it gets; with an op, that is a ValueError for indices on the host, and
unspecified for those on a device.)");
}

} // namespace ucdpy
