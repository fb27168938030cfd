// The functions of runtime/driver.h for HIP: devices, and the memory of an address.

#include "runtime/driver.h"

#include "driver_library.h"
#include "runtime/check.h"
#include "runtime/device.h"
#include "runtime/host_readable.h"

#include <algorithm>
#include <string_view>
#include <vector>

// The architectures that this build has code for, separated by spaces. Set by the build.
#ifndef UCD_HIP_ARCHITECTURES
#error "UCD_HIP_ARCHITECTURES is not set"
#endif

namespace ucd::hip::driver {
namespace {

std::string version_text(int version) {
    return std::to_string(version / 10000000) + "." + std::to_string(version % 10000000 / 100000);
}

// Clears the error of a failed call, which a later call of the program would return otherwise.
hipError_t forgotten(hipError_t error) {
    if (error != hipSuccess) (void)hipGetLastError();
    return error;
}

std::string_view take_word(std::string_view &text, char end) {
    const std::size_t length = std::min(text.find(end), text.size());
    const std::string_view word = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    return word;
}

// Whether code runs on a device. A device reports its architecture with its settings:
// "gfx90a:sramecc+:xnack-". Code names the settings that it needs, if any: "gfx90a:xnack+".
bool runs(std::string_view code, std::string_view device) {
    if (take_word(code, ':') != take_word(device, ':')) return false;
    while (!code.empty()) {
        const std::string_view needed = take_word(code, ':');
        bool has = false;
        for (std::string_view rest = device; !rest.empty();)
            has = has || take_word(rest, ':') == needed;
        if (!has) return false;
    }
    return true;
}

// The reason why a device cannot be used; "" if it can. HIP before version 6 ends the process if a
// kernel is launched on a device for which it has no code.
std::string refusal(const hipDeviceProp_t &properties) {
    for (std::string_view rest = UCD_HIP_ARCHITECTURES; !rest.empty();)
        if (runs(take_word(rest, ' '), properties.gcnArchName)) return "";
    return "has architecture " + std::string(properties.gcnArchName) +
           ", and this build is for " UCD_HIP_ARCHITECTURES;
}

struct DeviceFacts {
    std::string refusal;   // the reason why it cannot be used, or ""
    bool migrates = false; // managed memory migrates on access
};

struct Found {
    BackendState state;
    std::vector<DeviceFacts> devices;

    bool has(int device) const {
        return device >= 0 && static_cast<std::size_t>(device) < devices.size();
    }
    const DeviceFacts &of(int device) const { return devices[static_cast<std::size_t>(device)]; }
};

DeviceFacts look_at(int device) {
    DeviceFacts facts;
    hipDeviceProp_t properties{};
    if (const hipError_t error = forgotten(hipGetDeviceProperties(&properties, device));
        error != hipSuccess) {
        facts.refusal = std::string("says nothing: ") + hipGetErrorString(error);
        return facts;
    }
    if (const std::string why = refusal(properties); !why.empty())
        facts.refusal = std::string("(") + properties.name + ") " + why;
    int migrates = 0;
    facts.migrates =
        forgotten(hipDeviceGetAttribute(&migrates, hipDeviceAttributeConcurrentManagedAccess,
                                        device)) == hipSuccess &&
        migrates != 0;
    return facts;
}

Found look_for_devices() {
    Found found{look(), {}};
    BackendState &state = found.state;
    if (!state.available) return found;
    int count = 0;
    const hipError_t counted = forgotten(hipGetDeviceCount(&count));
    if (counted != hipSuccess && counted != hipErrorNoDevice) {
        state = unavailable(std::string("the driver could not be initialised: ") +
                            hipGetErrorString(counted));
        return found;
    }
    if (counted == hipErrorNoDevice || count == 0) {
        state = unavailable("the driver has found no device");
        return found;
    }
    bool usable = false;
    for (int i = 0; i < std::min(count, max_devices); ++i) {
        const DeviceFacts &facts = found.devices.emplace_back(look_at(i));
        usable = usable || facts.refusal.empty();
        if (facts.refusal.empty()) continue;
        state.reason += state.reason.empty() ? "" : "; ";
        state.reason += "device " + std::to_string(i) + " " + facts.refusal;
    }
    state.available = usable; // true if any device can be used
    if (!usable) return found;
    int version = 0;
    if (forgotten(hipRuntimeGetVersion(&version)) == hipSuccess)
        state.version = version_text(version);
    state.devices = static_cast<uint32_t>(found.devices.size());
    return found;
}

const Found &found() {
    static const Found *f = new Found(look_for_devices()); // never destroyed
    return *f;
}

// Unregistered memory is an error before version 6, and has its own type from version 6 on.
hipMemoryType type_of(const hipPointerAttribute_t &a) {
#if HIP_VERSION_MAJOR >= 6
    return a.type;
#else
    return a.memoryType;
#endif
}
bool is_managed(const hipPointerAttribute_t &a) {
#if HIP_VERSION_MAJOR >= 6
    return a.isManaged != 0 || a.type == hipMemoryTypeManaged;
#else
    return a.isManaged != 0;
#endif
}

void *pointer_to(uintptr_t position) {
    return reinterpret_cast<void *>(position);
}
uintptr_t number_of(const void *pointer) {
    return reinterpret_cast<uintptr_t>(pointer);
}

// Finds the access rights of a device to memory of a pool or of a mapped range; false if the
// address is in neither.
bool find_rights(int device, uintptr_t position, bool &may_write) {
    hipMemLocation location{};
    location.type = hipMemLocationTypeDevice;
    location.id = device;
    unsigned long long range = 0;
    if (forgotten(hipMemGetAccess(&range, &location, reinterpret_cast<void *>(position))) ==
        hipSuccess) {
        may_write = range == hipMemAccessFlagsProtReadWrite;
        return true;
    }
    hipMemPool_t pool = nullptr;
    if (forgotten(hipPointerGetAttribute(&pool, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                                         pointer_to(position))) != hipSuccess ||
        pool == nullptr)
        return false;
    hipMemAccessFlags access{};
    may_write = forgotten(hipMemPoolGetAccess(&access, pool, &location)) == hipSuccess &&
                access == hipMemAccessFlagsProtReadWrite;
    return true;
}

} // namespace

BackendState look() {
    const std::string missing = missing_driver();
    if (!missing.empty()) return unavailable(missing);
    BackendState state;
    state.available = true;
    state.version = version_text(HIP_VERSION);
    return state;
}

const BackendState &initialise() {
    return found().state;
}

// Devices without a UUID have all the same bytes in its place, and parts of a device may share its
// UUID, so the address on the bus belongs to the identity.
uint64_t identify(int device) {
    struct {
        hipUUID uuid;
        char bus[32];
    } known{};
    if (forgotten(hipDeviceGetUuid(&known.uuid, device)) != hipSuccess ||
        forgotten(hipDeviceGetPCIBusId(known.bus, sizeof known.bus, device)) != hipSuccess)
        return 0;
    return identity_of(&known, sizeof known);
}

Status find(const void *address, MemoryLocation &location) {
    if (!is_initialised() || !found().state.available) return success;
    hipPointerAttribute_t attributes{};
    const hipError_t error = forgotten(hipPointerGetAttributes(&attributes, address));
    // Before HIP 6, memory that HIP does not know is an invalid value.
    if (error == hipErrorInvalidValue || (error != hipSuccess && gpu::is_host_readable(address)))
        return success;
    if (error != hipSuccess)
        return fail(UCD_ERR__DEVICE, "HIP: asking for the memory of %p failed: %s", address,
                    hipGetErrorString(error));
    const bool known = found().has(attributes.device);
    if (is_managed(attributes)) // without migration, it stays in host memory
        location.kind = known && found().of(attributes.device).migrates ? MemoryKind::managed
                                                                        : MemoryKind::pinned;
    else if (type_of(attributes) == hipMemoryTypeDevice && known)
        location.kind = MemoryKind::device;
    else if (type_of(attributes) == hipMemoryTypeHost && attributes.devicePointer == address)
        location.kind = MemoryKind::pinned;
    else
        return success; // pageable, or registered at another device address
    location.device = known ? attributes.device : 0;
    location.begin = location.end = reinterpret_cast<uintptr_t>(address);
    bool may_write;
    location.own_access = location.kind == MemoryKind::device && found().devices.size() > 1 &&
                          find_rights(location.device, location.begin, may_write);
    // A reserved address range may have memory of several devices, and ROCm 7 reports managed
    // memory as a part of such a range.
    if (is_managed(attributes) || location.own_access) return success;
    hipDeviceptr_t start{};
    std::size_t bytes = 0;
    if (forgotten(hipMemGetAddressRange(&start, &bytes, pointer_to(location.begin))) ==
            hipSuccess &&
        number_of(start) <= location.begin && location.begin - number_of(start) < bytes) {
        location.begin = number_of(start);
        location.end = location.begin + bytes;
    }
    return success;
}

bool has_element(Element) {
    return true;
}

bool has_access(int device, const MemoryLocation &location) {
    bool may_write = false;
    return find_rights(device, location.begin, may_write) && may_write;
}

Status find_allocation(const void *address, void *&start, std::size_t &bytes) {
    hipDeviceptr_t first{};
    UCD_TRY(check(
        hipMemGetAddressRange(&first, &bytes, pointer_to(reinterpret_cast<uintptr_t>(address))),
        "asking for an allocation"));
    start = first;
    return success;
}

Status find_device(hipStream_t stream, int &device) {
    if (stream == nullptr || stream == hipStreamPerThread)
        return check(hipGetDevice(&device), "asking for the current device");
#if HIP_VERSION >= 60000000
    return check(hipStreamGetDevice(stream, &device), "asking for the device of a stream");
#else
    return fail(UCD_ERR__INVALID_ARG,
                "the device of the stream is -1, and HIP before version 6 does not tell it");
#endif
}

#if HIP_VERSION >= 50300000

Status keep_with_graph(hipStream_t stream, std::shared_ptr<void> what) {
    hipStreamCaptureStatus capture{};
    hipGraph_t graph = nullptr;
    UCD_TRY(check(hipStreamGetCaptureInfo_v2(stream, &capture, nullptr, &graph, nullptr, nullptr),
                  "asking for the graph"));
    auto holder = std::make_unique<std::shared_ptr<void>>(std::move(what));
    const auto drop = [](void *held) { delete static_cast<std::shared_ptr<void> *>(held); };
    hipUserObject_t object = nullptr;
    UCD_TRY(
        check(hipUserObjectCreate(&object, holder.get(), drop, 1, hipUserObjectNoDestructorSync),
              "making what a graph keeps"));
    (void)holder.release(); // the user object owns it
    Status kept = check(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove),
                        "giving it to the graph");
    if (!kept.ok()) (void)hipUserObjectRelease(object, 1);
    return kept;
}

#else

// NOLINTNEXTLINE(performance-unnecessary-value-param): declared for graphs that keep it
Status keep_with_graph(hipStream_t, std::shared_ptr<void>) {
    return fail(UCD_ERR__NOT_SUPPORTED,
                "HIP: graphs keep nothing before version 5.3, and this build is for %s",
                version_text(HIP_VERSION).c_str());
}

#endif

namespace {

// A stack of the devices that were current before each nested Current of this thread.
constexpr int deepest = 8;
thread_local int before[deepest];
thread_local int depth = 0;

} // namespace

Status enter(const NativeStream &native, hipStream_t &stream) {
    stream = static_cast<hipStream_t>(native.native);
    return success;
}

Current::Current(int device) {
    if (const BackendState &state = initialise(); !state.available) {
        status = fail(UCD_ERR__DEVICE, "HIP: %s", state.reason.c_str());
    } else if (!found().has(device) || depth == deepest) {
        status = fail(UCD_ERR__DEVICE, "HIP: there is no device %d", device);
    } else if (const std::string &why = found().of(device).refusal; !why.empty()) {
        status = fail(UCD_ERR__DEVICE, "HIP: device %d %s", device, why.c_str());
    } else {
        status = check(hipGetDevice(&before[depth]), "asking for the current device");
        if (status.ok() && before[depth] != device)
            status = check(hipSetDevice(device), "making a device current");
    }
    if (status.ok()) ++depth;
}

Current::~Current() {
    if (!status.ok()) return;
    --depth;
    int now = before[depth];
    if (hipGetDevice(&now) != hipSuccess || now != before[depth]) (void)hipSetDevice(before[depth]);
}

} // namespace ucd::hip::driver
