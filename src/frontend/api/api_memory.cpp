// ucd_memory.h: allocates device memory, and shares it with other processes.

#include "api/api_guard.h"
#include "api/named_device.h"
#include "support/device_memory.h"
#include "transfer/route.h"

#include <ucd_memory.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <string>

#include <fcntl.h>
#include <unistd.h>

using namespace ucd;

namespace {

// The content of a ucd_ipc_handle_t.
struct Handle {
    static constexpr uint32_t alone = 0x49444355;    // "UCDI"
    static constexpr uint32_t with_fds = 0x46444355; // "UCDF"
    static constexpr uint64_t device_bits = 0xffff;
    uint32_t magic = alone;
    uint32_t check = 0;   // a checksum of all that follows
    uint64_t machine = 0; // identifies the machine that exported it
    // 48 random bits that only the exporting process has, and in device_bits what stands for the
    // device that has the first byte (see mark_of); 0: not known. Versions before 1.0 have 64
    // random bits, and compare all of them with their own.
    uint64_t process = 0;
    uint64_t address = 0; // in the exporting process
    uint64_t bytes = 0;
    char backend[8] = {};
    unsigned char memory[sizeof(MemoryHandle)] = {}; // a MemoryHandle; with_fds: an FdHandle

    template <class Memory>
    void set(const Memory &m) {
        static_assert(sizeof m == sizeof memory);
        std::memcpy(memory, &m, sizeof m);
    }
    template <class Memory>
    Memory get() const {
        Memory m;
        static_assert(sizeof m == sizeof memory);
        std::memcpy(static_cast<void *>(&m), memory, sizeof m);
        return m;
    }
};
static_assert(sizeof(Handle) == sizeof(ucd_ipc_handle_t));
static_assert(max_fds == UCD_IPC__MAX_FDS);

constexpr uint64_t hash_start = 0xcbf29ce484222325u;

uint64_t hash(const void *data, std::size_t bytes, uint64_t so_far = hash_start) {
    for (std::size_t i = 0; i < bytes; ++i)
        so_far = (so_far ^ static_cast<const unsigned char *>(data)[i]) * 0x100000001b3u;
    return so_far;
}

uint32_t checksum(const Handle &h) {
    const std::size_t skipped = offsetof(Handle, machine);
    const uint64_t sum = hash(reinterpret_cast<const char *>(&h) + skipped, sizeof h - skipped);
    return static_cast<uint32_t>(sum ^ sum >> 32);
}

// A number that all processes of a machine share until it is restarted.
uint64_t find_machine() {
    char text[256] = {};
    std::size_t length = 0;
    if (std::FILE *file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
        length = std::fread(text, 1, sizeof text, file);
        (void)std::fclose(file); // opened for reading only
    }
    if (length == 0 && ::gethostname(text, sizeof text - 1) == 0) length = std::strlen(text);
    return hash(text, length);
}

uint64_t this_machine() {
    static const uint64_t machine = find_machine();
    return machine;
}

// A number that no other process has, without device_bits. The process id is not enough, because
// processes in different containers can have the same one.
uint64_t this_process() {
    static std::mutex mutex;
    static pid_t pid = -1;
    static uint64_t number = 0;
    const std::lock_guard lock(mutex);
    if (pid != ::getpid()) { // the first call, or the first one after a fork
        std::random_device random;
        number = (uint64_t{random()} << 32 | random()) & ~Handle::device_bits;
        pid = ::getpid();
    }
    return number;
}

bool is_own(const Handle &h) {
    return (h.process & ~Handle::device_bits) == this_process();
}

// What stands for a device in the device_bits of handles: the same in all processes of the machine,
// and for another device the same once in 65,535. 0: its identity is not known.
uint64_t mark_of(const Backend &backend, int device) {
    const uint64_t identity = backend.device_identity(device);
    if (identity == 0) return 0;
    return hash(&identity, sizeof identity) % Handle::device_bits + 1;
}

// Finds the backend whose device memory the address belongs to.
Status find_owner(Context &context, const void *address, MemoryLocation &location) {
    UCD_TRY(find_location(context, Hints(), nullptr, address, location));
    if (location.kind == MemoryKind::device) return success;
    if (location.kind == MemoryKind::managed)
        return fail(UCD_ERR__NOT_SUPPORTED,
                    "address is %p in managed memory, which no driver shares between processes",
                    address);
    return fail(UCD_ERR__INVALID_ARG, "address is %p, which is not in memory of a device", address);
}

Status read_handle(const ucd_ipc_handle_t &from, Handle &h) {
    std::memcpy(static_cast<void *>(&h), from.bytes, sizeof h);
    if ((h.magic != Handle::alone && h.magic != Handle::with_fds) || h.check != checksum(h) ||
        h.bytes == 0 || h.backend[sizeof h.backend - 1] != '\0' ||
        !is_zero_from(h.backend, std::strlen(h.backend)))
        return fail(UCD_ERR__CORRUPT, "handle's bytes are not of ucd_ipc_export");
    if (h.machine == this_machine()) return success;
    return fail(UCD_ERR__NOT_SUPPORTED, "handle is of another machine");
}

// Whether the memory of a handle that this process exported is still there.
bool is_there(Backend &backend, const Handle &h, const void *address) {
    if (h.magic == Handle::alone) {
        const auto then = h.get<MemoryHandle>();
        MemoryHandle now;
        return backend.export_memory(address, h.bytes, now).ok() &&
               std::memcmp(now.native, then.native, sizeof now.native) == 0 &&
               now.offset == then.offset;
    }
    const auto then = h.get<FdHandle>();
    FdHandle now;
    std::size_t count = 0;
    return backend.export_fds(address, h.bytes, now, nullptr, 0, count).ok() && count > 0 &&
           now.identity == then.identity && now.offset == then.offset;
}

// For a handle that this process exported: checks that the memory still exists.
Status open_own(Context &context, const Executor &ref, const Handle &h, void *&address) {
    address = reinterpret_cast<void *>(static_cast<uintptr_t>(h.address));
    MemoryLocation location;
    if (!ref.backend->find(address, location).ok() || location.kind != MemoryKind::device ||
        !is_there(*ref.backend, h, address))
        return fail(UCD_ERR__CORRUPT, "handle is of an allocation that is not there");
    if (!ref.backend->reaches(ref.device, location))
        return fail(UCD_ERR__NOT_SUPPORTED, "device %d does not reach memory of device %d",
                    ref.device, location.device);
    return context.device_memory->open_own(address);
}

// Finds the backend that can export a range, and the device that has its first byte.
Status find_exporter(Context &context, const void *address, uintptr_t bytes, Executor &owner) {
    UCD_TRY(require(address, "address"));
    if (bytes == 0) return fail(UCD_ERR__INVALID_ARG, "bytes is 0; it must be more");
    MemoryLocation location;
    UCD_TRY(find_owner(context, address, location));
    const unsigned index = context.index_of(*location.owner);
    owner = {context.slots[index].backend.get(), index, location.device};
    return success;
}

// Fills in what is the same for all kinds of memory.
void finish(Handle &h, const Executor &owner, const void *address, uintptr_t bytes,
            ucd_ipc_handle_t &handle) {
    h.machine = this_machine();
    h.process = this_process() | mark_of(*owner.backend, owner.device);
    h.address = reinterpret_cast<uintptr_t>(address);
    h.bytes = bytes;
    std::strncpy(h.backend, owner.backend->name(), sizeof h.backend - 1);
    h.check = checksum(h);
    std::memcpy(handle.bytes, &h, sizeof h);
}

Status open(Context &context, const ucd_ipc_handle_t *handle, std::span<const int> fds,
            const char *device, void **address, uintptr_t *bytes) {
    UCD_TRY(require(handle, "handle"));
    UCD_TRY(require(address, "address"));
    UCD_TRY(require(bytes, "bytes"));
    Executor ref;
    UCD_TRY(find_device(context, device, ref));
    Handle h;
    UCD_TRY(read_handle(*handle, h));
    if (std::strcmp(h.backend, ref.backend->name()) != 0)
        return fail(UCD_ERR__NOT_SUPPORTED, "handle is of backend %s, and device is %.32s",
                    h.backend, device);
    if ((h.magic == Handle::with_fds) != !fds.empty())
        return fail(UCD_ERR__CORRUPT, "handle does not fit %zu descriptors", fds.size());
    void *found;
    DeviceMemory &memory = *context.device_memory;
    if (is_own(h))
        UCD_TRY(open_own(context, ref, h, found));
    else if (h.magic == Handle::alone)
        UCD_TRY(memory.open(*ref.backend, ref.device, h.get<MemoryHandle>(), h.bytes, found));
    else
        UCD_TRY(memory.open(*ref.backend, ref.device, h.get<FdHandle>(), h.bytes, fds, found));
    *address = found;
    *bytes = h.bytes;
    return success;
}

// Finds the one device of this process that the handle's device_bits stand for.
Status find_device_of(const Context &context, const Handle &h, MemoryLocation &location) {
    const uint64_t mark = h.process & Handle::device_bits;
    if (mark == 0) return fail(UCD_ERR__NOT_SUPPORTED, "the device of handle is not known");
    Executor each;
    UCD_TRY(find_executor(context, "handle", h.backend, 0, each));
    const BackendState *state;
    UCD_TRY(context.slots[each.index].inspect(state));
    int found = 0;
    for (; each.device < static_cast<int>(state->devices); ++each.device) {
        if (mark_of(*each.backend, each.device) != mark) continue;
        location = {MemoryKind::device, each.device, each.backend};
        ++found;
    }
    if (found == 1) return success;
    return fail(UCD_ERR__NOT_SUPPORTED, "the device of handle is %s that this process sees",
                found == 0 ? "none of those" : "one of several alike");
}

} // namespace

int ucd_memory_alloc(const char *device, int kind, uintptr_t bytes, void **address) {
    return guard("ucd_memory_alloc", [&](Context &context) -> Status {
        UCD_TRY(require(address, "address"));
        if (kind != UCD_MEMORY__DEVICE && kind != UCD_MEMORY__PINNED)
            return fail(UCD_ERR__INVALID_ARG, "kind is %d, which is none", kind);
        if (bytes == 0) return fail(UCD_ERR__INVALID_ARG, "bytes is 0; it must be more");
        Executor ref;
        UCD_TRY(find_device(context, device, ref));
        void *memory;
        UCD_TRY(context.device_memory->allocate(
            *ref.backend, ref.device,
            kind == UCD_MEMORY__PINNED ? MemoryKind::pinned : MemoryKind::device, bytes, memory));
        *address = memory;
        return success;
    });
}

int ucd_memory_free(void *address) {
    return guard("ucd_memory_free", [&](Context &context) -> Status {
        return context.device_memory->release(address);
    });
}

int ucd_ipc_export(const void *address, uintptr_t bytes, ucd_ipc_handle_t *handle) {
    return guard("ucd_ipc_export", [&](Context &context) -> Status {
        UCD_TRY(require(handle, "handle"));
        Executor owner;
        UCD_TRY(find_exporter(context, address, bytes, owner));
        MemoryHandle alone;
        UCD_TRY(owner.backend->export_memory(address, bytes, alone));
        Handle h;
        h.set(alone);
        finish(h, owner, address, bytes, *handle);
        return success;
    });
}

int ucd_ipc_export_fds(const void *address, uintptr_t bytes, ucd_ipc_handle_t *handle, int *fds,
                       int *count) {
    return guard("ucd_ipc_export_fds", [&](Context &context) -> Status {
        UCD_TRY(require(handle, "handle"));
        UCD_TRY(require(count, "count"));
        if (fds != nullptr && *count < 0)
            return fail(UCD_ERR__INVALID_ARG, "count is %d; it must not be negative", *count);
        Executor owner;
        UCD_TRY(find_exporter(context, address, bytes, owner));
        Handle h;
        FdHandle with_fds;
        std::size_t made = 0;
        const Status exported =
            owner.backend->export_fds(address, bytes, with_fds, *count == 0 ? nullptr : fds,
                                      fds == nullptr ? 0 : static_cast<std::size_t>(*count), made);
        if (exported.code() == UCD_ERR__TRUNCATED) *count = static_cast<int>(made);
        UCD_TRY(exported);
        if (made > 0) {
            h.magic = Handle::with_fds;
            h.set(with_fds);
        } else {
            MemoryHandle alone;
            UCD_TRY(owner.backend->export_memory(address, bytes, alone));
            h.set(alone);
        }
        finish(h, owner, address, bytes, *handle);
        *count = static_cast<int>(made);
        return success;
    });
}

int ucd_ipc_open(const ucd_ipc_handle_t *handle, const char *device, void **address,
                 uintptr_t *bytes) {
    return guard("ucd_ipc_open", [&](Context &context) -> Status {
        return open(context, handle, {}, device, address, bytes);
    });
}

int ucd_ipc_open_fds(const ucd_ipc_handle_t *handle, const int *fds, int count, const char *device,
                     void **address, uintptr_t *bytes) {
    return guard("ucd_ipc_open_fds", [&](Context &context) -> Status {
        if (count < 0 || count > UCD_IPC__MAX_FDS)
            return fail(UCD_ERR__INVALID_ARG, "count is %d; it must be from 0 to %d", count,
                        UCD_IPC__MAX_FDS);
        if (count > 0) UCD_TRY(require(fds, "fds"));
        for (int i = 0; i < count; ++i)
            if (::fcntl(fds[i], F_GETFD) < 0)
                return fail(UCD_ERR__INVALID_ARG, "fds[%d] is %d, which is not open", i, fds[i]);
        return open(context, handle, {fds, static_cast<std::size_t>(count)}, device, address,
                    bytes);
    });
}

int ucd_ipc_close(void *address) {
    return guard("ucd_ipc_close", [&](Context &context) -> Status {
        UCD_TRY(require(address, "address"));
        return context.device_memory->close(address);
    });
}

int ucd_ipc_get_device(const ucd_ipc_handle_t *handle, char *device, uintptr_t device_size,
                       uintptr_t *needed) {
    return guard("ucd_ipc_get_device", [&](Context &context) -> Status {
        UCD_TRY(require(handle, "handle"));
        if (device_size > 0) UCD_TRY(require(device, "device"));
        UCD_TRY(require(needed, "needed"));
        Handle h;
        UCD_TRY(read_handle(*handle, h));
        MemoryLocation location;
        UCD_TRY(find_device_of(context, h, location));
        return copy_text(name_of(location).text, "device", device, device_size, needed);
    });
}
