#include "direct/passed_memory.h"

#include "direct/attachable_memory.h"

#include <algorithm>
#include <cstring>

namespace ucd_ucx {
namespace {

bool is_same(const ucd_ipc_handle_t &one, const ucd_ipc_handle_t &other) {
    return std::memcmp(one.bytes, other.bytes, sizeof one.bytes) == 0;
}

} // namespace

// An export without descriptors tells whether the reader has had those of the range: the handle
// differs if the program has mapped other memory there since.
bool PassedMemory::offer(Link &to_reader, const void *address, uint64_t bytes,
                         ucd_ipc_handle_t &handle, PassedRange &range) {
    int numbers[UCD_IPC__MAX_FDS];
    int count = 0;
    const auto export_range = [&](int *to) {
        return ucd_ipc_export_fds(address, static_cast<uintptr_t>(bytes), &handle, to, &count) ==
               UCD_SUCCESS;
    };
    if (!export_range(nullptr)) return false;
    if (count == 0 || find(to_reader, handle, range)) return true;
    count = UCD_IPC__MAX_FDS;
    if (!export_range(numbers)) return false;
    FileDescriptor own[UCD_IPC__MAX_FDS]; // closed here: the reader gets its own
    for (int i = 0; i < count; ++i) own[i] = FileDescriptor(numbers[i]);
    return pass(to_reader, handle, {numbers, static_cast<std::size_t>(count)}, range);
}

bool PassedMemory::offer_attachable(Link &to_reader, const ucd_ipc_handle_t &handle,
                                    PassedRange &range) {
    if (find(to_reader, handle, range)) return true;
    const FileDescriptor own = AttachableMemory::open_to_read(handle); // the reader gets its own
    const int number = own.get();
    return own && pass(to_reader, handle, {&number, 1}, range);
}

bool PassedMemory::find(const Link &to_reader, const ucd_ipc_handle_t &handle, PassedRange &range) {
    for (const KnownRange &passed : readers_[to_reader.ep()].ranges) {
        if (!is_same(passed.handle, handle)) continue;
        range = passed.range;
        return true;
    }
    return false;
}

bool PassedMemory::pass(Link &to_reader, const ucd_ipc_handle_t &handle,
                        std::span<const int> numbers, PassedRange &range) {
    Reader &reader = readers_[to_reader.ep()];
    if (reader.again > max_again) return false;
    reader.ranges.reserve(max_ranges);
    range = {0, static_cast<uint32_t>(numbers.size())};
    for (std::size_t passed = 0; passed < numbers.size();) {
        const auto some = numbers.subspan(passed, std::min(numbers.size() - passed, max_passed));
        uint64_t first = 0;
        if (!to_reader.pass(some, &first)) {
            if (passed > 0) (void)to_reader.recall(range.first, passed);
            return false;
        }
        if (passed == 0) range.first = first;
        passed += some.size();
    }
    if (reader.ranges.size() == max_ranges) {
        const PassedRange &oldest = reader.ranges.front().range;
        (void)to_reader.recall(oldest.first, oldest.count); // else the reader's limits do it
        reader.ranges.erase(reader.ranges.begin());
    }
    reader.ranges.push_back({handle, range});
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
