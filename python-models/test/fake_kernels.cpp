// The library of kernels for a device whose memory is the host's: number 3, and only in stream 77.
#define UCD_MODELS_SET plain
#include "host.cpp"

extern "C" const char *ucd_models_launch(const ucd_models::Member *members,
                                         const ucd_models::Member *on_device, uint32_t count,
                                         uint32_t, ucd_models::Kind kind, int device,
                                         void *stream) {
    if (device != 3 || stream != reinterpret_cast<void *>(77)) return "another device or stream";
    if (!on_device && count > ucd_models::max_few) return "there are too many parts";
    ucd_models::plain::run(on_device ? on_device : members, count, kind);
    return nullptr;
}
