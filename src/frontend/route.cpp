#include "route.h"

#include "box.h"
#include "derived.h"
#include "layout_walk.h"
#include "ops.h"
#include "predefined.h"

namespace ucd {
namespace {

enum class By : uint8_t { nobody, host, laid_out, packed };

// Who moves all of it in one go: the first of the two that reaches both sides. Host and managed
// memory count as host here, since the CPU reaches them.
struct Row {
    By first, second;
};
constexpr Row rows[2][2] = {
    // laid out on the host
    {
        {By::host, By::nobody},   // packed on the host
        {By::packed, By::nobody}, // packed on a device
    },
    // laid out on a device
    {
        {By::laid_out, By::nobody}, // packed on the host
        {By::laid_out, By::packed}, // packed on a device
    },
};

Executor executor_of(const Context &context, const Place &place) {
    if (place.host_reachable()) return {context.slots[0].backend.get(), Context::host_index, 0};
    const auto index = static_cast<unsigned>(context.index_of(*place.owner));
    return {context.slots[index].backend.get(), index, place.device};
}

Status hinted_place(const Context &context, const PlaceHint &hint, Place &place) {
    place = {hint.kind, hint.device, nullptr};
    if (hint.kind != MemoryKind::device) return success;
    const int index = context.index_of(hint.backend);
    if (index < 0)
        return fail(UCD_ERR__NOT_SUPPORTED, "a hint names backend %s, which is not known",
                    hint.backend.c_str());
    const BackendSlot &slot = context.slots[static_cast<unsigned>(index)];
    const BackendState &state = slot.inspect();
    if (!state.available)
        return fail(UCD_ERR__NOT_SUPPORTED, "a hint names backend %s, which is not available: %s",
                    hint.backend.c_str(), state.reason.c_str());
    if (hint.device < 0 || static_cast<uint32_t>(hint.device) >= state.devices)
        return fail(UCD_ERR__NOT_SUPPORTED, "a hint names device %d of backend %s, which has %u",
                    hint.device, hint.backend.c_str(), state.devices);
    if (index == static_cast<int>(Context::host_index))
        place = {};
    else
        place.owner = slot.backend.get();
    return success;
}

// Hints for pinned and managed memory do not tell whose it is: it is that of the other side's
// backend, the only one for which that matters.
void adopt_owner(Place &place, const Place &other) {
    const bool shared = place.kind == MemoryKind::pinned || place.kind == MemoryKind::managed;
    if (shared && place.owner == nullptr) {
        place.owner = other.owner;
        place.device = other.device;
    }
}

} // namespace

Status find_place(const Context &context, const Hints &hints, const PlaceHint *hint,
                  const void *address, Place &place) {
    place = {};
    if (hints.host_only) return success;
    if (hint != nullptr) return hinted_place(context, *hint, place);
    if (!context.devices) return success;
    for (unsigned i = Context::host_index + 1; i < context.slots.size(); ++i) {
        const Backend *backend = context.slots[i].backend.get();
        if (backend != nullptr && backend->find(address, place)) return success;
        place = {};
    }
    return success;
}

Status Places::find(const PlaceHint *hint, const void *address, Place &place) {
    if (hint == nullptr)
        for (const Place &known : known_)
            if (known.holds(address)) {
                place = known;
                return success;
            }
    UCD_TRY(find_place(context_, hints_, hint, address, place));
    if (place.holds(address)) known_[next_++ % known_.size()] = place;
    return success;
}

bool reaches(const Executor &executor, const Hints &hints, const Place &place) {
    const bool peers = place.kind == MemoryKind::device && place.device != executor.device;
    return (hints.peers || !peers) && executor.backend->reaches(executor.device, place);
}

Route find_route(const Context &context, const Hints &hints, Place laid_out, Place packed) {
    adopt_owner(laid_out, packed);
    adopt_owner(packed, laid_out);
    const Row &row = rows[!laid_out.host_reachable()][!packed.host_reachable()];
    for (const By by : {row.first, row.second}) {
        if (by == By::nobody) continue;
        const Executor e = executor_of(context, by == By::packed ? packed : laid_out);
        if (by == By::host) return {Way::host, e, e, laid_out.kind, packed.kind};
        if (reaches(e, hints, laid_out) && reaches(e, hints, packed))
            return {Way::direct, e, e, laid_out.kind, packed.kind};
    }
    return staged_route(context, laid_out, packed);
}

Route staged_route(const Context &context, const Place &laid_out, const Place &packed) {
    return {Way::staged, executor_of(context, laid_out), executor_of(context, packed),
            laid_out.kind, packed.kind};
}

const char *first_byte(const Type &type, const char *laid_out) {
    return displaced(const_cast<char *>(laid_out), static_cast<uint64_t>(layout_of(type).start));
}

bool is_contiguous(const Transfer &t, char *&address) {
    const Layout &layout = layout_of(*t.type);
    const Node top = repeat(layout.top(), layout.root, t.count, t.type->extent());
    int64_t first = 0;
    if (!is_consecutive(layout, top, t.offset, t.length, first)) return false;
    address = displaced(t.laid_out, static_cast<uint64_t>(first));
    return true;
}

Status check_copy_engines(const Transfer &t, Op op) {
    if (op != Op::replace)
        return fail(UCD_ERR__NOT_SUPPORTED, "ucd.engine is dma, which does no reductions");
    const Layout &layout = layout_of(*t.type);
    const Node top = repeat(layout.top(), layout.root, t.count, t.type->extent());
    std::vector<Box> boxes;
    if (Boxes(layout, boxes).list(top, t.offset, t.length, most_boxes)) return success;
    return fail(UCD_ERR__NOT_SUPPORTED,
                "ucd.engine is dma, which takes up to %zu blocks or boxes; this range has more",
                most_boxes);
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
