// The constructors and ucd_free.

#include "api/api_guard.h"
#include "transfer/context.h"
#include "types/create.h"

#include <ucd.h>

#include <vector>

using namespace ucd;

static_assert(sizeof(intptr_t) == sizeof(int64_t), "UCD is for 64-bit machines");

namespace {

// intptr_t and int64_t have the same representation but are different types.
const int64_t *given(const intptr_t *array) {
    return reinterpret_cast<const int64_t *>(array);
}
template <class T>
T given(T argument) {
    return argument;
}

// The common part of all constructors of one type: checks the arguments, and calls `create` with
// `arguments` and the child. None has hints yet: the argument info is for hints of later versions.
template <class Create, class... Arguments>
int construct(const char *function, ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype,
              Create create, Arguments... arguments) {
    return guard(function, info, [&](Context &) -> Status {
        UCD_TRY(require(newtype, "newtype"));
        const Type *child;
        UCD_TRY(resolve(oldtype, "oldtype", child));
        TypeOwner type;
        UCD_TRY(create(given(arguments)..., *child, type));
        *newtype = handle_of(std::move(type));
        return success;
    });
}

} // namespace

int ucd_create_contig(intptr_t count, ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype) {
    return construct("ucd_create_contig", oldtype, info, newtype, create_contig, count);
}

int ucd_create_dup(ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype) {
    return construct("ucd_create_dup", oldtype, info, newtype, create_dup);
}

int ucd_create_vector(intptr_t count, intptr_t blocklength, intptr_t stride, ucd_type_t oldtype,
                      ucd_info_t info, ucd_type_t *newtype) {
    return construct("ucd_create_vector", oldtype, info, newtype, create_vector, count, blocklength,
                     stride, Unit::extents);
}

int ucd_create_hvector(intptr_t count, intptr_t blocklength, intptr_t stride, ucd_type_t oldtype,
                       ucd_info_t info, ucd_type_t *newtype) {
    return construct("ucd_create_hvector", oldtype, info, newtype, create_vector, count,
                     blocklength, stride, Unit::bytes);
}

int ucd_create_indexed_block(intptr_t count, intptr_t blocklength, const intptr_t *displs,
                             ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype) {
    return construct("ucd_create_indexed_block", oldtype, info, newtype, create_indexed_block,
                     count, blocklength, displs, Unit::extents);
}

int ucd_create_hindexed_block(intptr_t count, intptr_t blocklength, const intptr_t *displs,
                              ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype) {
    return construct("ucd_create_hindexed_block", oldtype, info, newtype, create_indexed_block,
                     count, blocklength, displs, Unit::bytes);
}

int ucd_create_indexed_block_ref(intptr_t count, intptr_t blocklength, const void *indices,
                                 ucd_type_t index_type, intptr_t unit, intptr_t lb, intptr_t extent,
                                 ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype) {
    return construct("ucd_create_indexed_block_ref", oldtype, info, newtype,
                     create_indexed_block_ref, count, blocklength, indices, index_type, unit, lb,
                     extent);
}

int ucd_create_indexed(intptr_t count, const intptr_t *blocklengths, const intptr_t *displs,
                       ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype) {
    return construct("ucd_create_indexed", oldtype, info, newtype, create_indexed, count,
                     blocklengths, displs, Unit::extents);
}

int ucd_create_hindexed(intptr_t count, const intptr_t *blocklengths, const intptr_t *displs,
                        ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype) {
    return construct("ucd_create_hindexed", oldtype, info, newtype, create_indexed, count,
                     blocklengths, displs, Unit::bytes);
}

int ucd_create_struct(intptr_t count, const intptr_t *blocklengths, const intptr_t *displs,
                      const ucd_type_t *types, ucd_info_t info, ucd_type_t *newtype) {
    return guard("ucd_create_struct", info, [&](Context &) -> Status {
        UCD_TRY(require(newtype, "newtype"));
        if (count < 0)
            return fail(UCD_ERR__INVALID_ARG, "count is %jd; it must be >= 0",
                        static_cast<intmax_t>(count));
        if (count > 0) {
            UCD_TRY(require(blocklengths, "blocklengths"));
            UCD_TRY(require(displs, "displs"));
            UCD_TRY(require(types, "types"));
        }
        std::vector<const Type *> children(static_cast<std::size_t>(count));
        for (intptr_t i = 0; i < count; ++i) {
            const Type *&child = children[static_cast<std::size_t>(i)];
            if (const Status status = resolve(types[i], "", child); !status.ok()) {
                char name[48];
                std::snprintf(name, sizeof name, "types[%jd]", static_cast<intmax_t>(i));
                return resolve(types[i], name, child);
            }
        }
        TypeOwner type;
        UCD_TRY(create_struct(count, given(blocklengths), given(displs), children.data(), type));
        *newtype = handle_of(std::move(type));
        return success;
    });
}

int ucd_create_subarray(int ndims, const intptr_t *sizes, const intptr_t *subsizes,
                        const intptr_t *starts, int order, ucd_type_t oldtype, ucd_info_t info,
                        ucd_type_t *newtype) {
    return construct("ucd_create_subarray", oldtype, info, newtype, create_subarray, ndims, sizes,
                     subsizes, starts, order);
}

int ucd_create_darray(int size, int rank, int ndims, const intptr_t *gsizes, const int *distribs,
                      const intptr_t *dargs, const int *psizes, int order, ucd_type_t oldtype,
                      ucd_info_t info, ucd_type_t *newtype) {
    return construct("ucd_create_darray", oldtype, info, newtype, create_darray, size, rank, ndims,
                     gsizes, distribs, dargs, psizes, order);
}

int ucd_create_ndarray(int ndims, const intptr_t *shape, const intptr_t *byte_strides,
                       ucd_type_t oldtype, ucd_info_t info, ucd_type_t *newtype) {
    return construct("ucd_create_ndarray", oldtype, info, newtype, create_ndarray, ndims, shape,
                     byte_strides);
}

int ucd_create_resized(ucd_type_t oldtype, intptr_t lb, intptr_t extent, ucd_info_t info,
                       ucd_type_t *newtype) {
    return construct("ucd_create_resized", oldtype, info, newtype, create_resized, lb, extent);
}

int ucd_free(ucd_type_t *type) {
    return guard("ucd_free", [&]() -> Status {
        UCD_TRY(check_ever_initialised());
        UCD_TRY(require(type, "type"));
        if (*type == UCD_TYPE__NULL) return success;
        const Type *t;
        UCD_TRY(resolve(*type, "*type", t));
        if (t->permanent)
            return fail(UCD_ERR__INVALID_ARG, "*type is a predefined type; those are never freed");
        UCD_TRY(check_freed_handle(t, HandleKind::type, "*type"));
        release(t);
        *type = UCD_TYPE__NULL;
        return success;
    });
}
