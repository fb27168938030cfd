#include "info.h"

#include "failure.h"
#include "life_cycle.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace ucd_yaksa {
namespace {

// The first members of struct cudaPointerAttributes since CUDA 11. Later versions have appended
// members.
struct CudaPointerAttributes {
    enum : std::int32_t { unregistered, host, device, managed };
    std::int32_t type;
    std::int32_t device_number;
};

struct FreeInfo {
    void operator()(Info *info) const {
        if (info->hints != UCD_INFO__NULL) ucd_info_free(&info->hints);
        delete info;
    }
};

int create_info(yaksa_info_t *info) {
    if (info == nullptr) return fail(YAKSA_ERR__INTERNAL, "info is NULL; it must not be");
    std::unique_ptr<Info, FreeInfo> made(new Info);
    UCD_TRY(from_ucd(ucd_info_create(&made->hints)));
    *info = made.release();
    return YAKSA_SUCCESS;
}

// Some callers include the NUL in the length.
std::string text_of(const void *value, unsigned int length) {
    const char *const text = static_cast<const char *>(value);
    return length == 0 ? std::string() : std::string(text, strnlen(text, length));
}

int set_driver(Info &info, const std::string &driver) {
    if (driver == "nogpu") {
        UCD_TRY(from_ucd(ucd_info_set(info.hints, "ucd.gpu", "none")));
        info.no_gpu = true;
        return YAKSA_SUCCESS;
    }
    info.stream_backend = driver; // libucd checks the name when it is used
    return YAKSA_SUCCESS;
}

int set_memory(Info &info, const char *key, const void *value, unsigned int length) {
    CudaPointerAttributes attributes;
    if (length < sizeof attributes) return YAKSA_SUCCESS;
    std::memcpy(&attributes, value, sizeof attributes);
    char device[32];
    const char *memory = nullptr;
    switch (attributes.type) {
    case CudaPointerAttributes::unregistered: memory = "host"; break;
    case CudaPointerAttributes::host: memory = "pinned"; break;
    case CudaPointerAttributes::managed: memory = "managed"; break;
    case CudaPointerAttributes::device:
        std::snprintf(device, sizeof device, "cuda:%d", attributes.device_number);
        memory = device;
        break;
    default: return YAKSA_SUCCESS;
    }
    return from_ucd(ucd_info_set(info.hints, key, memory));
}

int append(Info *info, const char *key, const void *value, unsigned int length) {
    if (info == nullptr) return fail(YAKSA_ERR__INTERNAL, "info is NULL; it must not be");
    if (key == nullptr) return fail(YAKSA_ERR__INTERNAL, "key is NULL; it must not be");
    if (value == nullptr && length != 0)
        return fail(YAKSA_ERR__INTERNAL, "val is NULL; vallen is not 0");
    const std::string_view name(key, strnlen(key, YAKSA_INFO_MAX_KEYLEN));
    if (name == "yaksa_gpu_driver") return set_driver(*info, text_of(value, length));
    if (name == "yaksa_cuda_inbuf_ptr_attr") return set_memory(*info, "ucd.inbuf", value, length);
    if (name == "yaksa_cuda_outbuf_ptr_attr") return set_memory(*info, "ucd.outbuf", value, length);
    if (!name.starts_with("ucd.")) return YAKSA_SUCCESS;
    return from_ucd(
        ucd_info_set(info->hints, std::string(name).c_str(), text_of(value, length).c_str()));
}

int free_info(Info *info) {
    if (info == nullptr) return fail(YAKSA_ERR__INTERNAL, "info is NULL; it must not be");
    FreeInfo()(info);
    return YAKSA_SUCCESS;
}

} // namespace

ucd_info_t hints_of(yaksa_info_t info) {
    if (without_gpus()) return no_gpu_hints();
    return info == nullptr ? UCD_INFO__NULL : static_cast<const Info *>(info)->hints;
}

ucd_info_t hints_without_buffers(yaksa_info_t info) {
    const bool no_gpu =
        without_gpus() || (info != nullptr && static_cast<const Info *>(info)->no_gpu);
    return no_gpu ? no_gpu_hints() : UCD_INFO__NULL;
}

} // namespace ucd_yaksa

using namespace ucd_yaksa;

int yaksa_info_create(yaksa_info_t *info) {
    return guarded(__func__, [&] { return create_info(info); });
}

int yaksa_info_free(yaksa_info_t info) {
    return guarded(__func__, [&] { return free_info(static_cast<Info *>(info)); });
}

int yaksa_info_keyval_append(yaksa_info_t info, const char *key, const void *val,
                             unsigned int vallen) {
    return guarded(__func__, [&] { return append(static_cast<Info *>(info), key, val, vallen); });
}
