#include "memory/mappings.h"

#include <algorithm>
#include <cstring>

namespace ucd_ucx {

bool Mappings::find(ucp_ep_h sender, const ucd_ipc_handle_t &handle, const std::string &device,
                    std::shared_ptr<const Mapping> &mapping) {
    for (Entry &e : entries_) {
        if (std::memcmp(e.handle.bytes, handle.bytes, sizeof handle.bytes) != 0 ||
            e.device != device || (e.has_fds && e.sender != sender))
            continue;
        e.used = ++clock_;
        mapping = e.mapping;
        return true;
    }
    return false;
}

Status Mappings::open(ucp_ep_h sender, const ucd_ipc_handle_t &handle, const std::string &device,
                      std::shared_ptr<const Mapping> &mapping) {
    return find(sender, handle, device, mapping) ? success
                                                 : open(sender, handle, {}, device, mapping);
}

Status Mappings::open(ucp_ep_h sender, const ucd_ipc_handle_t &handle, std::span<const int> fds,
                      const std::string &device, std::shared_ptr<const Mapping> &mapping) {
    make_room();
    Charge charged = charge(sender);
    if (!charged) return fail(UCD_ERR__OUT_OF_MEM, "the sender has too much memory open here");
    Entry entry = {sender, handle, !fds.empty(), device, nullptr, ++clock_};
    entries_.reserve(entries_.size() + 1);
    void *address;
    uintptr_t bytes;
    const auto open_it = [&] {
        return ucd_ipc_open_fds(&handle, fds.data(), static_cast<int>(fds.size()), device.c_str(),
                                &address, &bytes);
    };
    int rc = open_it();
    // Drivers may refuse memory at an address where the sender has freed an earlier allocation that
    // is still open here.
    if (rc != UCD_SUCCESS && close_idle_of(sender)) rc = open_it();
    UCD_TRY(ucd_ok(rc));
    entry.mapping = std::make_shared<const Mapping>(address, bytes, std::move(charged));
    mapping = entry.mapping;
    entries_.push_back(std::move(entry));
    return success;
}

void Mappings::make_room() {
    while (entries_.size() >= max_idle) {
        auto oldest = entries_.end();
        for (auto e = entries_.begin(); e != entries_.end(); ++e)
            if (e->mapping.use_count() == 1 && (oldest == entries_.end() || e->used < oldest->used))
                oldest = e;
        if (oldest == entries_.end()) return;
        entries_.erase(oldest);
    }
}

Charge Mappings::charge(ucp_ep_h sender) {
    Charge charged = ledger_.take(sender, bytes_of_mapping, LedgerUse::request);
    if (!charged && close_idle_of(sender))
        charged = ledger_.take(sender, bytes_of_mapping, LedgerUse::request);
    return charged;
}

bool Mappings::close_idle_of(ucp_ep_h sender) {
    const auto goes = [sender](const Entry &e) {
        return e.sender == sender && e.mapping.use_count() == 1;
    };
    return std::erase_if(entries_, goes) > 0;
}

} // namespace ucd_ucx
