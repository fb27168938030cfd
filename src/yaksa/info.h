#pragma once

#include <string>
#include <ucd-yaksa/yaksa.h>
#include <ucd.h>

namespace ucd_yaksa {

// The struct that a yaksa_info_t points to.
struct Info {
    ucd_info_t hints = UCD_INFO__NULL;
    bool no_gpu = false;
    std::string stream_backend; // the backend of streams; "" if not given
};

// The hints for a call that uses the buffers that info describes.
ucd_info_t hints_of(yaksa_info_t info);
// The hints for a call that also uses other buffers, in host memory.
ucd_info_t hints_without_buffers(yaksa_info_t info);

} // namespace ucd_yaksa
