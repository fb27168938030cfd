#include "mappings.h"

#include <algorithm>
#include <cstring>

namespace ucd_ucx {

Status Mappings::open(const ucd_ipc_handle_t &handle, const std::string &device,
                      std::shared_ptr<const Mapping> &mapping) {
    for (Entry &e : entries_) {
        if (std::memcmp(e.handle.bytes, handle.bytes, sizeof handle.bytes) != 0 ||
            e.device != device)
            continue;
        e.used = ++clock_;
        mapping = e.mapping;
        return success;
    }
    make_room();
    Entry entry = {handle, device, nullptr, ++clock_};
    entries_.reserve(entries_.size() + 1);
    void *address;
    uintptr_t bytes;
    UCD_UCX_TRY(ucd_ok(ucd_ipc_open(&handle, device.c_str(), &address, &bytes)));
    entry.mapping = std::make_shared<const Mapping>(address, bytes);
    mapping = entry.mapping;
    entries_.push_back(std::move(entry));
    return success;
}

void Mappings::make_room() {
    if (entries_.size() < most_idle) return;
    auto oldest = entries_.end();
    for (auto e = entries_.begin(); e != entries_.end(); ++e)
        if (e->mapping.use_count() == 1 && (oldest == entries_.end() || e->used < oldest->used))
            oldest = e;
    if (oldest != entries_.end()) entries_.erase(oldest);
}

void Mappings::close_idle() {
    std::erase_if(entries_, [](const Entry &e) { return e.mapping.use_count() == 1; });
}

} // namespace ucd_ucx
