// The functions of runtime/driver.h for CUDA: devices, contexts, and the memory of an address.

#include "runtime/driver.h"

#include "driver_library.h"
#include "runtime/check.h"
#include "runtime/device.h"
#include "runtime/host_readable.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <mutex>

// The oldest architecture that this build has code for, as 10 * major + minor. Set by the build.
#ifndef UCD_CUDA_OLDEST_ARCHITECTURE
#error "UCD_CUDA_OLDEST_ARCHITECTURE is not set"
#endif

namespace ucd::cuda {

cudaError_t stream_is_capturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult result = DriverLibrary::instance().stream_is_capturing(stream, &found);
    *status = static_cast<cudaStreamCaptureStatus>(found);
    return static_cast<cudaError_t>(result); // the numbers are the same
}

cudaError_t exchange_capture_mode(cudaStreamCaptureMode *mode) {
    const DriverLibrary &library = DriverLibrary::instance();
    if (library.exchange_capture_mode == nullptr) return cudaErrorInsufficientDriver;
    auto native = static_cast<CUstreamCaptureMode>(*mode);
    const CUresult result = library.exchange_capture_mode(&native);
    *mode = static_cast<cudaStreamCaptureMode>(native);
    return static_cast<cudaError_t>(result);
}

namespace driver {
namespace {

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int attribute(const DriverLibrary &library, CUdevice device, CUdevice_attribute which) {
    int value = 0;
    return library.device_get_attribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

struct AddressRange {
    uintptr_t start = 0;
    std::size_t bytes = 0;
    uintptr_t end() const { return start + bytes; }
};

// The reason why a device cannot be used; "" if it seems usable.
std::string refusal(const DriverLibrary &library, CUdevice device) {
    const int architecture =
        10 * attribute(library, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
        attribute(library, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    if (architecture < UCD_CUDA_OLDEST_ARCHITECTURE)
        return "has architecture sm_" + std::to_string(architecture) +
               ", and this build begins with sm_" + std::to_string(UCD_CUDA_OLDEST_ARCHITECTURE);
    const int mode = attribute(library, device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
    if (mode == CU_COMPUTEMODE_PROHIBITED) return "is in compute mode prohibited";
    unsigned flags = 0;
    int active = 0;
    if (mode != CU_COMPUTEMODE_EXCLUSIVE_PROCESS ||
        (library.primary_ctx_get_state(device, &flags, &active) == CUDA_SUCCESS && active != 0))
        return "";
    // Only an attempt shows whether another process uses the device exclusively.
    CUcontext context;
    const CUresult result = library.primary_ctx_retain(&context, device);
    if (result != CUDA_SUCCESS)
        return "is in compute mode exclusive and not to be had: " + library.text_of(result);
    (void)library.primary_ctx_release(device);
    return "";
}

BackendState count_devices() {
    BackendState state = look();
    if (!state.available) return state;
    const DriverLibrary &library = DriverLibrary::instance();
    if (const CUresult result = library.init(0); result != CUDA_SUCCESS)
        return unavailable("the driver could not be initialised: " + library.text_of(result));
    int devices = 0;
    if (const CUresult result = library.device_get_count(&devices); result != CUDA_SUCCESS)
        return unavailable("the devices could not be counted: " + library.text_of(result));
    std::string refused;
    unsigned usable = 0;
    for (int i = 0; i < devices; ++i) {
        CUdevice device;
        if (library.device_get(&device, i) != CUDA_SUCCESS) continue;
        const std::string why = refusal(library, device);
        if (why.empty()) {
            ++usable;
            continue;
        }
        char name[64] = "";
        (void)library.device_get_name(name, sizeof name, device);
        refused += (refused.empty() ? "device " : "; device ") + std::to_string(i) + " (" + name +
                   ") " + why;
    }
    if (usable == 0) return unavailable(devices == 0 ? "the driver has found no device" : refused);
    state.devices = static_cast<uint32_t>(devices < max_devices ? devices : max_devices);
    state.reason = refused; // why some cannot be used, if others can
    return state;
}

// The primary context of each device, retained from its first use to the end of the process.
struct Contexts {
    std::mutex mutex;
    std::array<std::atomic<CUcontext>, max_devices> primary{};
};
Contexts &contexts() {
    static Contexts *c = new Contexts;
    return *c;
}

Status primary_context(int device, CUcontext &context) {
    const DriverLibrary &library = DriverLibrary::instance();
    auto &slot = contexts().primary[static_cast<std::size_t>(device)];
    context = slot.load(std::memory_order_acquire);
    if (context != nullptr) [[likely]]
        return success;
    const std::lock_guard lock(contexts().mutex);
    context = slot.load(std::memory_order_acquire);
    if (context != nullptr) return success;
    CUdevice handle;
    CUresult result = library.device_get(&handle, device);
    if (result == CUDA_SUCCESS) result = library.primary_ctx_retain(&context, handle);
    if (result != CUDA_SUCCESS)
        return fail(result == CUDA_ERROR_OUT_OF_MEMORY ? UCD_ERR__OUT_OF_MEM : UCD_ERR__DEVICE,
                    "CUDA: device %d cannot be used: %s", device, library.text_of(result).c_str());
    slot.store(context, std::memory_order_release);
    return success;
}

// Handles a failed query. If no code in this process has initialised the driver, the address is not
// device memory. If the driver fails, for instance after a fault on a device, memory that the host
// can read is treated as host memory.
Status no_answer(CUresult result, const void *address) {
    if (result == CUDA_ERROR_NOT_INITIALIZED || gpu::is_host_readable(address)) return success;
    return fail(UCD_ERR__DEVICE, "CUDA: asking for the memory of %p failed: %s", address,
                DriverLibrary::instance().text_of(result).c_str());
}

} // namespace

BackendState look() {
    const DriverLibrary &library = DriverLibrary::instance();
    if (!library.missing.empty()) return unavailable(library.missing);
    int version = 0;
    if (const CUresult result = library.driver_get_version(&version); result != CUDA_SUCCESS)
        return unavailable("the driver does not tell its version: " + library.text_of(result));
    // Within a major version, drivers run code of any toolkit.
    if (version / 1000 < CUDART_VERSION / 1000)
        return unavailable("the driver is for CUDA " + version_text(version) +
                           ", and this build needs " + version_text(CUDART_VERSION / 1000 * 1000));
    BackendState state;
    state.available = true;
    state.version = version_text(version);
    return state;
}

const BackendState &initialise() {
    static const BackendState *state = new BackendState(count_devices());
    return *state;
}

// Each instance of a device that is partitioned (MIG) has a UUID of its own.
uint64_t identify(int device) {
    const DriverLibrary &library = DriverLibrary::instance();
    CUdevice handle;
    CUuuid uuid{};
    if (library.device_get_uuid == nullptr || library.device_get(&handle, device) != CUDA_SUCCESS ||
        library.device_get_uuid(&uuid, handle) != CUDA_SUCCESS)
        return 0;
    return identity_of(uuid.bytes, sizeof uuid.bytes);
}

Status find(const void *address, MemoryLocation &location) {
    const DriverLibrary &library = DriverLibrary::instance();
    const auto position = reinterpret_cast<CUdeviceptr>(address);
    unsigned type = 0, managed = 0, for_ipc = 0;
    // Memory that CUDA does not know is not an error: its type and all other attributes are 0.
    //
    // Each attribute takes time. If the thread's last address was host memory, the type is queried
    // alone first, since the next address is likely host memory, too.
    thread_local constinit bool last_was_known = false;
    if (!last_was_known) {
        CUpointer_attribute first[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
        void *value[] = {&type};
        const CUresult result = library.pointer_get_attributes(1, first, value, position);
        if (result != CUDA_SUCCESS) return no_answer(result, address);
        if (type == 0) return success;
    }
    last_was_known = false;
    int ordinal = -1;
    CUdeviceptr on_device = 0;
    AddressRange range, mapping;
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                        CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                        CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                        CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR,
                                        CU_POINTER_ATTRIBUTE_MAPPING_SIZE,
                                        CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE};
    void *values[] = {&type,        &managed,       &ordinal,       &on_device, &range.start,
                      &range.bytes, &mapping.start, &mapping.bytes, &for_ipc};
    const CUresult result =
        library.pointer_get_attributes(std::size(values), attributes, values, position);
    if (result != CUDA_SUCCESS) return no_answer(result, address);
    last_was_known = type != 0;
    if (managed != 0)
        location.kind = MemoryKind::managed;
    else if (type == CU_MEMORYTYPE_DEVICE && ordinal >= 0)
        location.kind = MemoryKind::device;
    else if (type == CU_MEMORYTYPE_HOST && on_device == position)
        location.kind = MemoryKind::pinned;
    else
        return success; // pageable, or registered at another device address
    location.device = ordinal < 0 ? 0 : ordinal;
    // A reserved address range may be mapped piecewise to memory of several devices.
    location.begin = std::max(range.start, mapping.start);
    location.end = std::max(location.begin, std::min(range.end(), mapping.end()));
    // Memory of cudaMalloc can be shared by IPC; memory of pools and mapped ranges cannot. No other
    // attribute distinguishes them: CU_POINTER_ATTRIBUTE_ACCESS_FLAGS reports full access for
    // pools.
    location.own_access = for_ipc == 0;
    return success;
}

bool has_element(Element) {
    return true;
}

bool has_access(int device, const MemoryLocation &memory) {
    const DriverLibrary &library = DriverLibrary::instance();
    CUmemLocation location{};
    location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = device;
    CUmemoryPool pool = nullptr;
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE};
    void *values[] = {&pool};
    if (library.pointer_get_attributes(1, attributes, values, memory.begin) != CUDA_SUCCESS)
        return false;
    if (pool != nullptr) {
        CUmemAccess_flags access{};
        return library.mem_pool_get_access(&access, pool, &location) == CUDA_SUCCESS &&
               access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    unsigned long long access = 0;
    return library.mem_get_access(&access, &location, memory.begin) == CUDA_SUCCESS &&
           access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

Status find_allocation(const void *address, void *&start, std::size_t &bytes) {
    CUdeviceptr first = 0;
    UCD_TRY(check(DriverLibrary::instance().mem_get_address_range(
                      &first, &bytes, reinterpret_cast<CUdeviceptr>(address)),
                  "asking for an allocation"));
    start = reinterpret_cast<void *>(first);
    return success;
}

Status find_device(cudaStream_t stream, int &device) {
    if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return check(cudaGetDevice(&device), "asking for the current device");
    const DriverLibrary &library = DriverLibrary::instance();
    CUcontext context = nullptr;
    CUdevice handle = 0;
    CUresult result = library.stream_get_ctx(stream, &context);
    // Only the current context can be asked for its device.
    if (result == CUDA_SUCCESS) result = library.ctx_push_current(context);
    if (result == CUDA_SUCCESS) {
        result = library.ctx_get_device(&handle);
        (void)library.ctx_pop_current(&context);
    }
    device = handle;
    return check(result, "asking for the device of a stream");
}

Status keep_with_graph(cudaStream_t stream, std::shared_ptr<void> what) {
    cudaStreamCaptureStatus capture;
    cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
    UCD_TRY(check(
        cudaStreamGetCaptureInfo(stream, &capture, nullptr, &graph, nullptr, nullptr, nullptr),
        "asking for the graph"));
#else
    UCD_TRY(check(cudaStreamGetCaptureInfo_v2(stream, &capture, nullptr, &graph, nullptr, nullptr),
                  "asking for the graph"));
#endif
    using Owner = std::shared_ptr<void>;
    auto owner = std::make_unique<Owner>(std::move(what));
    cudaUserObject_t object = nullptr;
    UCD_TRY(check(cudaUserObjectCreate(
                      &object, owner.get(), [](void *o) { delete static_cast<Owner *>(o); }, 1,
                      cudaUserObjectNoDestructorSync),
                  "giving the graph a batch"));
    (void)owner.release(); // the user object owns it
    const Status status =
        check(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove),
              "giving the graph a batch");
    if (!status.ok()) (void)cudaUserObjectRelease(object, 1);
    return status;
}

Status enter(const NativeStream &native, cudaStream_t &stream) {
    stream = static_cast<cudaStream_t>(native.native);
    return success;
}

Current::Current(int device) {
    if (const BackendState &state = initialise(); !state.available) {
        status = fail(UCD_ERR__DEVICE, "CUDA: %s", state.reason.c_str());
        return;
    }
    CUcontext context;
    status = primary_context(device, context);
    if (!status.ok()) return;
    const DriverLibrary &library = DriverLibrary::instance();
    // Most callers use the device themselves, so it is already current.
    CUcontext before = nullptr;
    if (library.ctx_get_current(&before) == CUDA_SUCCESS && before == context) return;
    const CUresult result = library.ctx_push_current(context);
    pushed_ = result == CUDA_SUCCESS;
    if (!pushed_)
        status = fail(UCD_ERR__DEVICE, "CUDA: device %d cannot be made current: %s", device,
                      library.text_of(result).c_str());
}

Current::~Current() {
    CUcontext context;
    if (pushed_) (void)DriverLibrary::instance().ctx_pop_current(&context);
}

} // namespace driver
} // namespace ucd::cuda
