// Level Zero's loader library, which is loaded at run time.
#pragma once

#include <level_zero/loader/ze_loader.h>
#include <level_zero/ze_api.h>

#include <string>

namespace ucd::ze {

// The functions of API 1.4 that are used.
#define UCD_ZE_CALLS(call)                                                                         \
    call(zeCommandListAppendBarrier);                                                              \
    call(zeCommandListAppendLaunchKernel);                                                         \
    call(zeCommandListAppendMemoryCopy);                                                           \
    call(zeCommandListAppendMemoryCopyRegion);                                                     \
    call(zeCommandListCreateImmediate);                                                            \
    call(zeCommandListDestroy);                                                                    \
    call(zeContextCreate);                                                                         \
    call(zeDeviceCanAccessPeer);                                                                   \
    call(zeDeviceGet);                                                                             \
    call(zeDeviceGetCommandQueueGroupProperties);                                                  \
    call(zeDeviceGetModuleProperties);                                                             \
    call(zeDeviceGetProperties);                                                                   \
    call(zeDeviceGetSubDevices);                                                                   \
    call(zeDriverGet);                                                                             \
    call(zeDriverGetApiVersion);                                                                   \
    call(zeDriverGetExtensionFunctionAddress);                                                     \
    call(zeEventCreate);                                                                           \
    call(zeEventHostReset);                                                                        \
    call(zeEventHostSynchronize);                                                                  \
    call(zeEventPoolCreate);                                                                       \
    call(zeEventQueryStatus);                                                                      \
    call(zeInit);                                                                                  \
    call(zeKernelCreate);                                                                          \
    call(zeKernelDestroy);                                                                         \
    call(zeKernelSetArgumentValue);                                                                \
    call(zeKernelSetGroupSize);                                                                    \
    call(zeKernelSetIndirectAccess);                                                               \
    call(zeMemAllocDevice);                                                                        \
    call(zeMemAllocHost);                                                                          \
    call(zeMemAllocShared);                                                                        \
    call(zeMemCloseIpcHandle);                                                                     \
    call(zeMemFree);                                                                               \
    call(zeMemGetAddressRange);                                                                    \
    call(zeMemGetAllocProperties);                                                                 \
    call(zeMemGetIpcHandle);                                                                       \
    call(zeMemOpenIpcHandle);                                                                      \
    call(zeModuleCreate);                                                                          \
    call(zelLoaderTranslateHandle)

struct Calls {
#define UCD_ZE_POINTER(name) decltype(&::name) name = nullptr
    UCD_ZE_CALLS(UCD_ZE_POINTER);
#undef UCD_ZE_POINTER
};

// The reason why there is no usable loader; "" if there is one. Loads it, but calls none of its
// functions.
const std::string &missing_loader();

// The loader's functions. Only valid if missing_loader() is "".
const Calls &calls();

} // namespace ucd::ze
