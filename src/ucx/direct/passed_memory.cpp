#include "direct/passed_memory.h"

#include "direct/attachable_memory.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace ucd_ucx {
namespace {

bool is_same(const ucd_ipc_handle_t &one, const ucd_ipc_handle_t &other) {
    return std::memcmp(one.bytes, other.bytes, sizeof one.bytes) == 0;
}

} // namespace

bool PassedMemory::offer(Link &to_reader, const void *address, uint64_t bytes,
                         ucd_ipc_handle_t &handle, PassedRange &range) {
    int count = 0;
    if (ucd_ipc_export_fds(address, static_cast<uintptr_t>(bytes), &handle, nullptr, &count) !=
        UCD_SUCCESS)
        return false;
    if (count == 0) return true;
    return offer_known(to_reader, handle, range,
                       [&](KnownRange &passed) { return pass(to_reader, address, bytes, passed); });
}

bool PassedMemory::offer_attachable(Link &to_reader, const ucd_ipc_handle_t &handle,
                                    PassedRange &range) {
    ucd_ipc_handle_t same = handle;
    return offer_known(to_reader, same, range, [&](KnownRange &passed) {
        const FileDescriptor own =
            AttachableMemory::open_to_read(handle); // the reader gets its own
        const int number = own.get();
        passed = {handle, {0, 1}};
        return own && to_reader.pass({&number, 1}, &passed.range.first);
    });
}

// Passes what the reader has not had, or not any more. The handle differs if the program has mapped
// other memory there since.
template <class Pass>
bool PassedMemory::offer_known(Link &to_reader, ucd_ipc_handle_t &handle, PassedRange &range,
                               Pass &&pass_it) {
    Reader &reader = readers_[to_reader.ep()];
    const auto known =
        std::find_if(reader.ranges.begin(), reader.ranges.end(),
                     [&](const KnownRange &passed) { return is_same(passed.handle, handle); });
    if (known != reader.ranges.end()) {
        range = known->range;
        return true;
    }
    if (reader.again > max_again) return false;
    reader.ranges.reserve(max_ranges);
    KnownRange passed;
    if (!pass_it(passed)) return false;
    if (reader.ranges.size() == max_ranges) {
        const PassedRange &oldest = reader.ranges.front().range;
        (void)to_reader.recall(oldest.first, oldest.count); // else the reader's limits do it
        reader.ranges.erase(reader.ranges.begin());
    }
    reader.ranges.push_back(passed);
    handle = passed.handle;
    range = passed.range;
    return true;
}

bool PassedMemory::pass(Link &to_reader, const void *address, uint64_t bytes, KnownRange &passed) {
    int numbers[UCD_IPC__MAX_FDS];
    int count = UCD_IPC__MAX_FDS;
    if (ucd_ipc_export_fds(address, static_cast<uintptr_t>(bytes), &passed.handle, numbers,
                           &count) != UCD_SUCCESS)
        return false;
    FileDescriptor own[UCD_IPC__MAX_FDS]; // closed here: the reader gets its own
    for (int i = 0; i < count; ++i) own[i] = FileDescriptor(numbers[i]);
    std::span<const int> left(numbers, static_cast<std::size_t>(count));
    passed.range.count = static_cast<uint32_t>(count);
    for (bool is_first = true; !left.empty(); is_first = false) {
        const auto some = left.first(std::min(left.size(), max_passed));
        uint64_t first = 0;
        if (!to_reader.pass(some, &first)) {
            const std::size_t gone = static_cast<std::size_t>(count) - left.size();
            if (gone > 0) (void)to_reader.recall(passed.range.first, gone);
            return false;
        }
        if (is_first) passed.range.first = first;
        left = left.subspan(some.size());
    }
    return true;
}

void PassedMemory::pass_again(ucp_ep_h ep, const ucd_ipc_handle_t &handle) {
    const auto reader = readers_.find(ep);
    if (reader == readers_.end()) return;
    ++reader->second.again;
    std::erase_if(reader->second.ranges,
                  [&](const KnownRange &passed) { return is_same(passed.handle, handle); });
}

} // namespace ucd_ucx
