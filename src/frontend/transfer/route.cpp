#include "transfer/route.h"

#include "layout_walk.h"
#include "pitched_copies.h"
#include "prepared/plain_list.h"
#include "prepared/type_cache.h"
#include "support/heap_and_stack.h"
#include "types/ops.h"
#include "types/predefined.h"

#include <cstdio>
#include <string_view>

namespace ucd {
namespace {

Status hinted_location(const Context &context, const LocationHint &hint, MemoryLocation &location) {
    location = {hint.kind, hint.device, nullptr};
    if (hint.kind != MemoryKind::device) return success;
    Executor executor;
    UCD_TRY(find_executor(context, "a hint", hint.backend, hint.device, executor));
    if (executor.on_host())
        location = {};
    else
        location.owner = executor.backend;
    return success;
}

} // namespace

Status find_location(const Context &context, const Hints &hints, const LocationHint *hint,
                     const void *address, MemoryLocation &location) {
    location = {};
    if (hints.host_only) return success;
    if (hint != nullptr) return hinted_location(context, *hint, location);
    if (!context.devices) return success;
    Status status; // a failed driver; another one may still know the address
    for (unsigned i = Context::host_index + 1; i < context.slots.size(); ++i) {
        const Backend *backend = context.slots[i].backend.get();
        if (backend == nullptr) continue;
        const Status asked = backend->find(address, location);
        if (location.owner != nullptr) return success;
        if (!asked.ok()) status = asked;
    }
    return status;
}

Status LocationCache::find(const LocationHint *hint, const void *address,
                           MemoryLocation &location) {
    if (hint == nullptr)
        for (const MemoryLocation &known : known_)
            if (known.holds(address)) {
                location = known;
                return success;
            }
    UCD_TRY(find_location(context_, hints_, hint, address, location));
    const bool unknown = hint == nullptr && location.owner == nullptr && !hints_.host_only;
    if (unknown && context_.hides_memory != nullptr)
        UCD_TRY(context_.hides_memory->check_unknown(address));
    if (location.holds(address)) known_[next_++ % known_.size()] = location;
    return success;
}

namespace {

// The outermost type whose members can each be in another memory, or null.
const ListType *type_with_members(const Type &type) {
    const Type *t = &type;
    while (t->combiner == Combiner::dup || t->combiner == Combiner::resized) t = t->child;
    const bool has_members = t->combiner == Combiner::structure ||
                             t->combiner == Combiner::hindexed ||
                             t->combiner == Combiner::hindexed_block;
    // A nest that is called a list has one member.
    return has_members && t->form != Form::nest ? &as<ListType>(*t) : nullptr;
}

// For each member of (type, count) at address 0 that has bytes in the range, calls visit(begin,
// first byte). `begin` is the position of its bytes, counted from the range's first byte. visit()
// returns a Status.
template <class Visit>
Status for_each_member(const Type &type, const ListType &with_members, const Side &side,
                       uint64_t length, Visit visit) {
    const ListType &t = with_members;
    const uint64_t range_end = side.offset + length;
    uint64_t repetition = side.offset / type.size;
    for (uint64_t at = repetition * type.size; at < range_end; ++repetition) {
        const int64_t base = displace(0, repetition, type.extent());
        for (int64_t i = 0; i < t.count() && at < range_end; ++i) {
            const Type &child = t.member(i);
            const uint64_t end = at + static_cast<uint64_t>(t.block_length(i)) * child.size;
            if (end > side.offset && end > at) {
                const char *const first = first_byte(
                    child,
                    displaced(nullptr, static_cast<uint64_t>(displace(base, t.displacement(i)))));
                UCD_TRY(visit(at > side.offset ? at - side.offset : 0, first));
            }
            at = end;
        }
    }
    return success;
}

} // namespace

// The members of a type at a null address can be in different memories.
Status LocationCache::find(const LocationHint *hint, const Type *type, const Side &side,
                           uint64_t length, MemoryRanges &ranges) {
    const bool may_differ = type != nullptr && side.address == nullptr && hint == nullptr &&
                            !hints_.host_only && context_.devices;
    const ListType *const with_members = may_differ ? type_with_members(*type) : nullptr;
    if (with_members == nullptr) {
        ranges.push_back({0, type != nullptr ? first_byte(*type, side.address) : side.first()});
        return success;
    }
    MemoryLocation last;
    return for_each_member(
        *type, *with_members, side, length, [&](uint64_t begin, const char *first) -> Status {
            MemoryLocation here;
            if (!in_heap_or_stack(first)) UCD_TRY(this->find(nullptr, first, here));
            if (ranges.empty() || !is_same_memory(last, here) || last.own_access != here.own_access)
                ranges.push_back({begin, first});
            last = here;
            return success;
        });
}

MemoryName name_of(const MemoryLocation &location) {
    MemoryName name;
    if (location.kind == MemoryKind::device) {
        std::snprintf(name.text, sizeof name.text, "%s:%d", location.owner->name(),
                      location.device);
        return name;
    }
    std::snprintf(name.text, sizeof name.text, "%s",
                  location.kind == MemoryKind::pinned    ? "pinned"
                  : location.kind == MemoryKind::managed ? "managed"
                                                         : "host");
    return name;
}

bool reaches(const Executor &executor, const Hints &hints, const MemoryLocation &location) {
    const bool peers = location.kind == MemoryKind::device && location.device != executor.device;
    return (hints.peers || !peers) && executor.backend->reaches(executor.device, location);
}

const char *first_byte(const Type &type, const char *typed) {
    const auto at = [typed](int64_t first) {
        return displaced(const_cast<char *>(typed), static_cast<uint64_t>(first));
    };
    if (type.by_reference) return at(type.true_lb);
    const PlainList plain(type);
    return at(plain.list != nullptr ? first_byte_of(plain) : layout_of(type).start);
}

bool is_contiguous(const Type &type, const Side &side, uint64_t length, char *&address) {
    if (type.by_reference) return false;
    const Layout &layout = layout_of(type);
    const Node top = repeat(layout.top(), layout.root, side.count, type.extent());
    int64_t first = 0;
    if (!is_consecutive(layout, top, side.offset, length, first)) return false;
    address = displaced(side.address, static_cast<uint64_t>(first));
    return true;
}

namespace {

enum class By : uint8_t { none, host, typed, packed };

Executor executor_of(const Context &context, const MemoryLocation &location) {
    if (location.host_reachable()) return {context.slots[0].backend.get(), Context::host_index, 0};
    const unsigned index = context.index_of(*location.owner);
    return {context.slots[index].backend.get(), index, location.device};
}

// Hints for pinned and managed memory do not name the backend. It is that of the other side, the
// only backend for which it matters.
void adopt_owner(MemoryLocation &location, const MemoryLocation &other) {
    const bool shared = location.kind == MemoryKind::pinned || location.kind == MemoryKind::managed;
    if (shared && location.owner == nullptr) {
        location.owner = other.owner;
        location.device = other.device;
    }
}

} // namespace

Route find_route(const Context &context, const Hints &hints, MemoryLocation from, MemoryLocation to,
                 Direction direction) {
    adopt_owner(from, to);
    adopt_owner(to, from);
    Route route = staged_route(context, from, to);
    if (from.host_reachable() && to.host_reachable()) {
        // Pinned and managed memory count as host memory, because the CPU can access them.
        route.kind = RouteKind::host;
        return route;
    }
    const bool pack = direction == Direction::pack;
    for (const Executor e : {pack ? route.from : route.to, pack ? route.to : route.from})
        if (!e.on_host() && reaches(e, hints, from) && reaches(e, hints, to))
            return {RouteKind::direct, e, e, from.kind, to.kind};
    return route;
}

Route staged_route(const Context &context, const MemoryLocation &from, const MemoryLocation &to) {
    return {RouteKind::staged, executor_of(context, from), executor_of(context, to), from.kind,
            to.kind};
}

Route find_route(const Context &context, const Hints &hints, const MemoryLocation &from,
                 const MemoryLocation &to, Direction direction, Op op, const Type &type) {
    const Route route = find_route(context, hints, from, to, direction);
    const bool host_must =
        route.kind == RouteKind::direct && to.host_reachable() && !supports(route.to, op, type);
    return host_must ? staged_route(context, from, to) : route;
}

Status check_copy_engines(const Type &type, const Side &side, uint64_t length, Op op) {
    if (op != Op::replace)
        return fail(UCD_ERR__NOT_SUPPORTED, "ucd.engine is dma, which only replaces");
    if (type.by_reference)
        return fail(UCD_ERR__NOT_SUPPORTED,
                    "ucd.engine is dma, which cannot read the indices of the type");
    const Layout &layout = layout_of(type);
    Boxes boxes(layout, boxes_of(type), side.count, type.extent());
    if (has_at_most(boxes, side.offset, length, max_copies)) return success;
    return fail(UCD_ERR__NOT_SUPPORTED,
                "ucd.engine is dma, which takes up to %zu blocks or boxes; this range has more",
                max_copies);
}

namespace {

// The first element for which the executor does not support the op, or none.
Element unsupported_element(const Executor &executor, Op op, const Type &type) {
    const Elements &elements = elements_of(type);
    const auto supported = [&](Element e) {
        return executor.backend->supports(op, is_conversion(op) ? converted_part(e) : e);
    };
    if (elements.kind != Element::none)
        return supported(elements.kind) ? Element::none : elements.kind;
    for (const Node &node : elements.runs.nodes)
        if (node.kind == NodeKind::block && !supported(node.element)) return node.element;
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
