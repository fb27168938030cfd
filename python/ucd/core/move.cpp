#include "core/move.h"

#include "core/hints.h"
#include "core/overlap.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ucdpy {

Side::Side(nb::handle array, nb::handle type, intptr_t count, nb::handle stream, const char *name)
    : view(array, dlpack_stream_of(stream), name),
      whole(type.is_none() ? typed(view) : typed(view, to_type(type), count, name)), what(name),
      own_layout(type.is_none()) {}

Side::Side(nb::handle array, nb::handle stream, const char *name)
    : view(array, dlpack_stream_of(stream), name), what(name) {
    whole.count = view.require_contiguous(name);
}

bool Side::plain_host() const {
    return view.plain_host && std::all_of(whole.indices.begin(), whole.indices.end(),
                                          [](const auto &list) { return list->plain_host; });
}

std::optional<uintptr_t> Side::bytes() const {
    if (whole.type == UCD_TYPE__NULL) return whole.count;
    uintptr_t size = 0, all = 0;
    check(ucd_get_size(whole.type, &size));
    if (__builtin_mul_overflow(size, whole.count, &all)) return std::nullopt;
    return all;
}

View::Range Side::range() const {
    if (own_layout || !whole.indices.empty()) return view.range();
    return touched(whole);
}

void Side::require_distinct(ucd_op_t op) const {
    if (op == UCD_OP__REPLACE || op == UCD_OP__CONVERT || op == UCD_OP__CONVERT_SAT) return;
    if (whole.type == UCD_TYPE__NULL) return; // contiguous
    const auto on_host_twice = [](const auto &list) { return !list->backend && repeats(*list); };
    const IndexLists &lists = whole.indices;
    const bool twice = own_layout      ? overlaps_itself(view)
                       : lists.empty() ? overlaps_itself(whole.type, whole.count)
                                       : false;
    if (twice || std::any_of(lists.begin(), lists.end(), on_host_twice))
        raise(PyExc_ValueError,
              "%s has an element in several places of the stream, so the op would give a result "
              "that depends on their order",
              what);
}

bool meet(const char *a, View::Range of_a, const char *b, View::Range of_b) {
    const auto from = reinterpret_cast<intptr_t>(a), to = reinterpret_cast<intptr_t>(b);
    return of_a.low < of_a.high && of_b.low < of_b.high && from + of_a.low < to + of_b.high &&
           to + of_b.low < from + of_a.high;
}

namespace {

// Elements of two arrays by what ucd._meanings knows of them. `check` is a function of it.
void compare_elements(const char *check, const Side &from, const Side &to) {
    nb::module_::import_("ucd._meanings")
        .attr(check)(from.view.element_type(), from.view.element_dtype(), from.what,
                     to.view.element_type(), to.view.element_dtype(), to.what);
}

bool are_plain_numbers(const View &a, const View &b) {
    return a.element_dtype().is_none() && b.element_dtype().is_none();
}

// Raises ValueError unless two arrays have one shape, and one dtype if elements are not converted.
void require_alike(const Side &from, const Side &to, bool converts) {
    const View &a = from.view, &b = to.view;
    if (a.ndim != b.ndim || !std::equal(a.shape, a.shape + a.ndim, b.shape))
        raise(PyExc_ValueError,
              "%s has shape %R, and %s has shape %R: copy moves between equal "
              "ones, copy_bytes between any",
              from.what, extents(a.shape, a.ndim).ptr(), to.what, extents(b.shape, b.ndim).ptr());
    if (converts || (a.element == b.element && are_plain_numbers(a, b))) return;
    compare_elements("require_same_dtype", from, to);
}

// Whether a byte may be in both sides.
bool may_meet(const Side &in, const Side &out) {
    if (!meet(in.view.data, in.range(), out.view.data, out.range())) return false;
    if (!in.own_layout || !out.own_layout) return true;
    if (!in.whole.indices.empty() || !out.whole.indices.empty()) return true;
    std::vector<Term> terms;
    terms.reserve(static_cast<std::size_t>(in.view.ndim + out.view.ndim));
    for (int k = 0; k < in.view.ndim; ++k)
        terms.push_back({0, in.view.shape[k] - 1, in.view.strides[k]});
    for (int k = 0; k < out.view.ndim; ++k)
        terms.push_back({1 - out.view.shape[k], 0, out.view.strides[k]});
    const intptr_t apart =
        reinterpret_cast<intptr_t>(out.view.data) - reinterpret_cast<intptr_t>(in.view.data);
    return reaches(terms, apart + 1 - in.view.itemsize, apart + out.view.itemsize - 1) !=
           Reached::no;
}

// Raises NotSupported if bytes of the one mean something else in the other: numbers of the two byte
// orders, or dates in different units. Types that are given say what bytes mean, and are believed.
void require_same_meaning(const Side &from, const Side &to) {
    const View &a = from.view, &b = to.view;
    if (!from.own_layout || !to.own_layout || a.itemsize <= 1 || b.itemsize <= 1) return;
    if (!are_plain_numbers(a, b)) compare_elements("require_same_meaning", from, to);
}

bool move_something(const Side &from, const Side &to) {
    return from.whole.count > 0 && to.whole.count > 0;
}

} // namespace

void require_usable(const Side &from, const Side &to, ucd_op_t op) {
    to.view.require_writable(to.what);
    to.require_distinct(op);
    require_same_meaning(from, to);
}

void require_devices(const Side &from, const Side &to, ucd_info_t info, Notices notices) {
    if (!move_something(from, to)) return;
    require_device(from.view, HintOf::inbuf, info, notices, from.what);
    require_device(to.view, HintOf::outbuf, info, notices, to.what);
    for (const Side *side : {&from, &to}) require_device(side->whole.indices, info, notices);
}

void require_same_length(const Side &typed, const Side &packed, uintptr_t offset) {
    const std::optional<uintptr_t> all = typed.bytes();
    const uintptr_t rest = all && *all > offset ? *all - offset : 0;
    if (!all || rest == packed.whole.count) return;
    const std::string sentence =
        std::string(packed.what) + " has " + std::to_string(packed.whole.count) + " bytes, and " +
        typed.what + " has " + std::to_string(rest) + " packed bytes" +
        (offset > 0 ? " from the offset on" : "") + "; partial=True moves what both have";
    raise_status(UCD_ERR__TRUNCATED, sentence.c_str());
}

Call::Call(Kind what, Side &&from, Side &&to, intptr_t skipped, ucd_op_t with, bool partial,
           const Options &options)
    : kind(what), in(std::move(from)), out(std::move(to)), offset(static_cast<uintptr_t>(skipped)),
      op(with), info(info_of(options.hints, in.plain_host() && out.plain_host())) {
    if (skipped < 0) raise(PyExc_ValueError, "offset is %zd; it must be >= 0", skipped);
    require_usable(in, out, op);
    if (kind != copying && !partial)
        require_same_length(kind == packing ? in : out, kind == packing ? out : in, offset);
    const Side &smaller = kind == packing ? out : in;
    const std::optional<uintptr_t> bytes = smaller.bytes();
    quick = bytes && *bytes < quick_bytes && in.plain_host() && out.plain_host();
}

int Call::invoke(uintptr_t &bytes, const ucd_stream_t *stream, ucd_request_t *request) const {
    const void *const from = in.view.data;
    void *const to = out.view.data;
    const Typed &a = in.whole, &b = out.whole;
    const auto call = [&](auto blocking, auto starting, auto in_stream, auto... sides) {
        if (stream) return in_stream(sides..., &bytes, info, op, *stream);
        if (request) return starting(sides..., &bytes, info, op, request);
        return blocking(sides..., &bytes, info, op);
    };
    switch (kind) {
    case packing:
        return call(ucd_pack, ucd_ipack, ucd_pack_stream, from, a.count, a.type, offset, to,
                    b.count);
    case unpacking:
        return call(ucd_unpack, ucd_iunpack, ucd_unpack_stream, from, a.count, to, b.count, b.type,
                    offset);
    case copying: break;
    }
    return call(ucd_copy, ucd_icopy, ucd_copy_stream, from, a.count, a.type, to, b.count, b.type);
}

void Call::separate(nb::handle stream) {
    if (!move_something(in, out) || !may_meet(in, out)) return;
    const View::Range range = in.range();
    const auto span = static_cast<uintptr_t>(range.high - range.low);
    const nb::object memory =
        nb::module_::import_("ucd._arrays").attr("new_bytes")(in.view.object, span);
    copied.emplace(memory, dlpack_stream_of(stream), in.what);
    const Order order = order_of(in.view, *copied, {}, stream);
    const char *const from = in.view.data + range.low;
    uintptr_t bytes = 0;
    check(run(false, [&] {
        return order.in_stream ? ucd_pack_stream(from, span, UCD_TYPE__BYTE, 0, copied->data, span,
                                                 &bytes, info, UCD_OP__REPLACE, order.native)
                               : ucd_pack(from, span, UCD_TYPE__BYTE, 0, copied->data, span, &bytes,
                                          info, UCD_OP__REPLACE);
    }));
    in.view.stand_in(*copied, copied->data - range.low);
}

// Returns the lists that the types of both sides read.
IndexLists Call::indices() const {
    IndexLists all = in.whole.indices;
    all.insert(all.end(), out.whole.indices.begin(), out.whole.indices.end());
    return all;
}

void Call::make_capturable(const Order &order) const {
    std::vector<Typed> types;
    for (const Side *side : {&in, &out})
        if (side->whole.type != UCD_TYPE__NULL) types.push_back(side->whole);
    check(order.make_capturable(std::move(types), op, info));
}

uintptr_t Call::move(const Options &options) {
    // Without hints, arrays of which both are in device memory are a stream's.
    const bool on_devices = in.view.backend && out.view.backend;
    require_devices(in, out, info,
                    on_devices && info == UCD_INFO__NULL ? Notices::yes : Notices::no);
    separate(options.stream);
    const Order order = order_of(in.view, out.view, indices(), options.stream);
    if (!order.in_stream)
        for (const Side *side : {&in, &out}) synchronize_producers(side->whole.indices);
    if (order.captured) make_capturable(order);
    uintptr_t bytes = 0;
    int rc = run(quick,
                 [&] { return invoke(bytes, order.in_stream ? &order.native : nullptr, nullptr); });
    if (rc != UCD_SUCCESS && order.in_stream && on_devices && in.view.device != out.view.device) {
        // A device that does not reach the other one: through host memory.
        synchronize_producers(in.view, out.view);
        rc = run(false, [&] { return invoke(bytes, nullptr, nullptr); });
    }
    check(rc);
    // Memory of a library is reused in the order of its own stream.
    const View &first = in.view.backend ? in.view : out.view;
    const auto is_in_other_order = [&](const Side &side) {
        return side.copied_indices && (!options.stream.is_none() ||
                                       !are_of_one_library(*side.whole.indices.back(), first));
    };
    const bool must_wait = options.wait || (!on_devices && !options.non_blocking) ||
                           (copied && !options.stream.is_none()) || is_in_other_order(in) ||
                           is_in_other_order(out) ||
                           (order.between_devices && options.stream.is_none() && bytes > 0);
    if (order.in_stream && must_wait) order.wait(first);
    return bytes;
}

Request *Call::start() {
    require_devices(in, out, info, Notices::no);
    synchronize_producers(in.view, out.view);
    for (const Side *side : {&in, &out}) synchronize_producers(side->whole.indices);
    separate(nb::none());
    if (copied) synchronize_producers(*copied, *copied);
    uintptr_t bytes = 0;
    ucd_request_t request = UCD_REQUEST__NULL;
    check(run(quick, [&] { return invoke(bytes, nullptr, &request); }));
    Used used;
    if (request != UCD_REQUEST__NULL) {
        for (Side *side : {&in, &out}) {
            used.types.push_back(std::move(side->whole));
            used.views.push_back(std::move(side->view));
        }
        if (copied) used.views.push_back(std::move(*copied));
    }
    return new Request(request, bytes, std::move(used));
}

namespace {

Call packing(const Options &options, nb::handle src, nb::handle out, nb::handle type,
             intptr_t count, intptr_t offset, nb::handle op, bool partial) {
    return {Call::packing,
            {src, type, count, options.stream, "src"},
            {out, options.stream, "out"},
            offset,
            op_of(op),
            partial,
            options};
}

Call unpacking(const Options &options, nb::handle packed, nb::handle dst, nb::handle type,
               intptr_t count, intptr_t offset, nb::handle op, bool partial) {
    return {Call::unpacking,
            {packed, options.stream, "packed"},
            {dst, type, count, options.stream, "dst"},
            offset,
            op_of(op),
            partial,
            options};
}

Call copying(const Options &options, nb::handle src, nb::handle dst, nb::handle op,
             nb::handle convert) {
    const nb::handle own(Py_None);
    Side from(src, own, 1, options.stream, "src"), to(dst, own, 1, options.stream, "dst");
    const ucd_op_t with = op_of(op, convert);
    require_alike(from, to, with == UCD_OP__CONVERT || with == UCD_OP__CONVERT_SAT);
    return {Call::copying, std::move(from), std::move(to), 0, with, true, options};
}

Call copying_bytes(const Options &options, nb::handle src, nb::handle dst, nb::handle src_type,
                   intptr_t src_count, nb::handle dst_type, intptr_t dst_count, nb::handle op,
                   nb::handle convert) {
    return {Call::copying,
            {src, src_type, src_count, options.stream, "src"},
            {dst, dst_type, dst_count, options.stream, "dst"},
            0,
            op_of(op, convert),
            true,
            options};
}

} // namespace

void bind_move(nb::module_ &m) {
    using nb::arg;
    const nb::object none = nb::none();
    bind_call(m, "pack_into", &packing,
              R"(Packs an array into contiguous memory, and returns the bytes written.

src     any array, of any shape and strides. Its elements are packed in C order, without the padding
        of structured ones.
out     a contiguous array of any element, of as many bytes as are packed.
type    a Type, laid over the memory from src's first element on, instead of src's own layout; count
        of them, one extent apart. It must not leave src's memory.
offset  bytes of the packed stream to skip, so data can be packed in pieces.
op      'sum', 'max' and so on, the names of ucd_op_t: out = out op src. Default: 'replace'. For others,
        the output has no byte twice.
hints   ucd.Hints, for this call.
stream  for arrays in device memory: torch's or CuPy's stream, an integer, or an object with
        __cuda_stream__. Default: the current stream of the library that the array is from.
partial  moves what both sides have, if their lengths differ.

Host arrays are done on return, and the GIL is released meanwhile. If both arrays are in device memory,
the work is enqueued into the stream, and the call returns; keep the arrays until the stream has
passed, or say wait=True. Between two devices, without stream=, it returns when it is done. If one side is host memory, the call returns when it may be used again;
non_blocking=True returns at once if it is pinned.

src and out may overlap: the result is as if src had been copied first, and it is, unless their bytes are
known to be apart.

Raises Truncated if the lengths differ, BufferError if out is read-only, ValueError if it is not
contiguous, type leaves src's memory, or an op meets a byte of the output twice, NotSupported between
elements of the two byte orders and between dates in different units, TypeError for objects that are
no arrays, and ucd.Error.)",
              arg("src").none(), arg("out").none(), nb::kw_only(), arg("type").none() = none,
              arg("count") = 1, arg("offset") = 0, arg("op").none() = none, arg("partial") = false);
    bind_call(m, "unpack", &unpacking,
              R"(Unpacks contiguous bytes into an array, and returns the bytes read.

packed  a contiguous array of any element, of as many bytes as dst has packed.
dst     any writable array; type and count as in pack_into. An element that its strides repeat gets
        an unspecified one of its values.
offset  where in dst's packed stream the bytes belong.

op, hints, stream, wait, non_blocking, partial, errors, and when the work is done: as pack_into.)",
              arg("packed").none(), arg("dst").none(), nb::kw_only(), arg("type").none() = none,
              arg("count") = 1, arg("offset") = 0, arg("op").none() = none, arg("partial") = false);
    bind_call(
        m, "copy", &copying,
        R"(Copies an array into another one of the same shape and dtype, with any strides, and returns the
bytes written.

convert  True: dtypes may differ. Elements are converted as by Tensor.copy_, and rounded to nearest;
         'saturate': what is too large for a floating type becomes its largest finite number instead
         of infinity.
op       dst = dst op src; see pack_into.

Arrays may be in host memory and on any devices. hints, stream, wait, non_blocking, overlap, and when
the work is done: as pack_into. Raises ValueError if shapes differ, or dtypes without convert, byte
order included; and what pack_into raises.)",
        arg("src").none(), arg("dst").none(), nb::kw_only(), arg("op").none() = none,
        arg("convert") = false);
    bind_call(
        m, "copy_bytes", &copying_bytes,
        R"(Moves the packed bytes of an array into another one of any other layout, and returns how many.

Both sides are read in packed order, so shapes and dtypes need not agree; dst must have room for all of
src, else ucd.Truncated is raised and nothing moves. src_type and dst_type are laid over the arrays as
in pack_into. With convert=True or 'saturate', element i of dst becomes element i of src instead, as in
copy. With an op other than 'replace', both sides must have the same sequence of elements.

hints, stream, wait, non_blocking, overlap, errors, and when the work is done: as pack_into.)",
        arg("src").none(), arg("dst").none(), nb::kw_only(), arg("src_type").none() = none,
        arg("src_count") = 1, arg("dst_type").none() = none, arg("dst_count") = 1,
        arg("op").none() = none, arg("convert") = false);
}

} // namespace ucdpy
