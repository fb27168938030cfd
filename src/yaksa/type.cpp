#include "type.h"

#include "failure.h"
#include "handle_table.h"
#include "life_cycle.h"
#include "predefined.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <new>

namespace ucd_yaksa {
namespace {

constexpr std::uint32_t max_types = 1 << 24;

// Never destroyed, since threads may still use it when the program ends. The last yaksa_finalize
// frees the memory of its entries.
HandleTable<Type> &created_types() {
    alignas(HandleTable<Type>) static std::byte memory[sizeof(HandleTable<Type>)];
    static auto *const made = new (memory) HandleTable<Type>(predefined_count, max_types);
    return *made;
}

std::array<Type, predefined_count> predefined;
std::array<PairMembers, predefined_count> pairs; // filled in for pairs
std::atomic<std::uint64_t> identities{predefined_count};

int measure(Type &type) {
    UCD_TRY(from_ucd(ucd_get_size(type.layout, &type.size)));
    return from_ucd(ucd_get_extent(type.layout, &type.lb, &type.extent));
}

// Creates a packed pair: a struct of the two members without a gap.
int create_packed_members(const ucd_type_t (&members)[2], ucd_type_t *type) {
    std::uintptr_t first = 0, second = 0;
    UCD_TRY(from_ucd(ucd_get_size(members[0], &first)));
    UCD_TRY(from_ucd(ucd_get_size(members[1], &second)));
    const std::intptr_t lengths[] = {1, 1};
    const std::intptr_t displs[] = {0, static_cast<std::intptr_t>(first)};
    LibucdType layout;
    UCD_TRY(from_ucd(ucd_create_struct(2, lengths, displs, members, UCD_INFO__NULL, layout.out())));
    return from_ucd(ucd_create_resized(layout.get(), 0, static_cast<std::intptr_t>(first + second),
                                       UCD_INFO__NULL, type));
}

} // namespace

int find_type(yaksa_type_t handle, const char *name, const Type *&type) {
    if (!is_initialized()) return fail(YAKSA_ERR__INTERNAL, "yaksa_init was not called");
    type = handle < predefined_count ? &predefined[handle] : created_types().find(handle);
    if (type == nullptr) [[unlikely]]
        return fail(YAKSA_ERR__INTERNAL, "%s is 0x%llx, which is no type", name,
                    static_cast<unsigned long long>(handle));
    return YAKSA_SUCCESS;
}

int find_type(yaksa_type_t handle, const Type *&type) {
    return find_type(handle, "type", type);
}

std::uint64_t new_identity() {
    return identities.fetch_add(1, std::memory_order_relaxed);
}

int add_type(LibucdType &&layout, const Traits &traits, yaksa_type_t *handle) {
    Type type;
    type.layout = layout.get();
    type.traits = traits;
    UCD_TRY(measure(type));
    const yaksa_type_t added = created_types().insert(std::move(type));
    if (added == 0) return fail(YAKSA_ERR__OUT_OF_MEM, "there are %u types already", max_types);
    *layout.out() = UCD_TYPE__NULL; // the table owns it now
    *handle = added;
    return YAKSA_SUCCESS;
}

int remove_type(yaksa_type_t handle) {
    const Type *known = nullptr;
    UCD_TRY(find_type(handle, known));
    if (handle == YAKSA_TYPE__NULL) return YAKSA_SUCCESS;
    if (handle < predefined_count)
        return fail(YAKSA_ERR__INTERNAL, "type is %u, which is predefined",
                    static_cast<unsigned>(handle));
    Type type;
    // If another thread has removed it, this reports the error.
    if (!created_types().remove(handle, type)) return find_type(handle, known);
    return from_ucd(ucd_free(&type.layout));
}

int create_predefined_types() {
    for (std::size_t i = 0; i < predefined_count; ++i) {
        const Predefined &made_of = predefined_types[i];
        Type &type = predefined[i];
        type.layout = made_of.type;
        if (i == YAKSA_TYPE__NULL) {
            UCD_TRY(from_ucd(ucd_create_contig(0, UCD_TYPE__BYTE, UCD_INFO__NULL, &type.layout)));
        }
        UCD_TRY(measure(type));
        type.traits = {made_of.identity, type.size, made_of.alignment,
                       made_of.members[0] != UCD_TYPE__NULL};
        if (!type.traits.has_pairs) continue;
        pairs[i].pair = made_of.type;
        UCD_TRY(create_packed_members(made_of.members, &pairs[i].packed_members));
    }
    return YAKSA_SUCCESS;
}

void free_all_types() {
    created_types().clear([](Type &type) { ucd_free(&type.layout); });
    Type &empty = predefined[YAKSA_TYPE__NULL];
    if (empty.layout != UCD_TYPE__NULL) ucd_free(&empty.layout);
    for (PairMembers &pair : pairs) {
        if (pair.packed_members != UCD_TYPE__NULL) ucd_free(&pair.packed_members);
    }
}

const PairMembers *members_of_pair(ucd_type_t element) {
    if (element == UCD_TYPE__NULL) return nullptr;
    for (const PairMembers &pair : pairs) {
        if (pair.pair == element) return &pair;
    }
    return nullptr;
}

} // namespace ucd_yaksa
