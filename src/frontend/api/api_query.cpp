// The functions that query types: size, bounds, layout.

#include "api/api_guard.h"
#include "api/describe.h"
#include "boxes.h"
#include "layout/advice.h"
#include "transfer/check.h"
#include "transfer/context.h"
#include "transfer/route.h"

#include <ucd.h>

#include <algorithm>
#include <cstring>
#include <optional>

using namespace ucd;

namespace {

int get_bounds(const char *function, ucd_type_t handle, intptr_t *lb, intptr_t *extent,
               int64_t Type::*from, int64_t Type::*to) {
    return guard(function, [&]() -> Status {
        const Type *type;
        UCD_TRY(find_type(handle, type));
        UCD_TRY(require(lb, "lb"));
        UCD_TRY(require(extent, "extent"));
        *lb = type->*from;
        *extent = type->*to - type->*from;
        return success;
    });
}

// performance only: compilers zero a struct of this size by an instruction that takes longer to
// start than the rest of the call.
void set_zero(ucd_layout_t &l) {
    constexpr std::size_t piece = 64; // which they zero by stores
    static_assert(sizeof l > 2 * piece && sizeof l <= 3 * piece);
    auto *const bytes = reinterpret_cast<char *>(&l);
    std::memset(bytes, 0, piece);
    std::memset(bytes + piece, 0, piece);
    std::memset(bytes + 2 * piece, 0, sizeof l - 2 * piece);
}

// Finds the box that a node is: up to four strides over one block.
void find_box(const Layout &layout, const Node &top, ucd_layout_t &l) {
    constexpr uint32_t max_dims = sizeof l.box_count / sizeof l.box_count[0];
    const Node *n = &top;
    uint32_t dims = 0;
    for (; n->kind == NodeKind::strided && dims < max_dims; n = &layout.nodes[n->child]) {
        l.box_count[dims] = n->count;
        l.box_stride[dims++] = n->stride;
    }
    if (n->kind != NodeKind::block) {
        std::memset(l.box_count, 0, sizeof l.box_count);
        std::memset(l.box_stride, 0, sizeof l.box_stride);
        return;
    }
    if (dims == 0) {
        l.box_count[0] = 1;
        l.box_stride[0] = static_cast<int64_t>(n->bytes);
        dims = 1;
    }
    l.box_dims = dims;
    l.box_start = layout.start;
    l.box_block = n->bytes;
}

// The number of boxes that ucd_get_boxes lists. A layout that is a single box does not need the
// index of boxes, which takes time to make.
uint64_t count_boxes(const Type &type, const Layout &layout, uint64_t count) {
    const Node top = repeat(layout.top(), layout.root, count, type.extent());
    if (box_levels(layout, top) != no_box) return 1;
    return Boxes(layout, boxes_of(type), count, type.extent()).total();
}

} // namespace

int ucd_get_size(ucd_type_t type, uintptr_t *size) {
    return guard("ucd_get_size", [&]() -> Status {
        const Type *t;
        UCD_TRY(find_type(type, t));
        UCD_TRY(require(size, "size"));
        *size = t->size;
        return success;
    });
}

int ucd_get_extent(ucd_type_t type, intptr_t *lb, intptr_t *extent) {
    return get_bounds("ucd_get_extent", type, lb, extent, &Type::lb, &Type::ub);
}

int ucd_get_true_extent(ucd_type_t type, intptr_t *lb, intptr_t *extent) {
    return get_bounds("ucd_get_true_extent", type, lb, extent, &Type::true_lb, &Type::true_ub);
}

int ucd_get_layout(uintptr_t count, ucd_type_t type, ucd_layout_t *layout) {
    return guard("ucd_get_layout", [&]() -> Status {
        const Type *t;
        UCD_TRY(find_type(type, t));
        UCD_TRY(require(layout, "layout"));
        uint64_t bytes;
        UCD_TRY(check_count(count, *t, "count", bytes));
        const Layout *made = bytes > 0 ? &layout_of(*t) : nullptr; // may fail
        // Filled in place if there is room: copying data that was just written takes longer than
        // finding it.
        const uint32_t struct_size = layout->struct_size;
        ucd_layout_t whole;
        ucd_layout_t &l = struct_size < sizeof whole ? whole : *layout;
        set_zero(l);
        l.struct_size = struct_size;
        l.bytes = bytes;
        l.contiguous = !t->by_reference;
        l.flags = t->by_reference ? UCD_LAYOUT__BY_REFERENCE : 0;
        if (bytes > 0 && t->by_reference) {
            const int64_t reach = displace(0, count - 1, t->extent());
            l.low = displace(t->true_lb, std::min<int64_t>(reach, 0));
            l.high = displace(t->true_ub, std::max<int64_t>(reach, 0));
            l.element = reinterpret_cast<ucd_type_t>(static_cast<uintptr_t>(t->predefined));
        } else if (made != nullptr) {
            const Layout &canonical = *made;
            std::optional<Node> repeated;
            if (count > 1) repeated = repeat(canonical.top(), canonical.root, count, t->extent());
            const Node &top = repeated ? *repeated : canonical.top();
            const Segments &s = top.segments;
            l.contiguous = s.count == 1;
            l.segments = s.count;
            l.min_segment = std::min({s.first_bytes, s.last_bytes, s.inner_min});
            l.max_segment = std::max({s.first_bytes, s.last_bytes, s.inner_max});
            l.low = displace(canonical.start, top.low);
            l.high = displace(canonical.start, top.high);
            l.element = reinterpret_cast<ucd_type_t>(static_cast<uintptr_t>(t->predefined));
            find_box(canonical, top, l);
        }
        return &l == layout ? success : fill_sized(l, layout);
    });
}

int ucd_get_advice(uintptr_t count, ucd_type_t type, uintptr_t min_segment, uintptr_t max_entries,
                   ucd_advice_t *advice) {
    return guard("ucd_get_advice", [&]() -> Status {
        const Type *t;
        UCD_TRY(find_type(type, t));
        UCD_TRY(require(advice, "advice"));
        uint64_t bytes;
        UCD_TRY(check_count(count, *t, "count", bytes));
        AdviceLimits limits;
        if (min_segment != 0) limits.min_segment = min_segment;
        if (max_entries != 0) limits.max_entries = max_entries;
        const Layout &layout = layout_of(*t);
        const Advice made = advise(*t, layout, count, limits);
        ucd_advice_t filled = {};
        filled.form = made.form;
        filled.segments = made.segments;
        filled.bytes = bytes;
        filled.mean_segment = made.mean_segment;
        const bool asked = advice->struct_size > offsetof(ucd_advice_t, boxes);
        if (asked && made.segments > 0) filled.boxes = count_boxes(*t, layout, count);
        return fill_sized(filled, advice);
    });
}

int ucd_get_memory(const void *buf, uintptr_t count, ucd_type_t type, ucd_info_t info, char *memory,
                   uintptr_t memory_size, uintptr_t *needed) {
    return guard("ucd_get_memory", info, [&](Context &context) -> Status {
        const Type *t;
        UCD_TRY(resolve(type, "type", t));
        UCD_TRY(require(needed, "needed"));
        uint64_t bytes;
        UCD_TRY(check_count(count, *t, "count", bytes));
        MemoryLocation location; // the host's
        if (bytes > 0 && context.devices)
            UCD_TRY(find_location(context, CallHints(context, info), nullptr,
                                  first_byte(*t, static_cast<const char *>(buf)), location));
        // performance only: programs may ask before each of many small transfers
        if (location.kind == MemoryKind::host)
            return copy_text("host", "memory", memory, memory_size, needed);
        return copy_text(name_of(location).text, "memory", memory, memory_size, needed);
    });
}

int ucd_describe(ucd_type_t type, char *text, uintptr_t text_size, uintptr_t *needed) {
    return guard("ucd_describe", [&](Context &context) -> Status {
        const Type *t;
        UCD_TRY(resolve(type, "type", t));
        UCD_TRY(require(needed, "needed"));
        return copy_text(describe(*t, context).c_str(), "text", text, text_size, needed);
    });
}
