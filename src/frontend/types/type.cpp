#include "types/type.h"

#include "types/predefined.h"

namespace ucd {

void retain(const Type &type) {
    if (!type.permanent) type.references.fetch_add(1, std::memory_order_relaxed);
}

namespace {

// Adds `type` to the list of the dead if this was its last reference.
void drop(const Type *type, const Type *&dead) {
    if (type == nullptr || type->permanent) return;
    if (type->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    type->next_dead = dead;
    dead = type;
}

} // namespace

void release(const Type *type) {
    const Type *dead = nullptr;
    drop(type, dead);
    while (dead != nullptr) {
        const Type *t = dead;
        dead = t->next_dead;
        drop(t->child, dead);
        if (t->children)
            for (int64_t i = 0; i < t->count; ++i) drop(t->children[i], dead);
        if (!t->shares_cache()) delete t->cache.load(std::memory_order_acquire);
        delete t;
    }
}

Status resolve_reserved(ucd_type_t handle, const char *argument, const Type *&type) {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    if (value == 0)
        return fail(UCD_ERR__INVALID_ARG, "%s is UCD_TYPE__NULL; it must be a type", argument);
    if (value > predefined_count)
        return fail(UCD_ERR__INVALID_ARG, "%s is %ju; no predefined type has that value", argument,
                    static_cast<uintmax_t>(value));
    type = &predefined_type(static_cast<unsigned>(value));
    return success;
}

} // namespace ucd
