#include "transfer/route.h"

#include "layout_walk.h"
#include "pitched_copies.h"
#include "prepared/plain_list.h"
#include "prepared/type_cache.h"
#include "types/ops.h"
#include "types/predefined.h"

namespace ucd {
namespace {

enum class By : uint8_t { none, host, typed, packed };

// Which side's executor moves all of it at once: the first of the two that reaches both sides. Host
// and managed memory count as host here, because the CPU reaches them.
struct Row {
    By first, second;
};
constexpr Row rows[2][2] = {
    // typed on the host
    {
        {By::host, By::none},   // packed on the host
        {By::packed, By::none}, // packed on a device
    },
    // typed on a device
    {
        {By::typed, By::none},   // packed on the host
        {By::typed, By::packed}, // packed on a device
    },
};

Executor executor_of(const Context &context, const MemoryLocation &location) {
    if (location.host_reachable()) return {context.slots[0].backend.get(), Context::host_index, 0};
    const unsigned index = context.index_of(*location.owner);
    return {context.slots[index].backend.get(), index, location.device};
}

// Hints for pinned and managed memory do not tell whose it is: it is that of the other side's
// backend, the only one for which that matters.
void adopt_owner(MemoryLocation &location, const MemoryLocation &other) {
    const bool shared = location.kind == MemoryKind::pinned || location.kind == MemoryKind::managed;
    if (shared && location.owner == nullptr) {
        location.owner = other.owner;
        location.device = other.device;
    }
}

} // namespace

Route find_route(const Context &context, const Hints &hints, MemoryLocation typed,
                 MemoryLocation packed) {
    adopt_owner(typed, packed);
    adopt_owner(packed, typed);
    const Row &row = rows[!typed.host_reachable()][!packed.host_reachable()];
    for (const By by : {row.first, row.second}) {
        if (by == By::none) continue;
        const Executor e = executor_of(context, by == By::packed ? packed : typed);
        if (by == By::host) return {RouteKind::host, e, e, typed.kind, packed.kind};
        if (reaches(e, hints, typed) && reaches(e, hints, packed))
            return {RouteKind::direct, e, e, typed.kind, packed.kind};
    }
    return staged_route(context, typed, packed);
}

Route staged_route(const Context &context, const MemoryLocation &typed,
                   const MemoryLocation &packed) {
    return {RouteKind::staged, executor_of(context, typed), executor_of(context, packed),
            typed.kind, packed.kind};
}

Route find_route(const Context &context, const Hints &hints, const MemoryLocation &typed,
                 const MemoryLocation &packed, Direction direction, Op op, const Type &type) {
    const Route route = find_route(context, hints, typed, packed);
    const MemoryLocation &target = direction == Direction::pack ? packed : typed;
    const bool host_must = route.kind == RouteKind::direct && target.host_reachable() &&
                           !supports(route.packed, op, type);
    return host_must ? staged_route(context, typed, packed) : route;
}

const char *first_byte(const Type &type, const char *typed) {
    const auto at = [typed](int64_t first) {
        return displaced(const_cast<char *>(typed), static_cast<uint64_t>(first));
    };
    if (type.by_reference) return at(type.true_lb);
    const PlainList plain(type);
    return at(plain.list != nullptr ? first_byte_of(plain) : layout_of(type).start);
}

bool is_contiguous(const Transfer &t, char *&address) {
    if (t.type->by_reference) return false;
    const Layout &layout = layout_of(*t.type);
    const Node top = repeat(layout.top(), layout.root, t.count, t.type->extent());
    int64_t first = 0;
    if (!is_consecutive(layout, top, t.offset, t.length, first)) return false;
    address = displaced(t.typed, static_cast<uint64_t>(first));
    return true;
}

Status check_copy_engines(const Transfer &t, Op op) {
    if (op != Op::replace)
        return fail(UCD_ERR__NOT_SUPPORTED, "ucd.engine is dma, which does no reductions");
    if (t.type->by_reference)
        return fail(UCD_ERR__NOT_SUPPORTED,
                    "ucd.engine is dma, which cannot read the indices of the type");
    const Layout &layout = layout_of(*t.type);
    Boxes boxes(layout, boxes_of(*t.type), t.count, t.type->extent());
    if (has_at_most(boxes, t.offset, t.length, max_copies)) return success;
    return fail(UCD_ERR__NOT_SUPPORTED,
                "ucd.engine is dma, which takes up to %zu blocks or boxes; this range has more",
                max_copies);
}

namespace {

// The first element that the executor lacks the op for, or none.
Element unsupported_element(const Executor &executor, Op op, const Type &type) {
    const Elements &elements = elements_of(type);
    if (elements.kind != Element::none)
        return executor.backend->supports(op, elements.kind) ? Element::none : elements.kind;
    for (const Node &node : elements.runs.nodes)
        if (node.kind == NodeKind::block && !executor.backend->supports(op, node.element))
            return node.element;
    return Element::none;
}

} // namespace

bool supports(const Executor &executor, Op op, const Type &type) {
    return op == Op::replace || unsupported_element(executor, op, type) == Element::none;
}

Status check_supported(const Executor &executor, Op op, const Type &type) {
    if (supports(executor, op, type)) return success;
    const std::string_view name =
        predefined_name(predefined_with(unsupported_element(executor, op, type)));
    return fail(UCD_ERR__NOT_SUPPORTED, "backend %s has no %s for %.*s", executor.backend->name(),
                op_name(op).data(), static_cast<int>(name.size()), name.data());
}

} // namespace ucd
