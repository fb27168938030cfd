// HIP's names for what the tests of programs with GPU code of their own need, besides the
// backend's.
#pragma once

#include "vendor.h"

inline hipError_t instantiate(hipGraphExec_t *made, hipGraph_t graph, unsigned long long flags) {
    return hipGraphInstantiateWithFlags(made, graph, flags);
}

using gpuDeviceProp = hipDeviceProp_t;
using gpuGraph_t = hipGraph_t;
using gpuGraphExec_t = hipGraphExec_t;
using gpuGraphNode_t = hipGraphNode_t;
using gpuGraphNodeType = hipGraphNodeType;
using gpuMemAccessDesc = hipMemAccessDesc;
using gpuMemPool_t = hipMemPool_t;
using gpuMemPoolProps = hipMemPoolProps;

#define gpuDeviceSynchronize hipDeviceSynchronize
#define gpuFreeAsync hipFreeAsync
#define gpuGetDeviceProperties hipGetDeviceProperties
#define gpuGraphDestroy hipGraphDestroy
#define gpuGraphExecDestroy hipGraphExecDestroy
#define gpuGraphGetNodes hipGraphGetNodes
#define gpuGraphInstantiate instantiate
#define gpuGraphLaunch hipGraphLaunch
#define gpuGraphNodeGetType hipGraphNodeGetType
#define gpuGraphNodeTypeKernel hipGraphNodeTypeKernel
#define gpuHostAllocMapped (hipHostMallocMapped | hipHostMallocCoherent)
#define gpuMallocFromPoolAsync hipMallocFromPoolAsync
#define gpuMemAccessFlagsProtReadWrite hipMemAccessFlagsProtReadWrite
#define gpuMemAllocationTypePinned hipMemAllocationTypePinned
#define gpuMemGetInfo hipMemGetInfo
#define gpuMemLocationTypeDevice hipMemLocationTypeDevice
#define gpuMemPoolCreate hipMemPoolCreate
#define gpuMemPoolDestroy hipMemPoolDestroy
#define gpuMemPoolSetAccess hipMemPoolSetAccess
#define gpuMemset hipMemset
#define gpuMemsetAsync hipMemsetAsync
#define gpuStreamBeginCapture hipStreamBeginCapture
#define gpuStreamCaptureModeGlobal hipStreamCaptureModeGlobal
#define gpuStreamCaptureModeThreadLocal hipStreamCaptureModeThreadLocal
#define gpuStreamCreate hipStreamCreate
#define gpuStreamCreateWithFlags hipStreamCreateWithFlags
#define gpuStreamEndCapture hipStreamEndCapture
