#include "core/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <utility>

namespace ucdpy::driver {

namespace {

using Status = int; // CUresult, hipError_t: 0 is success
using Release = void (*)(void *);

constexpr unsigned event_without_time = 2;
constexpr unsigned released_unsynchronized = 1, graph_takes_over = 1;
constexpr int attribute_device = 9; // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL

// Functions of CUDA's driver and of HIP's runtime, which agree in names and parameters.
struct Common {
    Status (*synchronize)(void *stream) = nullptr;
    Status (*is_capturing)(void *stream, int *status) = nullptr;
    Status (*capture_info)(void *stream, int *status, uint64_t *id, void **graph,
                           const void **dependencies, std::size_t *count) = nullptr;
    Status (*make_object)(void **object, void *what, Release release, unsigned references,
                          unsigned flags) = nullptr;
    Status (*retain_object)(void *graph, void *object, unsigned references,
                            unsigned flags) = nullptr;
    Status (*make_event)(void **event, unsigned flags) = nullptr;
    Status (*record)(void *event, void *stream) = nullptr;
    Status (*wait_event)(void *stream, void *event, unsigned flags) = nullptr;
    Status (*drop_event)(void *event) = nullptr;
    // CUDA's alone: the context of a device that the runtime uses.
    Status (*attribute)(void *value, int what, uintptr_t address) = nullptr;
    Status (*retain_context)(void **context, int device) = nullptr;
    Status (*release_context)(int device) = nullptr;
    Status (*push)(void *context) = nullptr;
    Status (*pop)(void **context) = nullptr;
};

template <class F>
void find(void *library, const std::string &name, F &function) {
    function = reinterpret_cast<F>(dlsym(library, name.c_str()));
}

Common load(std::initializer_list<const char *> files, const std::string &prefix) {
    Common common;
    void *library = nullptr;
    for (const char *file : files)
        if (!library) library = dlopen(file, RTLD_NOW | RTLD_LOCAL); // stays for ever
    if (!library) return common;
    const bool cuda = prefix == "cu";
    find(library, prefix + "StreamSynchronize", common.synchronize);
    find(library, prefix + "StreamIsCapturing", common.is_capturing);
    find(library, prefix + "StreamGetCaptureInfo_v2", common.capture_info);
    find(library, prefix + "UserObjectCreate", common.make_object);
    find(library, prefix + "GraphRetainUserObject", common.retain_object);
    find(library, prefix + (cuda ? "EventCreate" : "EventCreateWithFlags"), common.make_event);
    find(library, prefix + "EventRecord", common.record);
    find(library, prefix + "StreamWaitEvent", common.wait_event);
    find(library, prefix + (cuda ? "EventDestroy_v2" : "EventDestroy"), common.drop_event);
    if (cuda) {
        find(library, "cuPointerGetAttribute", common.attribute);
        find(library, "cuDevicePrimaryCtxRetain", common.retain_context);
        find(library, "cuDevicePrimaryCtxRelease_v2", common.release_context);
        find(library, "cuCtxPushCurrent_v2", common.push);
        find(library, "cuCtxPopCurrent_v2", common.pop);
    }
    return common;
}

const Common &common_of(const char *backend) {
    if (std::strcmp(backend, "hip") == 0) {
        static const Common hip = load(
            {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}, "hip");
        return hip;
    }
    static const Common cuda = load({"libcuda.so.1"}, "cu");
    return cuda;
}

// NULL, the legacy stream and that of the thread.
bool is_default(const void *stream) {
    return reinterpret_cast<uintptr_t>(stream) <= 2;
}

// Makes the context of an address's device current, as far as there is one.
class AtDeviceOf {
public:
    AtDeviceOf(const Common &common, const void *address) : common_(common) {
        if (!address || !common.attribute || !common.retain_context || !common.release_context ||
            !common.push || !common.pop)
            return;
        if (common.attribute(&device_, attribute_device, reinterpret_cast<uintptr_t>(address)) != 0)
            return;
        void *context = nullptr;
        if (common.retain_context(&context, device_) != 0) return;
        pushed_ = common.push(context) == 0;
        if (!pushed_) (void)common.release_context(device_);
    }
    ~AtDeviceOf() {
        if (!pushed_) return;
        void *context = nullptr;
        (void)common_.pop(&context);
        (void)common_.release_context(device_);
    }
    AtDeviceOf(const AtDeviceOf &) = delete;
    AtDeviceOf &operator=(const AtDeviceOf &) = delete;

private:
    const Common &common_;
    int device_ = 0;
    bool pushed_ = false;
};

// Types in use by a graph, until the driver says that it is gone. The driver's thread may neither
// take locks that are held during its calls nor wait for the GIL, so it only leaves a note.
struct Kept {
    explicit Kept(std::vector<Typed> in_use) : types(std::move(in_use)) {}
    std::vector<Typed> types;
    std::atomic<bool> done = false;
};

std::mutex keeping;

// Never destroyed: graphs may go at exit.
std::list<Kept> &all_kept() {
    static auto *const kept = new std::list<Kept>;
    return *kept;
}

void sweep() {
    std::list<Kept> gone; // without the lock: types call Python
    const std::lock_guard lock(keeping);
    std::list<Kept> &kept = all_kept();
    for (auto it = kept.begin(); it != kept.end();) {
        const auto next = std::next(it);
        if (it->done.load(std::memory_order_acquire)) gone.splice(gone.end(), kept, it);
        it = next;
    }
}

} // namespace

void wait_for(const View &array, void *stream) {
    const Common &common = common_of(array.backend);
    if (!common.synchronize)
        raise(PyExc_RuntimeError, "the call waits for the stream, but no driver of %s was found",
              array.backend);
    Status status = 0;
    {
        nb::gil_scoped_release no_gil;
        const AtDeviceOf at(common, is_default(stream) ? array.data : nullptr);
        status = common.synchronize(stream);
    }
    if (status != 0)
        raise(PyExc_RuntimeError, "waiting for the stream failed: error %d of %s", status,
              array.backend);
}

bool order(const View &array, void *earlier, void *later) noexcept {
    const Common &common = common_of(array.backend);
    if (!common.make_event || !common.record || !common.wait_event || !common.drop_event)
        return false;
    const AtDeviceOf at(common, is_default(earlier) || is_default(later) ? array.data : nullptr);
    void *event = nullptr;
    if (common.make_event(&event, event_without_time) != 0) return false;
    const bool ordered =
        common.record(event, earlier) == 0 && common.wait_event(later, event, 0) == 0;
    (void)common.drop_event(event); // which the driver does when it is not needed any more
    return ordered;
}

bool is_captured(const ucd_stream_t &stream) noexcept {
    if (reinterpret_cast<uintptr_t>(stream.native) <= 1) return false; // never the legacy stream
    const Common &common = common_of(stream.backend);
    int status = 0;
    return common.is_capturing && common.is_capturing(stream.native, &status) == 0 && status != 0;
}

void keep_with_graph(const ucd_stream_t &stream, std::vector<Typed> types) {
    sweep();
    Kept *kept = nullptr;
    {
        const std::lock_guard lock(keeping);
        kept = &all_kept().emplace_back(std::move(types));
    }
    const Common &common = common_of(stream.backend);
    if (!common.capture_info || !common.make_object || !common.retain_object) return;
    int status = 0;
    uint64_t id = 0;
    void *graph = nullptr, *object = nullptr;
    if (common.capture_info(stream.native, &status, &id, &graph, nullptr, nullptr) != 0 || !graph)
        return;
    const auto note = [](void *what) {
        static_cast<Kept *>(what)->done.store(true, std::memory_order_release);
    };
    if (common.make_object(&object, kept, note, 1, released_unsynchronized) == 0)
        (void)common.retain_object(graph, object, 1, graph_takes_over);
}

} // namespace ucdpy::driver
