#include "stream.h"

#include "failure.h"
#include "info.h"

#include <cstring>
#include <string_view>

namespace ucd_yaksa {
namespace {

int is_available(std::string_view backend, bool &available) {
    int backends = 0;
    UCD_TRY(from_ucd(ucd_backend_count(&backends)));
    available = false;
    for (int i = 0; i < backends; ++i) {
        ucd_backend_desc_t known = {};
        known.struct_size = sizeof known;
        UCD_TRY(from_ucd(ucd_backend_get(i, &known)));
        if (known.name == backend) available = known.available != 0;
    }
    return YAKSA_SUCCESS;
}

} // namespace

int find_stream(const void *stream, yaksa_info_t info, ucd_stream_t &found) {
    const char *backend =
        info == nullptr ? "" : static_cast<const Info *>(info)->stream_backend.c_str();
    if (*backend == '\0') {
        bool cuda = false, hip = false;
        UCD_TRY(is_available("cuda", cuda));
        if (!cuda) UCD_TRY(is_available("hip", hip));
        backend = hip ? "hip" : "cuda";
    }
    found = {backend, -1, nullptr, nullptr, 0};
    std::memcpy(&found.native, stream, sizeof found.native);
    return YAKSA_SUCCESS;
}

} // namespace ucd_yaksa
