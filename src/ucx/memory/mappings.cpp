#include "memory/mappings.h"

#include <cstring>

namespace ucd_ucx {

Status Mapping::open(std::span<const int> fds) {
    void *address;
    uintptr_t bytes;
    UCD_TRY(ucd_ok(ucd_ipc_open_fds(&handle_, fds.data(), static_cast<int>(fds.size()),
                                    device_.c_str(), &address, &bytes)));
    address_ = static_cast<char *>(address);
    bytes_ = bytes;
    has_fds_ = !fds.empty();
    return success;
}

bool Mapping::is_for(ucp_ep_h from, const ucd_ipc_handle_t &handle,
                     const std::string &device) const {
    return std::memcmp(handle_.bytes, handle.bytes, sizeof handle.bytes) == 0 &&
           device_ == device && (!has_fds_ || sender == from);
}

bool Mappings::find(ucp_ep_h sender, const ucd_ipc_handle_t &handle, const std::string &device,
                    std::shared_ptr<const Mapping> &mapping) {
    mapping = kept_.find([&](const Mapping &m) { return m.is_for(sender, handle, device); });
    return mapping != nullptr;
}

Status Mappings::open(ucp_ep_h sender, const ucd_ipc_handle_t &handle, std::span<const int> fds,
                      const std::string &device, std::shared_ptr<const Mapping> &mapping) {
    if (find(sender, handle, device, mapping)) return success;
    Charge charge = kept_.make_room(sender, bytes_of_mapping);
    if (!charge) return fail(UCD_ERR__OUT_OF_MEM, "the sender has too much memory open here");
    const auto made = std::make_shared<Mapping>(sender, handle, device, std::move(charge));
    // Drivers may refuse memory at an address where the sender has freed an earlier allocation that
    // is still open here.
    Status opened = made->open(fds);
    if (!opened.ok() && kept_.close_idle_of(sender)) opened = made->open(fds);
    UCD_TRY(opened);
    kept_.add(made);
    mapping = made;
    return success;
}

} // namespace ucd_ucx
