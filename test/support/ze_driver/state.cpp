#include "support/ze_driver/state.h"

#include "support/ze_driver/controls.h"

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
    return k;
}

// Which calls fail.
struct FailingCalls {
    std::mutex mutex;
    std::string function;
    unsigned left = 0; // calls until it fails; 0: each one
    unsigned failed = 0;

    // NAME or NAME:N
    void set(const std::string &text) {
        const std::lock_guard lock(mutex);
        const std::size_t colon = text.find(':');
        function = text.substr(0, colon);
        left = colon == std::string::npos
                   ? 0
                   : static_cast<unsigned>(std::atoi(text.c_str() + colon + 1));
        failed = 0;
    }
};

FailingCalls &failing_calls() {
    static auto *f = [] {
        auto *made = new FailingCalls;
        const char *text = std::getenv("UCD_ZE_DRIVER_FAIL");
        made->set(text != nullptr ? text : "");
        return made;
    }();
    return *f;
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

std::atomic<int> objects{0};

bool is_failing(const char *function) {
    FailingCalls &f = failing_calls();
    const std::lock_guard lock(f.mutex);
    if (f.function != function) return false;
    if (f.left == 0) {
        ++f.failed;
        return true;
    }
    if (--f.left > 0) return false;
    f.function.clear();
    ++f.failed;
    return true;
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

void ucd_ze_driver_fail(const char *call) {
    zedriver::failing_calls().set(call);
}

unsigned ucd_ze_driver_failed() {
    zedriver::FailingCalls &f = zedriver::failing_calls();
    const std::lock_guard lock(f.mutex);
    return f.failed;
}

int ucd_ze_driver_objects() {
    return zedriver::objects;
}
