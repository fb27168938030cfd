// The constructors. libucd checks the arguments and builds the type, which then gets yaksa's
// bounds.
#include "bounds.h"
#include "failure.h"
#include "type.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ucd_yaksa {
namespace {

int check_output(const yaksa_type_t *newtype) {
    return newtype != nullptr ? YAKSA_SUCCESS
                              : fail(YAKSA_ERR__INTERNAL, "newtype is NULL; it must not be");
}

// Returns a new handle for the layout, or the empty type if the layout has no elements. Otherwise
// libucd has checked for overflow, and add_blocks(bounds) adds all blocks to the bounds.
template <class AddBlocks>
int finish(LibucdType &&layout, const Traits &traits, yaksa_type_t *newtype,
           AddBlocks &&add_blocks) {
    std::uintptr_t size = 0;
    UCD_TRY(from_ucd(ucd_get_size(layout.get(), &size)));
    if (size == 0) {
        *newtype = YAKSA_TYPE__NULL;
        return YAKSA_SUCCESS;
    }
    Bounds bounds;
    add_blocks(bounds);
    UCD_TRY(bounds.check());
    std::intptr_t lb = 0, extent = 0;
    UCD_TRY(from_ucd(ucd_get_extent(layout.get(), &lb, &extent)));
    if (lb != bounds.lb() || extent != bounds.extent()) {
        LibucdType resized;
        UCD_TRY(from_ucd(ucd_create_resized(layout.get(), bounds.lb(), bounds.extent(),
                                            UCD_INFO__NULL, resized.out())));
        layout = std::move(resized);
    }
    return add_type(std::move(layout), traits, newtype);
}

int duplicate(const Type &old, yaksa_type_t *newtype) {
    LibucdType layout;
    UCD_TRY(from_ucd(ucd_create_dup(old.layout, UCD_INFO__NULL, layout.out())));
    return add_type(std::move(layout), old.traits, newtype);
}

Traits traits_over(const Type &old) {
    Traits traits = old.traits;
    traits.identity = new_identity();
    return traits;
}

// A type of equal blocks that are `stride` bytes apart. `create` makes its layout.
template <class Create>
int create_strided(std::intptr_t count, std::intptr_t blocklength, int128 stride, const Type &old,
                   yaksa_type_t *newtype, Create &&create) {
    if (count == 1 && blocklength == 1 && old.size != 0) return duplicate(old, newtype);
    LibucdType layout;
    UCD_TRY(from_ucd(create(layout.out())));
    return finish(std::move(layout), traits_over(old), newtype, [&](Bounds &bounds) {
        bounds.add_block(0, blocklength, old);
        bounds.add_block(stride * (count - 1), blocklength, old);
    });
}

// The same for listed displacements, in multiples of `unit` bytes.
template <class Create>
int create_blocks(std::intptr_t count, std::intptr_t blocklength, const std::intptr_t *displs,
                  std::intptr_t unit, const Type &old, yaksa_type_t *newtype, Create &&create) {
    LibucdType layout;
    UCD_TRY(from_ucd(create(layout.out())));
    return finish(std::move(layout), traits_over(old), newtype, [&](Bounds &bounds) {
        const auto [first, last] = std::minmax_element(displs, displs + count);
        bounds.add_block(int128{*first} * unit, blocklength, old);
        bounds.add_block(int128{*last} * unit, blocklength, old);
    });
}

// The same for blocks that have lengths of their own.
template <class Create>
int create_lists(std::intptr_t count, const std::intptr_t *blocklengths,
                 const std::intptr_t *displs, std::intptr_t unit, const Type &old,
                 yaksa_type_t *newtype, Create &&create) {
    LibucdType layout;
    UCD_TRY(from_ucd(create(layout.out())));
    return finish(std::move(layout), traits_over(old), newtype, [&](Bounds &bounds) {
        for (std::intptr_t i = 0; i < count; ++i)
            bounds.add_block(int128{displs[i]} * unit, blocklengths[i], old);
    });
}

// The traits of a struct, from those of its members.
class MemberTraits {
public:
    void add(std::intptr_t blocklength, const Type &member) {
        if (!none_ && member.traits.identity != first_.identity) same_type_ = false;
        if (none_) first_ = member.traits;
        none_ = false;
        if (blocklength == 0) return;
        alignment_ = std::max(alignment_, member.traits.alignment);
        if (member.size == 0) return;
        pairs_ = pairs_ || member.traits.has_pairs;
        element_bytes_ = elements_ && element_bytes_ != member.traits.element_bytes
                             ? 0
                             : member.traits.element_bytes;
        elements_ = true;
    }

    // yaksa treats a struct of one type as a list of blocks, whose extent is not rounded up.
    bool is_rounded() const { return !same_type_; }
    Traits traits() const { return {new_identity(), element_bytes_, alignment_, pairs_}; }

private:
    bool none_ = true, same_type_ = true, elements_ = false, pairs_ = false;
    Traits first_;
    std::uint64_t element_bytes_ = 0;
    std::intptr_t alignment_ = 1;
};

int create_struct(std::intptr_t count, const std::intptr_t *blocklengths,
                  const std::intptr_t *displs, const yaksa_type_t *types, yaksa_type_t *newtype) {
    UCD_TRY(check_output(newtype));
    if (count > 0 && types == nullptr)
        return fail(YAKSA_ERR__INTERNAL, "array_of_types is NULL; count is not 0");
    std::vector<const Type *> members(static_cast<std::size_t>(std::max<std::intptr_t>(count, 0)));
    std::vector<ucd_type_t> layouts(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
        UCD_TRY(find_type(types[i], "an entry of array_of_types", members[i]));
        layouts[i] = members[i]->layout;
    }
    LibucdType layout;
    UCD_TRY(from_ucd(ucd_create_struct(count, blocklengths, displs, layouts.data(), UCD_INFO__NULL,
                                       layout.out())));
    MemberTraits common;
    for (std::size_t i = 0; i < members.size(); ++i) common.add(blocklengths[i], *members[i]);
    const Traits traits = common.traits();
    return finish(std::move(layout), traits, newtype, [&](Bounds &bounds) {
        for (std::size_t i = 0; i < members.size(); ++i)
            bounds.add_block(displs[i], blocklengths[i], *members[i]);
        if (common.is_rounded()) bounds.align(traits.alignment);
    });
}

// Copies the bytes, because programs in C may pass any value, and reading a value outside the
// enumeration's range is undefined in C++.
int find_order(const yaksa_subarray_order_e &order, int &found) {
    int value = 0;
    static_assert(sizeof value == sizeof order);
    std::memcpy(&value, &order, sizeof value);
    if (value != YAKSA_SUBARRAY_ORDER__C && value != YAKSA_SUBARRAY_ORDER__FORTRAN)
        return fail(YAKSA_ERR__INTERNAL, "order is %d, which is none", value);
    found = value == YAKSA_SUBARRAY_ORDER__C ? UCD_ORDER__C : UCD_ORDER__FORTRAN;
    return YAKSA_SUCCESS;
}

int create_subarray(int ndims, const std::intptr_t *sizes, const std::intptr_t *subsizes,
                    const std::intptr_t *starts, const yaksa_subarray_order_e &order,
                    const Type &old, yaksa_type_t *newtype) {
    int ucd_order = UCD_ORDER__C;
    UCD_TRY(find_order(order, ucd_order));
    LibucdType layout;
    UCD_TRY(from_ucd(ucd_create_subarray(ndims, sizes, subsizes, starts, ucd_order, old.layout,
                                         UCD_INFO__NULL, layout.out())));
    // For a subarray, libucd's bounds are the same as yaksa's.
    std::uintptr_t size = 0;
    UCD_TRY(from_ucd(ucd_get_size(layout.get(), &size)));
    if (size != 0) return add_type(std::move(layout), traits_over(old), newtype);
    *newtype = YAKSA_TYPE__NULL;
    return YAKSA_SUCCESS;
}

int create_resized(const Type &old, std::intptr_t lb, std::intptr_t extent, yaksa_type_t *newtype) {
    if (lb == old.lb && extent == old.extent) return duplicate(old, newtype);
    LibucdType layout;
    UCD_TRY(from_ucd(ucd_create_resized(old.layout, lb, extent, UCD_INFO__NULL, layout.out())));
    return add_type(std::move(layout), traits_over(old), newtype);
}

// Runs a constructor that has one old type.
template <class Body>
int create_on(const char *function, yaksa_type_t oldtype, const yaksa_type_t *newtype,
              Body &&body) {
    return guarded(function, [&] {
        UCD_TRY(check_output(newtype));
        const Type *old = nullptr;
        UCD_TRY(find_type(oldtype, "oldtype", old));
        return body(*old);
    });
}

} // namespace
} // namespace ucd_yaksa

using namespace ucd_yaksa;

int yaksa_type_create_contig(intptr_t count, yaksa_type_t oldtype, yaksa_info_t,
                             yaksa_type_t *newtype) {
    return create_on(__func__, oldtype, newtype, [&](const Type &old) {
        return create_strided(count, 1, old.extent, old, newtype, [&](ucd_type_t *made) {
            return ucd_create_contig(count, old.layout, UCD_INFO__NULL, made);
        });
    });
}

int yaksa_type_create_dup(yaksa_type_t oldtype, yaksa_info_t, yaksa_type_t *newtype) {
    return create_on(__func__, oldtype, newtype,
                     [&](const Type &old) { return duplicate(old, newtype); });
}

int yaksa_type_create_vector(intptr_t count, intptr_t blocklength, intptr_t stride,
                             yaksa_type_t oldtype, yaksa_info_t, yaksa_type_t *newtype) {
    return create_on(__func__, oldtype, newtype, [&](const Type &old) {
        const int128 bytes = int128{stride} * old.extent;
        return create_strided(count, blocklength, bytes, old, newtype, [&](ucd_type_t *made) {
            return ucd_create_vector(count, blocklength, stride, old.layout, UCD_INFO__NULL, made);
        });
    });
}

int yaksa_type_create_hvector(intptr_t count, intptr_t blocklength, intptr_t stride,
                              yaksa_type_t oldtype, yaksa_info_t, yaksa_type_t *newtype) {
    return create_on(__func__, oldtype, newtype, [&](const Type &old) {
        return create_strided(count, blocklength, stride, old, newtype, [&](ucd_type_t *made) {
            return ucd_create_hvector(count, blocklength, stride, old.layout, UCD_INFO__NULL, made);
        });
    });
}

int yaksa_type_create_indexed_block(intptr_t count, intptr_t blocklength,
                                    const intptr_t *array_of_displacements, yaksa_type_t oldtype,
                                    yaksa_info_t, yaksa_type_t *newtype) {
    return create_on(__func__, oldtype, newtype, [&](const Type &old) {
        return create_blocks(count, blocklength, array_of_displacements, old.extent, old, newtype,
                             [&](ucd_type_t *made) {
                                 return ucd_create_indexed_block(count, blocklength,
                                                                 array_of_displacements, old.layout,
                                                                 UCD_INFO__NULL, made);
                             });
    });
}

int yaksa_type_create_hindexed_block(intptr_t count, intptr_t blocklength,
                                     const intptr_t *array_of_displacements, yaksa_type_t oldtype,
                                     yaksa_info_t, yaksa_type_t *newtype) {
    return create_on(__func__, oldtype, newtype, [&](const Type &old) {
        return create_blocks(
            count, blocklength, array_of_displacements, 1, old, newtype, [&](ucd_type_t *made) {
                return ucd_create_hindexed_block(count, blocklength, array_of_displacements,
                                                 old.layout, UCD_INFO__NULL, made);
            });
    });
}

int yaksa_type_create_indexed(intptr_t count, const intptr_t *array_of_blocklengths,
                              const intptr_t *array_of_displacements, yaksa_type_t oldtype,
                              yaksa_info_t, yaksa_type_t *newtype) {
    return create_on(__func__, oldtype, newtype, [&](const Type &old) {
        return create_lists(count, array_of_blocklengths, array_of_displacements, old.extent, old,
                            newtype, [&](ucd_type_t *made) {
                                return ucd_create_indexed(count, array_of_blocklengths,
                                                          array_of_displacements, old.layout,
                                                          UCD_INFO__NULL, made);
                            });
    });
}

int yaksa_type_create_hindexed(intptr_t count, const intptr_t *array_of_blocklengths,
                               const intptr_t *array_of_displacements, yaksa_type_t oldtype,
                               yaksa_info_t, yaksa_type_t *newtype) {
    return create_on(__func__, oldtype, newtype, [&](const Type &old) {
        return create_lists(count, array_of_blocklengths, array_of_displacements, 1, old, newtype,
                            [&](ucd_type_t *made) {
                                return ucd_create_hindexed(count, array_of_blocklengths,
                                                           array_of_displacements, old.layout,
                                                           UCD_INFO__NULL, made);
                            });
    });
}

int yaksa_type_create_resized(yaksa_type_t oldtype, intptr_t lb, intptr_t extent, yaksa_info_t,
                              yaksa_type_t *newtype) {
    return create_on(__func__, oldtype, newtype,
                     [&](const Type &old) { return create_resized(old, lb, extent, newtype); });
}

int yaksa_type_create_struct(intptr_t count, const intptr_t *array_of_blocklengths,
                             const intptr_t *array_of_displacements,
                             const yaksa_type_t *array_of_types, yaksa_info_t,
                             yaksa_type_t *newtype) {
    return guarded(__func__, [&] {
        return create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types,
                             newtype);
    });
}

int yaksa_type_create_subarray(int ndims, const intptr_t *array_of_sizes,
                               const intptr_t *array_of_subsizes, const intptr_t *array_of_starts,
                               yaksa_subarray_order_e order, yaksa_type_t oldtype, yaksa_info_t,
                               yaksa_type_t *newtype) {
    return create_on(__func__, oldtype, newtype, [&](const Type &old) {
        return create_subarray(ndims, array_of_sizes, array_of_subsizes, array_of_starts, order,
                               old, newtype);
    });
}

int yaksa_type_free(yaksa_type_t type) {
    return guarded(__func__, [&] { return remove_type(type); });
}
