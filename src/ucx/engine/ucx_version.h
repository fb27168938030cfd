// The version of UCX that runs, which may be another one than that of the headers.
#pragma once

#include <ucp/api/ucp.h>

namespace ucd_ucx {

// UCX 1.13 has faults that later versions do not have.
inline bool is_ucx_1_13() {
    static const bool is = [] {
        unsigned major = 0, minor = 0, release = 0;
        ucp_get_version(&major, &minor, &release);
        return major == 1 && minor <= 13;
    }();
    return is;
}

} // namespace ucd_ucx
