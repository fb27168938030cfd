#pragma once

#include <string>
#include <ucd-yaksa/yaksa.h>
#include <ucd.h>

namespace ucd_yaksa {

// What a yaksa_info_t points to.
struct Info {
    ucd_info_t hints = UCD_INFO__NULL;
    bool no_gpu = false;
    std::string stream_backend; // whose streams the stream functions get; "" if it does not say so
};

// What libucd is told for a call with the buffers that info speaks of.
ucd_info_t hints_of(yaksa_info_t info);
// The same for a call with other buffers, in host memory too.
ucd_info_t hints_without_buffers(yaksa_info_t info);

} // namespace ucd_yaksa
