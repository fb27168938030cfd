#include "core/move.h"

#include "core/hints.h"
#include "core/overlap.h"
#include "core/stream.h"

#include <algorithm>
#include <utility>

namespace ucdpy {

Side::Side(nb::handle array, nb::handle type, intptr_t count, nb::handle stream, const char *name)
    : view(array, dlpack_stream_of(stream)),
      whole(type.is_none() ? typed(view) : typed(view, to_type(type), count, name)), what(name),
      own_layout(type.is_none()) {}

Side::Side(nb::handle array, const char *name) : view(array), what(name) {
    whole.count = view.require_contiguous(name);
}

bool Side::plain_host() const {
    return view.plain_host && std::all_of(whole.indices.begin(), whole.indices.end(),
                                          [](const auto &list) { return list->plain_host; });
}

void Side::require_distinct(ucd_op_t op) const {
    if (op == UCD_OP__REPLACE || op == UCD_OP__CONVERT || op == UCD_OP__CONVERT_SAT) return;
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

void require_same_meaning(const View &from, const View &to, const char *to_what) {
    if (from.itemsize <= 1 || to.itemsize <= 1) return;
    const nb::object a = from.element_dtype(), b = to.element_dtype();
    if (a.is_none() && b.is_none()) return; // numbers in this machine's order
    nb::module_::import_("ucd._meanings")
        .attr("require_same_meaning")(from.element_type(), a, to.element_type(), b, to_what);
}

void require_same_meaning(const Side &from, const Side &to) {
    if (from.own_layout && to.own_layout) require_same_meaning(from.view, to.view, to.what);
}

PackCall::PackCall(Direction which, Side &&typed_side, nb::handle packed_array, intptr_t first,
                   nb::handle with, nb::handle hints, nb::handle stream)
    : direction(which), side(std::move(typed_side)), packed(packed_array, dlpack_stream_of(stream)),
      packed_bytes(packed.require_contiguous(packed_name())), offset(static_cast<uintptr_t>(first)),
      op(op_of(with)), info(info_of(hints, side.plain_host() && packed.plain_host)),
      quick(packed_bytes < quick_bytes && side.plain_host() && packed.plain_host) {
    if (first < 0) raise(PyExc_ValueError, "offset is %zd; it must be >= 0", first);
    const bool packs = which == packing;
    if (!packs) side.require_distinct(op);
    if (side.own_layout)
        require_same_meaning(packs ? side.view : packed, packs ? packed : side.view,
                             packs ? packed_name() : side.what);
}

void PackCall::require_devices(Notices notices) const {
    if (side.whole.count == 0 || packed_bytes == 0) return; // nothing moves
    const bool packs = direction == packing;
    require_device(side.view, packs ? HintOf::inbuf : HintOf::outbuf, info, notices, side.what);
    require_device(packed, packs ? HintOf::outbuf : HintOf::inbuf, info, notices, packed_name());
    require_device(side.whole.indices, info, notices);
}

namespace {

// Checks the memories of both arrays, and waits for what has to be complete before a pack or
// unpack.
Order prepare(const PackCall &c, const View &from, const View &to, nb::handle stream) {
    // Without hints, arrays of which both are in device memory are a stream's.
    const bool in_stream = from.backend && to.backend && c.info == UCD_INFO__NULL;
    c.require_devices(in_stream ? Notices::yes : Notices::no);
    const Order order = order_of(from, to, c.side.whole.indices, stream);
    if (!order.in_stream) synchronize_producers(c.side.whole.indices);
    if (order.captured) check(order.make_capturable({{c.side.whole, c.op, c.info}}));
    return order;
}

// Does the same before a call with a request, which has no stream.
void prepare(const PackCall &c) {
    c.require_devices(Notices::no);
    synchronize_producers(c.side.view, c.packed);
    synchronize_producers(c.side.whole.indices);
}

} // namespace

uintptr_t pack(const PackCall &c, nb::handle stream) {
    c.packed.require_writable("out");
    const Order order = prepare(c, c.side.view, c.packed, stream);
    uintptr_t bytes = 0;
    check(run(c.quick, [&] {
        return order.in_stream
                   ? ucd_pack_stream(c.side.view.data, c.side.whole.count, c.side.whole.type,
                                     c.offset, c.packed.data, c.packed_bytes, &bytes, c.info, c.op,
                                     order.native)
                   : ucd_pack(c.side.view.data, c.side.whole.count, c.side.whole.type, c.offset,
                              c.packed.data, c.packed_bytes, &bytes, c.info, c.op);
    }));
    return bytes;
}

uintptr_t unpack(const PackCall &c, nb::handle stream) {
    c.side.view.require_writable("dst");
    const Order order = prepare(c, c.packed, c.side.view, stream);
    uintptr_t bytes = 0;
    check(run(c.quick, [&] {
        return order.in_stream
                   ? ucd_unpack_stream(c.packed.data, c.packed_bytes, c.side.view.data,
                                       c.side.whole.count, c.side.whole.type, c.offset, &bytes,
                                       c.info, c.op, order.native)
                   : ucd_unpack(c.packed.data, c.packed_bytes, c.side.view.data, c.side.whole.count,
                                c.side.whole.type, c.offset, &bytes, c.info, c.op);
    }));
    return bytes;
}

namespace {

Request *request_of(ucd_request_t request, uintptr_t bytes, PackCall &&call) {
    Used used;
    if (request != UCD_REQUEST__NULL) {
        used.types.push_back(std::move(call.side.whole));
        used.views.push_back(std::move(call.side.view));
        used.views.push_back(std::move(call.packed));
    }
    return new Request(request, bytes, std::move(used));
}

uintptr_t pack_into(nb::handle src, nb::handle out, nb::handle type, intptr_t count,
                    intptr_t offset, nb::handle op, nb::handle hints, nb::handle stream) {
    return pack(
        {PackCall::packing, {src, type, count, stream, "src"}, out, offset, op, hints, stream},
        stream);
}

uintptr_t unpack_from(nb::handle packed, nb::handle dst, nb::handle type, intptr_t count,
                      intptr_t offset, nb::handle op, nb::handle hints, nb::handle stream) {
    return unpack(
        {PackCall::unpacking, {dst, type, count, stream, "dst"}, packed, offset, op, hints, stream},
        stream);
}

Request *ipack_into(nb::handle src, nb::handle out, nb::handle type, intptr_t count,
                    intptr_t offset, nb::handle op, nb::handle hints) {
    PackCall c(PackCall::packing, {src, type, count, nb::none(), "src"}, out, offset, op, hints,
               nb::none());
    c.packed.require_writable("out");
    prepare(c);
    uintptr_t bytes = 0;
    ucd_request_t request = UCD_REQUEST__NULL;
    check(run(c.quick, [&] {
        return ucd_ipack(c.side.view.data, c.side.whole.count, c.side.whole.type, c.offset,
                         c.packed.data, c.packed_bytes, &bytes, c.info, c.op, &request);
    }));
    return request_of(request, bytes, std::move(c));
}

Request *iunpack_from(nb::handle packed, nb::handle dst, nb::handle type, intptr_t count,
                      intptr_t offset, nb::handle op, nb::handle hints) {
    PackCall c(PackCall::unpacking, {dst, type, count, nb::none(), "dst"}, packed, offset, op,
               hints, nb::none());
    c.side.view.require_writable("dst");
    prepare(c);
    uintptr_t bytes = 0;
    ucd_request_t request = UCD_REQUEST__NULL;
    check(run(c.quick, [&] {
        return ucd_iunpack(c.packed.data, c.packed_bytes, c.side.view.data, c.side.whole.count,
                           c.side.whole.type, c.offset, &bytes, c.info, c.op, &request);
    }));
    return request_of(request, bytes, std::move(c));
}

// Two typed arrays.
struct CopyCall {
    CopyCall(nb::handle src, nb::handle dst, nb::handle src_type, intptr_t src_count,
             nb::handle dst_type, intptr_t dst_count, nb::handle with, nb::handle convert,
             nb::handle hints)
        : in(src, src_type, src_count, nb::none(), "src"),
          out(dst, dst_type, dst_count, nb::none(), "dst"), op(op_of(with, convert)),
          plain_host(in.plain_host() && out.plain_host()), info(info_of(hints, plain_host)) {
        out.view.require_writable("dst");
        out.require_distinct(op);
        require_same_meaning(in, out);
        require_devices();
        synchronize_producers(in.view, out.view);
        for (const Side *side : {&in, &out}) synchronize_producers(side->whole.indices);
        uintptr_t size = 0;
        check(ucd_get_size(in.whole.type, &size));
        // A product that does not fit is refused by the library.
        quick = size < quick_bytes && size * in.whole.count < quick_bytes && plain_host;
    }
    void require_devices() const {
        if (in.whole.count == 0) return; // nothing moves
        require_device(in.view, HintOf::inbuf, info, Notices::no, "src");
        require_device(out.view, HintOf::outbuf, info, Notices::no, "dst");
        for (const Side *side : {&in, &out}) require_device(side->whole.indices, info, Notices::no);
    }
    Side in, out;
    ucd_op_t op;
    bool plain_host;
    ucd_info_t info;
    bool quick = false;
};

uintptr_t copy(nb::handle src, nb::handle dst, nb::handle src_type, intptr_t src_count,
               nb::handle dst_type, intptr_t dst_count, nb::handle op, nb::handle convert,
               nb::handle hints) {
    const CopyCall c(src, dst, src_type, src_count, dst_type, dst_count, op, convert, hints);
    uintptr_t bytes = 0;
    check(run(c.quick, [&] {
        return ucd_copy(c.in.view.data, c.in.whole.count, c.in.whole.type, c.out.view.data,
                        c.out.whole.count, c.out.whole.type, &bytes, c.info, c.op);
    }));
    return bytes;
}

Request *icopy(nb::handle src, nb::handle dst, nb::handle src_type, intptr_t src_count,
               nb::handle dst_type, intptr_t dst_count, nb::handle op, nb::handle convert,
               nb::handle hints) {
    CopyCall c(src, dst, src_type, src_count, dst_type, dst_count, op, convert, hints);
    uintptr_t bytes = 0;
    ucd_request_t request = UCD_REQUEST__NULL;
    check(run(c.quick, [&] {
        return ucd_icopy(c.in.view.data, c.in.whole.count, c.in.whole.type, c.out.view.data,
                         c.out.whole.count, c.out.whole.type, &bytes, c.info, c.op, &request);
    }));
    Used used;
    if (request != UCD_REQUEST__NULL)
        for (Side *side : {&c.in, &c.out}) {
            used.types.push_back(std::move(side->whole));
            used.views.push_back(std::move(side->view));
        }
    return new Request(request, bytes, std::move(used));
}

} // namespace

void bind_move(nb::module_ &m) {
    using nb::arg;
    const nb::object none = nb::none();
    m.def("pack_into", &pack_into, arg("src"), arg("out"), nb::kw_only(), arg("type").none() = none,
          arg("count") = 1, arg("offset") = 0, arg("op").none() = none, arg("hints").none() = none,
          arg("stream").none() = none,
          R"(Packs an array into contiguous memory, and returns the bytes written.

src     any array, of any shape and strides. Its elements are packed in C order, without the padding
        of structured ones.
out     a contiguous array of any element; its bytes are filled from the first on, at most as many
        as it has.
type    a Type, laid over the memory from src's first element on, instead of src's own layout; count
        of them, one extent apart. It must not leave src's memory.
offset  bytes of the packed stream to skip, so data can be packed in pieces.
op      'sum', 'max' and so on, the names of ucd_op_t: out = out op src. Default: 'replace'. For others,
        the output has no byte twice.
hints   ucd.Hints, for this call.
stream  for arrays in device memory: torch's or CuPy's stream, an integer, or an object with
        __cuda_stream__. Default: the current stream of the library that the array is from.

Host arrays are done on return, and the GIL is released meanwhile. If the device reaches both arrays,
the work is enqueued into the stream; keep the arrays until it has passed. Between device memory and
pageable host memory, the stream is synchronised first, and the work is done on return.

Raises BufferError if out is read-only, ValueError if it is not contiguous, type leaves src's
memory, or an op meets a byte of the output twice, NotSupported between elements of the two byte
orders and between dates in different units, TypeError for objects that are no arrays, and
ucd.Error.)");
    m.def("unpack", &unpack_from, arg("packed"), arg("dst"), nb::kw_only(),
          arg("type").none() = none, arg("count") = 1, arg("offset") = 0, arg("op").none() = none,
          arg("hints").none() = none, arg("stream").none() = none,
          R"(Unpacks contiguous bytes into an array, and returns the bytes read.

packed  a contiguous array of any element.
dst     any writable array; type and count as in pack_into. An element that its strides repeat gets
        an unspecified one of its values.
offset  where in dst's packed stream the bytes belong.

op, hints, stream, errors, and when the work is done: as pack_into.)");
    m.def(
        "copy", &copy, arg("src"), arg("dst"), nb::kw_only(), arg("src_type").none() = none,
        arg("src_count") = 1, arg("dst_type").none() = none, arg("dst_count") = 1,
        arg("op").none() = none, arg("convert") = false, arg("hints").none() = none,
        R"(Moves an array into another one of any other layout, without a packed buffer in between.

Both sides are read in packed order, so shapes need not agree; dst must have room for all of src,
else ucd.Truncated is raised and nothing moves. Bytes are moved: elements are converted only with
convert=True. Element i of dst then becomes element i of src in dst's type, rounded to nearest; with
convert='saturate', what is too large for a floating type becomes its largest finite number instead
of infinity. With an op other than 'replace', both sides must have the same sequence of elements.

Arrays may be in host memory and on any devices: what their libraries' current streams have enqueued
is waited for first, and the work is done on return. src and dst must not overlap. Returns the bytes
written. Errors: as pack_into.)");
    m.def("ipack_into", &ipack_into, arg("src"), arg("out"), nb::kw_only(),
          arg("type").none() = none, arg("count") = 1, arg("offset") = 0, arg("op").none() = none,
          arg("hints").none() = none,
          "As pack_into, but returns a Request and does not wait for "
          "the work.\nWhat the current streams of the arrays' libraries have enqueued is waited "
          "for first.");
    m.def("iunpack", &iunpack_from, arg("packed"), arg("dst"), nb::kw_only(),
          arg("type").none() = none, arg("count") = 1, arg("offset") = 0, arg("op").none() = none,
          arg("hints").none() = none, "As unpack, but returns a Request: see ipack_into.");
    m.def("icopy", &icopy, arg("src"), arg("dst"), nb::kw_only(), arg("src_type").none() = none,
          arg("src_count") = 1, arg("dst_type").none() = none, arg("dst_count") = 1,
          arg("op").none() = none, arg("convert") = false, arg("hints").none() = none,
          "As copy, but returns a Request: see ipack_into.");
}

} // namespace ucdpy
