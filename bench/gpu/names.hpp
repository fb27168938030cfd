// Names of a GPU's runtime that differ between vendors in how they begin. UCD_BENCH_GPU puts the
// vendor's beginning before one.
#pragma once

using gpuError_t = UCD_BENCH_GPU(Error_t);
using gpuStream_t = UCD_BENCH_GPU(Stream_t);
using gpuEvent_t = UCD_BENCH_GPU(Event_t);
using gpuGraph_t = UCD_BENCH_GPU(Graph_t);
using gpuGraphExec_t = UCD_BENCH_GPU(GraphExec_t);
using gpuPitchedPtr = UCD_BENCH_GPU(PitchedPtr);
using gpuMemcpy3DParms = UCD_BENCH_GPU(Memcpy3DParms);

#define gpuSuccess UCD_BENCH_GPU(Success)
#define gpuGetErrorString UCD_BENCH_GPU(GetErrorString)
#define gpuGetLastError UCD_BENCH_GPU(GetLastError)
#define gpuGetDevice UCD_BENCH_GPU(GetDevice)
#define gpuSetDevice UCD_BENCH_GPU(SetDevice)
#define gpuGetDeviceCount UCD_BENCH_GPU(GetDeviceCount)
#define gpuGetDeviceProperties UCD_BENCH_GPU(GetDeviceProperties)
#define gpuDeviceGetAttribute UCD_BENCH_GPU(DeviceGetAttribute)
#define gpuDeviceSynchronize UCD_BENCH_GPU(DeviceSynchronize)
#define gpuStreamNonBlocking UCD_BENCH_GPU(StreamNonBlocking)
#define gpuStreamCreateWithFlags UCD_BENCH_GPU(StreamCreateWithFlags)
#define gpuStreamSynchronize UCD_BENCH_GPU(StreamSynchronize)
#define gpuStreamBeginCapture UCD_BENCH_GPU(StreamBeginCapture)
#define gpuStreamCaptureModeRelaxed UCD_BENCH_GPU(StreamCaptureModeRelaxed)
#define gpuStreamEndCapture UCD_BENCH_GPU(StreamEndCapture)
#define gpuGraphLaunch UCD_BENCH_GPU(GraphLaunch)
#define gpuGraphDestroy UCD_BENCH_GPU(GraphDestroy)
#define gpuGraphExecDestroy UCD_BENCH_GPU(GraphExecDestroy)
#define gpuStreamDestroy UCD_BENCH_GPU(StreamDestroy)
#define gpuEventDisableTiming UCD_BENCH_GPU(EventDisableTiming)
#define gpuStreamWaitEvent UCD_BENCH_GPU(StreamWaitEvent)
#define gpuEventBlockingSync UCD_BENCH_GPU(EventBlockingSync)
#define gpuEventCreateWithFlags UCD_BENCH_GPU(EventCreateWithFlags)
#define gpuEventRecord UCD_BENCH_GPU(EventRecord)
#define gpuEventSynchronize UCD_BENCH_GPU(EventSynchronize)
#define gpuEventDestroy UCD_BENCH_GPU(EventDestroy)
#define gpuMalloc UCD_BENCH_GPU(Malloc)
#define gpuMallocManaged UCD_BENCH_GPU(MallocManaged)
#define gpuFree UCD_BENCH_GPU(Free)
#define gpuHostRegister UCD_BENCH_GPU(HostRegister)
#define gpuHostRegisterDefault UCD_BENCH_GPU(HostRegisterDefault)
#define gpuHostUnregister UCD_BENCH_GPU(HostUnregister)
#define gpuMemset UCD_BENCH_GPU(Memset)
#define gpuMemcpyDefault UCD_BENCH_GPU(MemcpyDefault)
#define gpuMemcpy UCD_BENCH_GPU(Memcpy)
#define gpuMemcpyAsync UCD_BENCH_GPU(MemcpyAsync)
#define gpuMemcpy2DAsync UCD_BENCH_GPU(Memcpy2DAsync)
#define gpuMemcpy3DAsync UCD_BENCH_GPU(Memcpy3DAsync)
