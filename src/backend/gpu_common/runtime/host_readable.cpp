#include "runtime/host_readable.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <sys/syscall.h>
#include <unistd.h>

namespace ucd::gpu {
namespace {

// The kernel reads a signal set from the address before it finds that `how` is invalid and fails
// without any effect. EFAULT means that the address cannot be read.
bool can_be_read(const void *address) {
    constexpr int nothing = ~0;
    constexpr uintptr_t set_bytes = 8;
    const auto set = reinterpret_cast<uintptr_t>(address) & ~(set_bytes - 1); // within one page
    return ::syscall(SYS_rt_sigprocmask, nothing, set, nullptr, set_bytes) == 0 || errno != EFAULT;
}

} // namespace

// Caches readable pages, because programs reuse buffers, and a system call takes longer than a
// small move.
bool is_host_readable(const void *address) {
    constexpr std::size_t kept = 64;
    thread_local std::array<uintptr_t, kept> readable{};
    const uintptr_t page = reinterpret_cast<uintptr_t>(address) >> 12;
    uintptr_t &known = readable[page % kept];
    if (known == page && page != 0) return true;
    if (!can_be_read(address)) return false;
    known = page;
    return true;
}

} // namespace ucd::gpu
