// Generic UCP datatypes for UCD types.
#pragma once

#include "common/failure.h"

namespace ucd_ucx {

Status create_datatype(ucd_type_t type, ucd_info_t info, ucp_datatype_t &datatype);
// INVALID_ARG for a generic datatype that create_datatype did not make.
Status destroy_datatype(ucp_datatype_t datatype);
// Returns the first failure in the datatype's callbacks since the last call.
Status take_failure(ucp_datatype_t datatype);

bool is_generic(ucp_datatype_t datatype);

// The callbacks that UCX calls, and the context that it passes; null for a datatype that
// create_datatype did not make.
extern const ucp_generic_dt_ops_t datatype_callbacks;
void *context_of(ucp_datatype_t datatype);

} // namespace ucd_ucx
