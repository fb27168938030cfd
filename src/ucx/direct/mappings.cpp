#include "direct/mappings.h"

#include "direct/attachable_memory.h"

#include <algorithm>

namespace ucd_ucx {

// The size of host memory cannot change, so that reading it is safe whatever the sender does. Its
// peer states the size, which is compared with the descriptor's before anything is mapped.
Status Mapping::open(std::span<const int> fds) {
    has_fds_ = !fds.empty();
    if (device_.empty()) {
        bytes_ = AttachableName::bytes_of(handle_);
        if (bytes_ > 0 && fds.size() == 1) host_ = SharedMemory::open(fds.front(), bytes_, false);
        if (host_ == nullptr) return fail(UCD_ERR__INVALID_ARG, "it is not the memory described");
        address_ = host_->address();
        return success;
    }
    void *address;
    uintptr_t bytes;
    UCD_TRY(ucd_ok(ucd_ipc_open_fds(&handle_, fds.data(), static_cast<int>(fds.size()),
                                    device_.c_str(), &address, &bytes)));
    address_ = static_cast<char *>(address);
    bytes_ = bytes;
    return success;
}

bool Mappings::find(ucp_ep_h sender, const ucd_ipc_handle_t &handle, const std::string &device,
                    MappingPtr &mapping) {
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const MappingPtr &m) {
        return is_same(m->handle_, handle) && m->device_ == device &&
               (!m->has_fds_ || m->sender_ == sender);
    });
    if (found == kept_.end()) return false;
    std::rotate(found, found + 1, kept_.end());
    mapping = kept_.back();
    return true;
}

Status Mappings::open(ucp_ep_h sender, const ucd_ipc_handle_t &handle, std::span<const int> fds,
                      const std::string &device, MappingPtr &mapping) {
    if (find(sender, handle, device, mapping)) return success;
    for (auto oldest = kept_.begin(); kept_.size() >= max_idle && oldest != kept_.end();)
        oldest = oldest->use_count() == 1 ? kept_.erase(oldest) : oldest + 1;
    kept_.reserve(kept_.size() + 1);
    constexpr uint64_t mapped_by_byte = 512; // of a table of pages: 8 bytes for each page
    const uint64_t on_host = device.empty() ? AttachableName::bytes_of(handle) : 0;
    const uint64_t cost = bytes_of_mapping + on_host / mapped_by_byte;
    Charge charge = ledger_.take(sender, cost, LedgerUse::request);
    if (!charge && close_idle_of(sender)) charge = ledger_.take(sender, cost, LedgerUse::request);
    if (!charge) return fail(UCD_ERR__OUT_OF_MEM, "the sender has too much memory open here");
    const auto made = std::make_shared<Mapping>(sender, handle, device, std::move(charge));
    // Drivers may refuse memory at an address where the sender has freed an earlier allocation that
    // is still open here.
    Status opened = made->open(fds);
    if (!opened.ok() && close_idle_of(sender)) opened = made->open(fds);
    UCD_TRY(opened);
    kept_.push_back(made);
    mapping = made;
    return success;
}

// Returns whether there was any.
bool Mappings::close_idle_of(ucp_ep_h sender) {
    return std::erase_if(kept_, [sender](const MappingPtr &m) {
               return m->sender_ == sender && m.use_count() == 1;
           }) > 0;
}

void Mappings::close(ucp_ep_h sender) {
    std::erase_if(kept_, [sender](const MappingPtr &m) {
        return !m->device_.empty() || m->sender_ == sender;
    });
}

} // namespace ucd_ucx
