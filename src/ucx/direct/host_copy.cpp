#include "direct/host_copy.h"

#include "direct/limits.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ucd_ucx {
namespace {

// At most these many segments in a step: what the kernel takes in one call (IOV_MAX), and what is
// listed to find a window.
constexpr std::size_t max_listed = 1024, max_in_window = 4096;

// Measured with ucd-ucx-bench --rows.
constexpr uint64_t min_local_segment = 512;
// Below this, it is faster to read what is between the segments, too.
constexpr uint64_t min_listed_segment = 1 << 10;

uint64_t mean_segment(const ucd_layout_t &layout) {
    return layout.segments == 0 ? 0 : layout.bytes / layout.segments;
}

void *address_of(uint64_t address) {
    return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}
uint64_t number_of(const void *address) {
    return reinterpret_cast<uintptr_t>(address);
}

// Shortens a list to its first bytes.
void cut(std::vector<iovec> &segments, uint64_t bytes) {
    std::size_t kept = 0;
    for (; bytes > 0; ++kept) {
        segments[kept].iov_len = std::min<uint64_t>(segments[kept].iov_len, bytes);
        bytes -= segments[kept].iov_len;
    }
    // bounded: it becomes shorter
    segments.resize(kept);
}

} // namespace

bool RemoteData::set(TypePtr of, uint64_t elements, uint64_t total, int64_t low, int64_t high) {
    const ucd_layout_t *found;
    if (elements == 0 || !of->measure(elements, found).ok()) return false;
    if ((found->flags & UCD_LAYOUT__BY_REFERENCE) != 0 || found->bytes != total ||
        found->low != low || found->high != high)
        return false;
    type = std::move(of);
    count = elements;
    layout = *found;
    return true;
}

bool has_long_segments(uint64_t mean_segment) {
    return mean_segment >= limits_if_read[0].row;
}

CopyMethod method_for(const ucd_layout_t &from, uint64_t mean_segment_to) {
    if (mean_segment(from) < min_listed_segment) return CopyMethod::window;
    return mean_segment_to >= min_local_segment ? CopyMethod::lists : CopyMethod::packed;
}

// The pid is valid if its process has not ended afterwards: until then, no other has it.
ReadResult read_memory(const Link &link, std::span<const iovec> to, std::span<const iovec> from,
                       uint64_t bytes) {
    const ssize_t read =
        ::process_vm_readv(link.pid(), to.data(), to.size(), from.data(), from.size(), 0);
    const int error = read < 0 ? errno : 0;
    if (error == ESRCH || link.peer_has_ended()) return ReadResult::ended;
    if (error == EPERM || error == ENOSYS) return ReadResult::denied;
    return read == static_cast<ssize_t>(bytes) ? ReadResult::ok : ReadResult::fault;
}

HostCopy::HostCopy(CopyMethod method, RemoteData from, uint64_t base, const TypedBuffer &to,
                   Block staging)
    : method_(method), from_(std::move(from)), base_(base), to_(to), staging_(std::move(staging)) {
    if (method == CopyMethod::mapped) return;
    // bounded: by these constants
    remote_.reserve(method == CopyMethod::window ? max_in_window : max_listed);
    if (method == CopyMethod::lists) local_.reserve(max_listed);
}

// Lists as many segments as there is room for, from the first byte that was not copied.
Status HostCopy::list(const void *buf, uint64_t count, ucd_type_t type, uint64_t max_bytes,
                      std::vector<iovec> &segments, uint64_t *bytes) const {
    // bounded: by its own room
    segments.resize(segments.capacity());
    uintptr_t listed = 0, in_list = 0;
    UCD_TRY(ucd_ok(ucd_iov_bytes(buf, count, type, done_, max_bytes, segments.data(),
                                 segments.size(), &listed, &in_list)));
    // bounded: it becomes shorter
    segments.resize(listed);
    *bytes = in_list;
    return success;
}

ReadResult HostCopy::step(const Link &link, Status *moved) {
    *moved = success;
    switch (method_) {
    case CopyMethod::lists: return step_lists(link, moved);
    case CopyMethod::mapped: return step_mapped(moved);
    case CopyMethod::packed: return step_packed(link, moved);
    case CopyMethod::window: break;
    }
    const ReadResult result = step_window(link, moved);
    if (result != ReadResult::fault) return result;
    // What lies between the segments need not be memory.
    method_ = CopyMethod::packed;
    std::vector<iovec>().swap(remote_);
    remote_.reserve(max_listed);
    return step_packed(link, moved);
}

ReadResult HostCopy::step_mapped(Status *moved) {
    const uint64_t bytes = std::min(bytes_of_step, from_.layout.bytes - done_);
    *moved = to_.copy_from(address_of(base_), from_.count, from_.type->type.get(), done_, bytes);
    done_ += bytes;
    return ReadResult::ok;
}

ReadResult HostCopy::step_lists(const Link &link, Status *moved) {
    uint64_t bytes = 0, fit = 0;
    *moved = list(address_of(base_), from_.count, from_.type->type.get(), bytes_of_step, remote_,
                  &bytes);
    if (moved->ok()) *moved = list(to_.buf(), to_.count(), to_.type(), bytes, local_, &fit);
    if (!moved->ok()) return ReadResult::ok;
    cut(remote_, fit);
    const ReadResult result = read_memory(link, local_, remote_, fit);
    if (result == ReadResult::ok) done_ += fit;
    return result;
}

ReadResult HostCopy::step_packed(const Link &link, Status *moved) {
    uint64_t bytes = 0;
    *moved =
        list(address_of(base_), from_.count, from_.type->type.get(), max_staged, remote_, &bytes);
    if (!moved->ok()) return ReadResult::ok;
    const iovec staging = {staging_.memory(), bytes};
    const ReadResult result = read_memory(link, {&staging, 1}, remote_, bytes);
    if (result != ReadResult::ok) return result;
    *moved = to_.unpack(done_, staging_.memory(), bytes, nullptr);
    done_ += bytes;
    return result;
}

ReadResult HostCopy::step_window(const Link &link, Status *moved) {
    uint64_t bytes = 0;
    *moved =
        list(address_of(base_), from_.count, from_.type->type.get(), max_staged, remote_, &bytes);
    if (!moved->ok()) return ReadResult::ok;
    // As many segments as lie in a window of this size, which the first one always does.
    uint64_t begin = UINT64_MAX, end = 0;
    bytes = 0;
    for (const iovec &segment : remote_) {
        const uint64_t low = std::min(begin, number_of(segment.iov_base));
        const uint64_t high = std::max(end, number_of(segment.iov_base) + segment.iov_len);
        if (high - low > max_staged) break;
        begin = low;
        end = high;
        bytes += segment.iov_len;
    }
    // At the same place in a page, which is fastest.
    char *const memory = staging_.memory() + begin % page;
    const iovec staging = {memory, end - begin};
    const iovec window = {address_of(begin), end - begin};
    const ReadResult result = read_memory(link, {&staging, 1}, {&window, 1}, end - begin);
    if (result != ReadResult::ok) return result;
    *moved = to_.copy_from(address_of(number_of(memory) + (base_ - begin)), from_.count,
                           from_.type->type.get(), done_, bytes);
    done_ += bytes;
    return result;
}

} // namespace ucd_ucx
