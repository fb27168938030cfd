#include "descriptors.h"

#include <cerrno>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The numbers are the same on all architectures. They are defined here, since the C library's
// headers may be older than the kernel.
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

namespace ucd::ze {
namespace {

ze_result_t result_of(int error) {
    switch (error) {
    case ENOSYS: return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    case EPERM:
    case EACCES: return ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS;
    case EMFILE:
    case ENFILE:
    case ENOMEM: return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    default: return ZE_RESULT_ERROR_NOT_AVAILABLE; // the process or its descriptor is gone
    }
}

} // namespace

Descriptor::~Descriptor() {
    if (number_ >= 0) (void)::close(number_); // no errors to report: nothing was written
}

ze_result_t look_at(int descriptor, File &file) {
    struct stat status;
    if (::fstat(descriptor, &status) != 0) return ZE_RESULT_ERROR_NOT_AVAILABLE;
    file = {status.st_dev, status.st_ino};
    return ZE_RESULT_SUCCESS;
}

ze_result_t take(pid_t process, int theirs, Descriptor &taken) {
    const Descriptor other(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    if (other.number() < 0) return result_of(errno);
    taken = Descriptor(static_cast<int>(::syscall(SYS_pidfd_getfd, other.number(), theirs, 0)));
    return taken.number() < 0 ? result_of(errno) : ZE_RESULT_SUCCESS;
}

} // namespace ucd::ze
