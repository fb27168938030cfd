#include "support/ze_driver/state.h"

#include "support/ze_driver/controls.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace zedriver {
namespace {

[[noreturn]] void end(const char *what, const char *why) {
    std::fprintf(stderr, "ze_driver: %s %s\n", what, why);
    std::abort();
}

unsigned number(const char *name, unsigned otherwise) {
    const char *text = std::getenv(name);
    return text != nullptr && *text != 0 ? static_cast<unsigned>(std::atoi(text)) : otherwise;
}

Knobs read_knobs() {
    Knobs k;
    k.devices = number("UCD_ZE_DRIVER_DEVICES", 1);
    k.parts = number("UCD_ZE_DRIVER_PARTS", 0);
    k.keeps = number("UCD_ZE_DRIVER_KEEPS", 0) != 0;
    k.blocks = number("UCD_ZE_DRIVER_BLOCKS", 0) != 0;
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
    struct Call {
        std::string function;
        bool each;
        unsigned left; // calls until it fails, if it is not each
    };
    std::mutex mutex;
    std::vector<Call> calls;
    unsigned failed = 0;

    // NAME or NAME:N, and more behind commas
    void set(const std::string &text) {
        const std::lock_guard lock(mutex);
        failed = 0;
        calls.clear();
        std::istringstream names(text);
        for (std::string name; std::getline(names, name, ',');) {
            const std::size_t colon = name.find(':');
            const bool each = colon == std::string::npos;
            calls.push_back({name.substr(0, colon), each,
                             each ? 0 : static_cast<unsigned>(std::stoul(name.substr(colon + 1)))});
        }
    }
    bool fails(const char *function) {
        const std::lock_guard lock(mutex);
        const auto call = std::find_if(calls.begin(), calls.end(), [function](const Call &c) {
            return c.function == function;
        });
        if (call == calls.end() || (!call->each && --call->left > 0)) return false;
        if (!call->each) calls.erase(call);
        ++failed;
        return true;
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

std::unique_ptr<Device> make_device(unsigned index) {
    auto device = std::make_unique<Device>();
    device->index = index;
    for (unsigned i = 0; i < knobs().parts; ++i) {
        device->parts.push_back(std::make_unique<Device>());
        device->parts.back()->index = index;
        device->parts.back()->whole = device.get();
    }
    return device;
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
    static std::atomic<bool> not_initialised{false};
    const bool initialises = std::strcmp(function, "zeInit") == 0;
    if (not_initialised && !initialises) end(function, "after a zeInit that failed");
    const bool fails = failing_calls().fails(function);
    if (initialises) not_initialised = fails;
    return fails;
}

OneThread::OneThread(std::atomic<int> &users, const char *what) : users_(users) {
    if (++users_ > 1) end(what, "in two threads at once");
}

OpenCl *open_cl() {
    static OpenCl *cl = find_pocl();
    return cl;
}

std::vector<std::unique_ptr<Device>> &devices() {
    static auto *all = [] {
        auto *made = new std::vector<std::unique_ptr<Device>>;
        for (unsigned i = 0; i < knobs().devices; ++i) made->push_back(make_device(i));
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
