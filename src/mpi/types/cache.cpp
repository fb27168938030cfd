#include "types/cache.h"

#include "types/failure.h"

#include <mutex>
#include <utility>

namespace ucd_mpi {
namespace {

int on_duplicate(MPI_Datatype, int, void *, void *value, void *copy, int *flag) {
    static_cast<CachedType *>(value)->add_reference();
    *static_cast<void **>(copy) = value;
    *flag = 1;
    return MPI_SUCCESS;
}

int on_free(MPI_Datatype, int, void *value, void *) {
    static_cast<CachedType *>(value)->release();
    return MPI_SUCCESS;
}

// MPI_KEYVAL_INVALID if MPI fails to create the key.
int keyval() {
    static const int made = [] {
        int key = MPI_KEYVAL_INVALID;
        const int rc = PMPI_Type_create_keyval(on_duplicate, on_free, &key, nullptr);
        return rc == MPI_SUCCESS ? key : MPI_KEYVAL_INVALID;
    }();
    return made;
}

// Held while an attribute is read and a reference is taken, so that no other thread sets the
// attribute in between.
std::mutex attributes;

// Takes a reference for the caller. Sets null if the datatype has no attribute.
int read_attribute(MPI_Datatype datatype, int key, CachedType *&cached) {
    void *value = nullptr;
    int found = 0;
    UCD_TRY(mpi_ok(PMPI_Type_get_attr(datatype, key, &value, &found), "MPI_Type_get_attr"));
    cached = found != 0 ? static_cast<CachedType *>(value) : nullptr;
    if (cached != nullptr) cached->add_reference();
    return UCD_SUCCESS;
}

int find_cached(MPI_Datatype datatype, int key, CachedType *&cached) {
    const std::lock_guard lock(attributes);
    return read_attribute(datatype, key, cached);
}

// If another thread has converted the datatype in the meantime, its result is used.
int publish(MPI_Datatype datatype, int key, CachedType &made, CachedType *&cached) {
    const std::lock_guard lock(attributes);
    UCD_TRY(read_attribute(datatype, key, cached));
    if (cached != nullptr) return UCD_SUCCESS;
    UCD_TRY(mpi_ok(PMPI_Type_set_attr(datatype, key, &made), "MPI_Type_set_attr"));
    made.add_reference(); // for the attribute
    made.add_reference(); // for the caller
    cached = &made;
    return UCD_SUCCESS;
}

} // namespace

void CachedType::release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

int cached_type(MPI_Datatype datatype, CachedType *&cached) {
    const int key = keyval();
    if (key == MPI_KEYVAL_INVALID) return fail(UCD_ERR__INTERNAL, "MPI_Type_create_keyval failed");
    UCD_TRY(find_cached(datatype, key, cached));
    if (cached != nullptr) return UCD_SUCCESS;
    Converted converted;
    UCD_TRY(convert(datatype, converted));
    auto *const made = new CachedType(std::move(converted));
    const int rc = publish(datatype, key, *made, cached);
    made->release();
    return rc;
}

} // namespace ucd_mpi
