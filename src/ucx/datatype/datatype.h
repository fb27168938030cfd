// Generic UCP datatypes of UCD types.
#pragma once

#include "common/failure.h"

namespace ucd_ucx {

Status create_datatype(ucd_type_t type, ucd_info_t info, ucp_datatype_t &datatype);
// INVALID_ARG for a generic datatype that create_datatype did not make.
Status destroy_datatype(ucp_datatype_t datatype);
// The first failure of its callbacks since this was last asked.
Status take_failure(ucp_datatype_t datatype);

bool is_generic(ucp_datatype_t datatype);

// What UCX calls, and with which context; null for a datatype that create_datatype did not make.
extern const ucp_generic_dt_ops_t datatype_callbacks;
void *context_of(ucp_datatype_t datatype);

} // namespace ucd_ucx
