#include "types/type.h"

#include "support/list_memory.h"
#include "types/predefined.h"

namespace ucd {

BlockLists::~BlockLists() {
    keep_list(displs);
    keep_list(first);
}

void retain(const Type &type, uint64_t times) {
    if (!type.permanent) type.references.fetch_add(times, std::memory_order_relaxed);
}

TypeOwner new_type(Combiner combiner, Form form, const Type *child) {
    TypeOwner t(new Type);
    t->combiner = combiner;
    t->form = form;
    if (child != nullptr) retain(*child);
    t->child = child;
    return t;
}

namespace {

// Releases `times` references. If the last one is among them, adds `type` to the list of types to
// free.
void drop(const Type *type, const Type *&dead, uint64_t times = 1) {
    if (type == nullptr || type->permanent) return;
    if (type->references.fetch_sub(times, std::memory_order_acq_rel) != times) return;
    type->next_dead = dead;
    dead = type;
}

// The index after the consecutive children, from `i` on, that are the same type.
int64_t equal_children(const Type &type, int64_t i) {
    const Type *const child = type.children[i];
    while (++i < type.count && type.children[i] == child) {
    }
    return i;
}

} // namespace

void release(const Type *type) {
    const Type *dead = nullptr;
    drop(type, dead);
    while (dead != nullptr) {
        const Type *t = dead;
        dead = t->next_dead;
        drop(t->child, dead);
        for (int64_t i = 0, next; t->children && i < t->count; i = next) {
            next = equal_children(*t, i);
            drop(t->children[i], dead, static_cast<uint64_t>(next - i));
        }
        if (!t->shares_cache()) delete t->cache.load(std::memory_order_acquire);
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
