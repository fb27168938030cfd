// Sharing of device memory between processes. A handle of Level Zero begins with a file descriptor,
// a number that is only valid in one process. The handles of this library therefore contain the
// process id as well, and the other process duplicates the descriptor.
#include "ipc.h"

#include "context.h"
#include "descriptors.h"
#include "loader.h"
#include "runtime_calls.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include <unistd.h>

namespace ucd::ze {
namespace {

int descriptor_in(const ze_ipc_mem_handle_t &handle) {
    int descriptor;
    std::memcpy(&descriptor, handle.data, sizeof descriptor);
    return descriptor;
}

void put_descriptor(ze_ipc_mem_handle_t &handle, int descriptor) {
    std::memcpy(handle.data, &descriptor, sizeof descriptor);
}

// Compares two handles without their descriptors.
bool have_same_rest(const ze_ipc_mem_handle_t &one, const ze_ipc_mem_handle_t &other) {
    return std::equal(one.data + sizeof(int), one.data + sizeof one.data, other.data + sizeof(int));
}

// A hash of the file, to detect that a descriptor has been reused for another file.
uint32_t digest(const File &file) {
    const uint64_t mixed = (file.device * 0x9e3779b97f4a7c15u ^ file.number) * 0xbf58476d1ce4e5b9u;
    return static_cast<uint32_t>(mixed >> 32);
}

// Allocations -------------------------------------------------------------------

// The id of the memory that the context has at the address now. Ids are never reused.
ze_result_t find_id(ze_context_handle_t context, const void *memory, uint64_t &id) {
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    const ze_result_t result =
        calls().zeMemGetAllocProperties(context, memory, &properties, nullptr);
    id = properties.type == ZE_MEMORY_TYPE_UNKNOWN ? 0 : properties.id;
    return result;
}

// Whether the driver has split the memory over several sub-devices, with a descriptor for each.
// Intel's drivers report this by an extension function, which does not accept the loader's handles.
bool has_several_parts(void *memory) {
    using GetHandles =
        ze_result_t (*)(ze_context_handle_t, const void *, uint32_t *, ze_ipc_mem_handle_t *);
    const DeviceFacts &device = found().of(current_device());
    void *function = nullptr, *context = nullptr;
    if (calls().zeDriverGetExtensionFunctionAddress(found().drivers[device.driver].driver,
                                                    "zexMemGetIpcHandles",
                                                    &function) != ZE_RESULT_SUCCESS ||
        function == nullptr ||
        calls().zelLoaderTranslateHandle(ZEL_HANDLE_CONTEXT, current_context(), &context) !=
            ZE_RESULT_SUCCESS)
        return false;
    uint32_t parts = 0;
    return reinterpret_cast<GetHandles>(function)(static_cast<ze_context_handle_t>(context), memory,
                                                  &parts, nullptr) == ZE_RESULT_SUCCESS &&
           parts > 1;
}

// The exports of this process. Each allocation is exported once, because some drivers make a new
// descriptor each time.
class Exports {
public:
    static Exports &instance() {
        static auto *exports = new Exports; // never destroyed
        return *exports;
    }

    ze_result_t get(void *memory, gpuIpcMemHandle_t &handle) {
        const ze_context_handle_t context = current_context();
        uint64_t id = 0;
        if (const ze_result_t result = find_id(context, memory, id); result != ZE_RESULT_SUCCESS)
            return result;
        const std::lock_guard lock(mutex_);
        const std::pair key(context, memory);
        auto it = exports_.find(key);
        if (it == exports_.end() || it->second.id != id) {
            forget_freed();
            Export made;
            made.id = id;
            if (const ze_result_t result = make(memory, made); result != ZE_RESULT_SUCCESS)
                return result;
            it = exports_.insert_or_assign(key, std::move(made)).first;
        }
        if (!it->second.settled)
            if (const ze_result_t result = settle_owner(memory, it->second);
                result != ZE_RESULT_SUCCESS)
                return result;
        handle = {it->second.native, ::getpid(), digest(it->second.file)};
        return ZE_RESULT_SUCCESS;
    }

    void forget(void *memory) {
        const std::lock_guard lock(mutex_);
        exports_.erase({current_context(), memory});
    }

private:
    struct Export {
        uint64_t id = 0;
        ze_ipc_mem_handle_t native{};
        File file;
        Descriptor own; // set if the driver does not close it
        bool settled = false;
    };

    static ze_result_t make(void *memory, Export &made) {
        if (has_several_parts(memory)) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
        return calls().zeMemGetIpcHandle(current_context(), memory, &made.native);
    }

    // Older drivers make a new descriptor each time, which the caller closes; newer ones return the
    // same one and close it themselves. A second call shows which is the case.
    static ze_result_t settle_owner(void *memory, Export &made) {
        ze_ipc_mem_handle_t again{};
        if (const ze_result_t result = calls().zeMemGetIpcHandle(current_context(), memory, &again);
            result != ZE_RESULT_SUCCESS)
            return result;
        const int first = descriptor_in(made.native), second = descriptor_in(again);
        if (look_at(first, made.file) != ZE_RESULT_SUCCESS)
            return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE; // the handle does not contain a descriptor
        if (first != second) {
            made.own = Descriptor(first);
            const Descriptor not_needed(second);
        }
        made.settled = true;
        return ZE_RESULT_SUCCESS;
    }

    // Programs free their memory without notice, so freed allocations are found by their ids.
    void forget_freed() {
        std::erase_if(exports_, [](const auto &entry) {
            uint64_t id = 0;
            const auto &[context, memory] = entry.first;
            return find_id(context, memory, id) == ZE_RESULT_SUCCESS && id != entry.second.id;
        });
    }

    std::mutex mutex_;
    // Each driver has a context, which knows its memory only, maybe at addresses of another's.
    std::map<std::pair<ze_context_handle_t, void *>, Export> exports_;
};

// Mappings -------------------------------------------------------------------

// The memory that this process has opened. Each is opened once at a time: a driver may return the
// same address again, and unmap it at the first close.
class Imports {
public:
    static Imports &instance() {
        static auto *imports = new Imports; // never destroyed
        return *imports;
    }

    ze_result_t open(const gpuIpcMemHandle_t &handle, void *&memory) {
        // A handle with this process's id comes from another pid namespace: own handles are
        // resolved earlier.
        if (handle.process == ::getpid()) return ZE_RESULT_ERROR_NOT_AVAILABLE;
        Import made;
        made.device = current_device();
        made.native = handle.native;
        ze_result_t result = take(handle.process, descriptor_in(handle.native), made.descriptor);
        if (result == ZE_RESULT_SUCCESS) result = look_at(made.descriptor.number(), made.file);
        if (result != ZE_RESULT_SUCCESS) return result;
        if (digest(made.file) != handle.file) return ZE_RESULT_ERROR_NOT_AVAILABLE;
        put_descriptor(made.native, made.descriptor.number());
        const std::lock_guard lock(mutex_);
        const auto open = std::find_if(imports_.begin(), imports_.end(), [&](const Import &i) {
            return i.file == made.file && i.device == made.device &&
                   have_same_rest(i.native, made.native);
        });
        if (open != imports_.end()) {
            ++open->uses;
            memory = open->memory;
            return ZE_RESULT_SUCCESS;
        }
        imports_.emplace_back(); // nothing below throws
        result = calls().zeMemOpenIpcHandle(current_context(), found().of(made.device).device,
                                            made.native, 0, &made.memory);
        if (result != ZE_RESULT_SUCCESS) {
            imports_.pop_back();
            return result;
        }
        memory = made.memory;
        imports_.back() = std::move(made);
        return ZE_RESULT_SUCCESS;
    }

    ze_result_t close(void *memory) {
        const std::lock_guard lock(mutex_);
        const auto open = std::find_if(imports_.begin(), imports_.end(),
                                       [&](const Import &i) { return i.memory == memory; });
        if (open == imports_.end()) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        if (--open->uses > 0) return ZE_RESULT_SUCCESS;
        const ze_result_t result = calls().zeMemCloseIpcHandle(current_context(), memory);
        imports_.erase(open);
        return result;
    }

private:
    struct Import {
        int device = 0;
        ze_ipc_mem_handle_t native{};
        File file;
        Descriptor descriptor; // kept with the mapping, since drivers may use it again
        void *memory = nullptr;
        unsigned uses = 1;
    };
    std::mutex mutex_;
    std::list<Import> imports_;
};

} // namespace

void forget_export(void *memory) {
    Exports::instance().forget(memory);
}

} // namespace ucd::ze

using namespace ucd::ze;

gpuError_t gpuIpcGetMemHandle(gpuIpcMemHandle_t *handle, void *memory) {
    return Exports::instance().get(memory, *handle);
}

gpuError_t gpuIpcOpenMemHandle(void **memory, gpuIpcMemHandle_t handle, unsigned) {
    return Imports::instance().open(handle, *memory);
}

gpuError_t gpuIpcCloseMemHandle(void *memory) {
    return Imports::instance().close(memory);
}
