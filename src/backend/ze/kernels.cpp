// Kernels are created from their modules at the first launch on each device.

#include "context.h"
#include "kernel_modules.h"
#include "loader.h"
#include "streams.h"

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "params/types.h"
#include "status.h"

namespace ucd::ze {

// A kernel that has been created on a device.
struct LoadedKernel {
    int device;
    ze_kernel_handle_t handle = nullptr;
    std::mutex mutex; // held while arguments are set and the kernel is launched
    LoadedKernel *next;
};

namespace {

// Modules by device and SPIR-V. They are never destroyed.
std::mutex loading;
std::map<std::pair<int, const unsigned char *>, ze_module_handle_t> modules;

LoadedKernel *find_loaded(const Kernel &kernel, int device) {
    for (LoadedKernel *k = kernel.loaded.load(std::memory_order_acquire); k != nullptr; k = k->next)
        if (k->device == device) return k;
    return nullptr;
}

const KernelModule *find_module(const char *name, const DeviceFacts &device) {
    for (const KernelModule &module : kernel_modules())
        if (std::strcmp(module.kernel, name) == 0 && (device.doubles || !module.doubles))
            return &module;
    return nullptr;
}

ze_result_t make(const DeviceFacts &device, ze_module_format_t format, Code code, const char *flags,
                 ze_module_handle_t &made) {
    ze_module_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    description.format = format;
    description.inputSize = code.size();
    description.pInputModule = code.data();
    description.pBuildFlags = flags;
    return calls().zeModuleCreate(current_context(), device.device, &description, &made, nullptr);
}

// Tries native code first: a driver rejects code that is for other devices or drivers.
ze_result_t make(const DeviceFacts &device, const KernelModule &module, ze_module_handle_t &made) {
    for (const Code native : module.natives)
        if (make(device, ZE_MODULE_FORMAT_NATIVE, native, "", made) == ZE_RESULT_SUCCESS)
            return ZE_RESULT_SUCCESS;
    return make(device, ZE_MODULE_FORMAT_IL_SPIRV, module.spirv, module.flags, made);
}

// Called with the lock held.
ze_result_t load(const Kernel &kernel, int index, LoadedKernel *&loaded) {
    const DeviceFacts &device = found().of(index);
    const KernelModule *module = find_module(kernel.name, device);
    if (module == nullptr) return gpuErrorNotSupported;
    auto made = std::make_unique<LoadedKernel>();
    ze_module_handle_t &in = modules[{index, module->spirv.data()}];
    if (in == nullptr)
        if (const ze_result_t result = make(device, *module, in); result != ZE_RESULT_SUCCESS)
            return result;
    ze_kernel_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
    description.pKernelName = kernel.name;
    const Calls &ze = calls();
    ze_result_t result = ze.zeKernelCreate(in, &description, &made->handle);
    if (result == ZE_RESULT_SUCCESS)
        result = ze.zeKernelSetGroupSize(made->handle, gpu::threads_per_block, 1, 1);
    // Needed because addresses are passed as numbers in structures.
    if (result == ZE_RESULT_SUCCESS)
        result =
            ze.zeKernelSetIndirectAccess(made->handle, ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                                                           ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                                                           ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED);
    if (result != ZE_RESULT_SUCCESS) {
        if (made->handle != nullptr) (void)ze.zeKernelDestroy(made->handle);
        return result;
    }
    made->device = index;
    made->next = kernel.loaded.load(std::memory_order_relaxed);
    loaded = made.release();
    kernel.loaded.store(loaded, std::memory_order_release);
    return ZE_RESULT_SUCCESS;
}

ze_result_t find_or_load(const void *handle, LoadedKernel *&loaded) {
    const Kernel &kernel = *static_cast<const Kernel *>(handle);
    const int device = current_device();
    loaded = find_loaded(kernel, device);
    if (loaded != nullptr) [[likely]]
        return ZE_RESULT_SUCCESS;
    const std::lock_guard lock(loading);
    loaded = find_loaded(kernel, device);
    return loaded != nullptr ? ZE_RESULT_SUCCESS : load(kernel, device, loaded);
}

} // namespace
} // namespace ucd::ze

using namespace ucd::ze;

gpuError_t gpuLaunchKernel(const void *kernel, dim3 blocks, dim3, void **arguments, std::size_t,
                           gpuStream_t stream) {
    LoadedKernel *loaded = nullptr;
    if (const ze_result_t result = find_or_load(kernel, loaded); result != ZE_RESULT_SUCCESS)
        return result;
    const std::size_t bytes = static_cast<const Kernel *>(kernel)->param_bytes;
    const ze_group_count_t groups{blocks.x, 1, 1};
    return stream->add([&](ze_command_list_handle_t list) {
        const std::lock_guard lock(loaded->mutex);
        if (const ze_result_t result =
                calls().zeKernelSetArgumentValue(loaded->handle, 0, bytes, arguments[0]);
            result != ZE_RESULT_SUCCESS)
            return result;
        return calls().zeCommandListAppendLaunchKernel(list, loaded->handle, &groups, nullptr, 0,
                                                       nullptr);
    });
}

gpuError_t gpuFuncGetAttributes(gpuFuncAttributes *, const void *kernel) {
    LoadedKernel *loaded = nullptr;
    return find_or_load(kernel, loaded);
}
