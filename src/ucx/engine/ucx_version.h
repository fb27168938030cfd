// The version of UCX that runs, which may be another one than that of the headers.
#pragma once

#include <string>
#include <ucp/api/ucp.h>

namespace ucd_ucx {

struct UcxVersion {
    unsigned major = 0, minor = 0, release = 0;
};

inline UcxVersion ucx_version() {
    UcxVersion version;
    ucp_get_version(&version.major, &version.minor, &version.release);
    return version;
}

// UCX 1.13 has faults that 1.14 and later versions do not have. Each use says which one it avoids.
inline bool is_ucx_1_13() {
    static const bool is = [] {
        const UcxVersion version = ucx_version();
        return version.major == 1 && version.minor <= 13;
    }();
    return is;
}

// What the log says of a version with which libucd-ucx was not tested. Empty if it was.
std::string warning_of(const UcxVersion &version);

// Prints that of the version that runs, if UCD_LOG_LEVEL asks for what goes wrong.
void log_untested_version();

} // namespace ucd_ucx
