// A generic UCP datatype, for its lifetime.
#pragma once

#include "common/failure.h"

namespace ucd_ucx {

class GenericDatatype {
public:
    GenericDatatype() = default;
    ~GenericDatatype() {
        if (handle_ != 0) ucp_dt_destroy(handle_);
    }
    GenericDatatype(const GenericDatatype &) = delete;
    GenericDatatype &operator=(const GenericDatatype &) = delete;
    Status make(const ucp_generic_dt_ops_t &callbacks, void *context = nullptr) {
        return ucx_ok(ucp_dt_create_generic(&callbacks, context, &handle_),
                      "ucp_dt_create_generic");
    }
    ucp_datatype_t handle() const { return handle_; }

private:
    ucp_datatype_t handle_ = 0;
};

} // namespace ucd_ucx
