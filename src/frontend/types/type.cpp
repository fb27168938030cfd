#include "types/type.h"

#include "layout.h"
#include "support/list_memory.h"
#include "types/predefined.h"

namespace ucd {

ListType::~ListType() {
    keep_list(displs);
    keep_list(first);
}

std::span<const Type *const> children_of(const Type &type) {
    if (type.form == Form::structure) return as<StructureType>(type).children;
    return {&type.child, type.child != nullptr ? std::size_t{1} : 0};
}

DisplacedType below_displacements(const Type &type) {
    DisplacedType below{&type};
    while (below.type->form == Form::nest && as<NestType>(*below.type).is_single()) {
        below.by = displace(below.by, as<NestType>(*below.type).at);
        below.type = below.type->child;
    }
    return below;
}

namespace {

// Releases `times` references. If the last one is among them, adds `type` to the list of types to
// free.
void drop(const Type &type, const Type *&dead, uint64_t times = 1) {
    if (type.permanent) return;
    // If these are all there are, nobody else can see the count.
    std::atomic<uint64_t> &references = type.state.references;
    if (references.load(std::memory_order_acquire) != times &&
        references.fetch_sub(times, std::memory_order_acq_rel) != times)
        return;
    type.state.next_dead = dead;
    dead = &type;
}

} // namespace

void release(const Type *type) {
    const Type *dead = nullptr;
    if (type != nullptr) drop(*type, dead);
    while (dead != nullptr) {
        const Type *t = dead;
        dead = t->state.next_dead;
        // Consecutive children that are the same type are dropped together.
        const std::span<const Type *const> children = children_of(*t);
        for (std::size_t i = 0, next; i < children.size(); i = next) {
            for (next = i + 1; next < children.size() && children[next] == children[i];) ++next;
            drop(*children[i], dead, next - i);
        }
        if (!t->shares_cache()) delete t->state.cache.load(std::memory_order_acquire);
        delete t;
    }
}

Status resolve_checked(ucd_type_t handle, const char *argument, const Type *&type) {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    if (value - 1 < predefined_count) [[likely]] {
        type = &predefined_type(static_cast<unsigned>(value));
        return success;
    }
    if (value == 0)
        return fail(UCD_ERR__INVALID_ARG, "%s is UCD_TYPE__NULL; it must be a type", argument);
    if (value <= max_reserved_handle)
        return fail(UCD_ERR__INVALID_ARG, "%s is %ju; no predefined type has that value", argument,
                    static_cast<uintmax_t>(value));
    type = reinterpret_cast<const Type *>(handle);
    return look_up_handle(handle, HandleKind::type, argument);
}

} // namespace ucd
