// The functions of ucd_mpi.h.
#include "types/c_mpi.h"
#include "types/cache.h"
#include "types/failure.h"

#include <ucd_mpi.h>

namespace ucd_mpi {
namespace {

int type_from_mpi(MPI_Datatype datatype, ucd_type_t *type) {
    if (type == nullptr) return fail(UCD_ERR__INVALID_ARG, "type is NULL; it must not be");
    if (datatype == MPI_DATATYPE_NULL)
        return fail(UCD_ERR__INVALID_ARG, "datatype is MPI_DATATYPE_NULL; it must be a datatype");
    int backends = 0;
    UCD_TRY(ucd_ok(ucd_backend_count(&backends))); // checks that UCD is initialised
    CachedType *cached = nullptr;
    UCD_TRY(cached_type(datatype, cached));
    const int rc = ucd_ok(ucd_create_dup(cached->type(), UCD_INFO__NULL, type));
    cached->release();
    return rc;
}

} // namespace
} // namespace ucd_mpi

int ucd_type_from_mpi(MPI_Datatype datatype, ucd_info_t, ucd_type_t *type) {
    return ucd_mpi::guard("ucd_type_from_mpi",
                          [&] { return ucd_mpi::type_from_mpi(datatype, type); });
}

const char *ucd_mpi_last_error(void) {
    return ucd_mpi::last_failure();
}
