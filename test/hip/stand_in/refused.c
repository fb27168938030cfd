/* HIP's functions that no test with the stand-in should come to. They have to be there for the
 * plugin to load, which fails if one is not: so these, and those of libamdhip64.c, are all that it
 * calls. Among them are no functions of the host in streams, since too many in a queue end the
 * process, and no batches of copies, which HIP 7.2 does one by one. */

#define REFUSED(name)                                                                              \
    int name(void);                                                                                \
    int name(void) {                                                                               \
        return 3; /* hipErrorNotInitialized */                                                     \
    }

REFUSED(hipDeviceCanAccessPeer)
REFUSED(hipDeviceEnablePeerAccess)
REFUSED(hipDeviceGetPCIBusId)
REFUSED(hipDeviceGetStreamPriorityRange)
REFUSED(hipDeviceGetUuid)
REFUSED(hipEventCreateWithFlags)
REFUSED(hipEventDestroy)
REFUSED(hipEventQuery)
REFUSED(hipEventRecord)
REFUSED(hipEventSynchronize)
REFUSED(hipFree)
REFUSED(hipFuncGetAttributes)
REFUSED(hipGraphRetainUserObject)
REFUSED(hipHostFree)
REFUSED(hipHostMalloc)
REFUSED(hipIpcCloseMemHandle)
REFUSED(hipIpcGetMemHandle)
REFUSED(hipIpcOpenMemHandle)
REFUSED(hipLaunchKernel)
REFUSED(hipMalloc)
REFUSED(hipMemGetAccess)
REFUSED(hipMemGetAddressRange)
REFUSED(hipMemPoolGetAccess)
REFUSED(hipMemcpy2DAsync)
REFUSED(hipMemcpy3DAsync)
REFUSED(hipMemcpyAsync)
REFUSED(hipPointerGetAttribute)
REFUSED(hipPointerGetAttributes)
REFUSED(hipStreamCreateWithPriority)
REFUSED(hipStreamDestroy)
REFUSED(hipStreamGetCaptureInfo_v2)
REFUSED(hipStreamIsCapturing)
REFUSED(hipStreamQuery)
REFUSED(hipStreamSynchronize)
REFUSED(hipStreamWaitEvent)
REFUSED(hipThreadExchangeStreamCaptureMode)
REFUSED(hipUserObjectCreate)
REFUSED(hipUserObjectRelease)
REFUSED(__hipPopCallConfiguration)
REFUSED(__hipPushCallConfiguration)
