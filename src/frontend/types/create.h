// The constructors. Handles have been checked. Each constructor checks its other arguments, and
// leaves `type` unchanged on failure. Arrays are copied; child types are retained.
#pragma once

#include "status.h"
#include "types/type.h"

namespace ucd {

// The unit of an array of displacements: bytes, or extents of the child.
enum class Unit : uint8_t { bytes, extents };

// INVALID_ARG if an array of so many entries is null.
Status array_present(const void *array, int64_t count, const char *argument);
// Computes the bounds of a nest, whose other members have been set.
Status finish_nest(NestOwner nest, TypeOwner &type);

Status create_contig(int64_t count, const Type &child, TypeOwner &type);
Status create_dup(const Type &child, TypeOwner &type);
Status create_vector(int64_t count, int64_t blocklength, int64_t stride, Unit unit,
                     const Type &child, TypeOwner &type);
Status create_indexed_block(int64_t count, int64_t blocklength, const int64_t *displs, Unit unit,
                            const Type &child, TypeOwner &type);
// The indices are neither copied nor read; they stay in the caller's memory.
Status create_indexed_block_ref(int64_t count, int64_t blocklength, const void *indices,
                                ucd_type_t index_type, int64_t unit, int64_t lb, int64_t extent,
                                const Type &child, TypeOwner &type);
Status create_indexed(int64_t count, const int64_t *blocklengths, const int64_t *displs, Unit unit,
                      const Type &child, TypeOwner &type);
Status create_struct(int64_t count, const int64_t *blocklengths, const int64_t *displs,
                     const Type *const *children, TypeOwner &type);
Status create_resized(int64_t lb, int64_t extent, const Type &child, TypeOwner &type);

// These are in create_arrays.cpp.
Status create_subarray(int ndims, const int64_t *sizes, const int64_t *subsizes,
                       const int64_t *starts, int order, const Type &child, TypeOwner &type);
Status create_darray(int size, int rank, int ndims, const int64_t *gsizes, const int *distribs,
                     const int64_t *dargs, const int *psizes, int order, const Type &child,
                     TypeOwner &type);
Status create_ndarray(int ndims, const int64_t *shape, const int64_t *byte_strides,
                      const Type &child, TypeOwner &type);

} // namespace ucd
