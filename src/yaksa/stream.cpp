#include "stream.h"

#include "info.h"

#include <cstring>
#include <string_view>

namespace ucd_yaksa {
namespace {

// If libucd cannot say it, the call that gets the stream fails, too.
bool is_available(std::string_view backend) {
    int backends = 0;
    (void)ucd_backend_count(&backends);
    for (int i = 0; i < backends; ++i) {
        ucd_backend_desc_t known = {};
        known.struct_size = sizeof known;
        if (ucd_backend_get(i, &known) == UCD_SUCCESS && known.name == backend)
            return known.available != 0;
    }
    return false;
}

} // namespace

ucd_stream_t find_stream(const void *stream, yaksa_info_t info) {
    const char *backend =
        info == nullptr ? "" : static_cast<const Info *>(info)->stream_backend.c_str();
    if (*backend == '\0') backend = !is_available("cuda") && is_available("hip") ? "hip" : "cuda";
    ucd_stream_t found = {backend, -1, nullptr, nullptr, 0};
    std::memcpy(&found.native, stream, sizeof found.native);
    return found;
}

} // namespace ucd_yaksa
