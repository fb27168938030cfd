// CUDA's names for what the tests of programs with GPU code of their own need, besides the
// backend's.
#pragma once

#include "vendor.h"

using gpuDeviceProp = cudaDeviceProp;
using gpuGraph_t = cudaGraph_t;
using gpuGraphExec_t = cudaGraphExec_t;
using gpuGraphNode_t = cudaGraphNode_t;
using gpuGraphNodeType = cudaGraphNodeType;
using gpuMemAccessDesc = cudaMemAccessDesc;
using gpuMemPool_t = cudaMemPool_t;
using gpuMemPoolProps = cudaMemPoolProps;

#define gpuDeviceSynchronize cudaDeviceSynchronize
#define gpuFreeAsync cudaFreeAsync
#define gpuGetDeviceProperties cudaGetDeviceProperties
#define gpuGraphDestroy cudaGraphDestroy
#define gpuGraphExecDestroy cudaGraphExecDestroy
#define gpuGraphGetNodes cudaGraphGetNodes
#define gpuGraphInstantiate cudaGraphInstantiate
#define gpuGraphLaunch cudaGraphLaunch
#define gpuGraphNodeGetType cudaGraphNodeGetType
#define gpuGraphNodeTypeKernel cudaGraphNodeTypeKernel
#define gpuHostAllocMapped cudaHostAllocMapped
#define gpuMallocFromPoolAsync cudaMallocFromPoolAsync
#define gpuMemAccessFlagsProtReadWrite cudaMemAccessFlagsProtReadWrite
#define gpuMemAllocationTypePinned cudaMemAllocationTypePinned
#define gpuMemGetInfo cudaMemGetInfo
#define gpuMemLocationTypeDevice cudaMemLocationTypeDevice
#define gpuMemPoolCreate cudaMemPoolCreate
#define gpuMemPoolDestroy cudaMemPoolDestroy
#define gpuMemPoolSetAccess cudaMemPoolSetAccess
#define gpuMemset cudaMemset
#define gpuMemsetAsync cudaMemsetAsync
#define gpuStreamBeginCapture cudaStreamBeginCapture
#define gpuStreamCaptureModeGlobal cudaStreamCaptureModeGlobal
#define gpuStreamCaptureModeThreadLocal cudaStreamCaptureModeThreadLocal
#define gpuStreamCreate cudaStreamCreate
#define gpuStreamCreateWithFlags cudaStreamCreateWithFlags
#define gpuStreamEndCapture cudaStreamEndCapture
