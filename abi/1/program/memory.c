/* ucd_memory.h, where there is no device. */
#include "check.h"

void check_memory(void) {
    ucd_ipc_handle_t handle;
    int number = 0, fds[2] = {-1, -1};
    void *address = NULL;
    uintptr_t bytes = 0;
    memset(handle.bytes, 0, sizeof handle.bytes);
    EXPECT(sizeof handle == 128 && UCD_IPC__MAX_FDS == 253);
    EXPECT_STATUS(UCD_ERR__NOT_SUPPORTED, ucd_memory_alloc("cuda:0", UCD_MEMORY__DEVICE, 64, &address));
    EXPECT_STATUS(UCD_ERR__NOT_SUPPORTED, ucd_memory_alloc("cuda:0", UCD_MEMORY__PINNED, 64, &address));
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_memory_alloc("cuda:0", UCD_MEMORY__PINNED + 1, 64, &address));
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_memory_free(&number));
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_ipc_export(&number, sizeof number, &handle));
    EXPECT_STATUS(UCD_ERR__NOT_SUPPORTED, ucd_ipc_open(&handle, "cuda:0", &address, &bytes));
    EXPECT_STATUS(UCD_ERR__CORRUPT, ucd_ipc_get_device(&handle, NULL, 0, &bytes));
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_ipc_close(&number));
    number = 2;
    EXPECT_STATUS(UCD_ERR__INVALID_ARG, ucd_ipc_export_fds(&number, sizeof number, &handle, fds, &number));
    EXPECT_STATUS(UCD_ERR__NOT_SUPPORTED, ucd_ipc_open_fds(&handle, fds, 0, "cuda:0", &address, &bytes));
    EXPECT(address == NULL && bytes == 0 && fds[0] == -1);
}
