#include "support/ze_driver/state.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace zedriver {
namespace {

unsigned number(const char *name, unsigned otherwise) {
    const char *text = std::getenv(name);
    return text != nullptr && *text != 0 ? static_cast<unsigned>(std::atoi(text)) : otherwise;
}

Knobs read_knobs() {
    Knobs k;
    k.devices = number("UCD_ZE_DRIVER_DEVICES", 1);
    k.delay_us = number("UCD_ZE_DRIVER_DELAY_US", 0);
    k.seed = number("UCD_ZE_DRIVER_SHUFFLE", 0);
    k.shuffle = std::getenv("UCD_ZE_DRIVER_SHUFFLE") != nullptr;
    k.strict = number("UCD_ZE_DRIVER_STRICT", 0) != 0;
    k.doubles = number("UCD_ZE_DRIVER_NO_DOUBLES", 0) == 0;
    k.peers = number("UCD_ZE_DRIVER_NO_PEERS", 0) == 0;
    const char *failing = std::getenv("UCD_ZE_DRIVER_FAIL");
    k.failing = failing != nullptr ? failing : "";
    const std::size_t colon = k.failing.find(':');
    k.fails_at = colon == std::string::npos
                     ? 0
                     : static_cast<unsigned>(std::atoi(k.failing.c_str() + colon + 1));
    k.failing.resize(std::min(colon, k.failing.size()));
    return k;
}

OpenCl *find_pocl() {
    // PoCL 3.1 loses which memory belongs to one group where it is used by a pointer to any memory:
    // groups that ran at once would share it.
    ::setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
    cl_platform_id platforms[16];
    cl_uint count = 0;
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return nullptr;
    for (cl_uint i = 0; i < std::min<cl_uint>(count, 16); ++i) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
        if (std::strstr(name, "Portable Computing") == nullptr) continue;
        auto cl = std::make_unique<OpenCl>();
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &cl->device, nullptr) != CL_SUCCESS)
            continue;
        cl->context = clCreateContext(nullptr, 1, &cl->device, nullptr, nullptr, nullptr);
        if (cl->context != nullptr) return cl.release();
    }
    return nullptr;
}

} // namespace

const Knobs &knobs() {
    static const auto *k = new Knobs(read_knobs());
    return *k;
}

bool is_failing(const char *function) {
    static std::atomic<unsigned> calls{0};
    if (knobs().failing != function) return false;
    return knobs().fails_at == 0 || ++calls == knobs().fails_at;
}

OpenCl *open_cl() {
    static OpenCl *cl = find_pocl();
    return cl;
}

std::vector<std::unique_ptr<Device>> &devices() {
    static auto *all = [] {
        auto *made = new std::vector<std::unique_ptr<Device>>;
        for (unsigned i = 0; i < knobs().devices; ++i)
            made->push_back(std::make_unique<Device>(Device{i}));
        return made;
    }();
    return *all;
}

} // namespace zedriver
