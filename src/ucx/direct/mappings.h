// Memory of other processes that stays open in this process, since opening it takes long: that of
// devices, and host memory.
#pragma once

#include "common/failure.h"
#include "common/ledger.h"
#include "direct/shared_memory.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <ucd_memory.h>
#include <vector>

namespace ucd_ucx {

// Memory that is open for the lifetime of this object.
class Mapping {
public:
    Mapping(ucp_ep_h from, const ucd_ipc_handle_t &handle, const std::string &device, Charge charge)
        : sender_(from), handle_(handle), device_(device), charge_(std::move(charge)) {}
    ~Mapping() {
        if (address_ != nullptr && host_ == nullptr) (void)ucd_ipc_close(address_);
    }
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;

    char *address() const { return address_; } // of host memory, for reading only
    uint64_t bytes() const { return bytes_; }

private:
    friend class Mappings;
    Status open(std::span<const int> fds);

    const ucp_ep_h sender_; // the endpoint that it came from
    const ucd_ipc_handle_t handle_;
    const std::string device_; // "": host memory
    const Charge charge_;      // on the sender's account
    bool has_fds_ = false;     // it was opened by descriptors
    std::unique_ptr<SharedMemory> host_;
    char *address_ = nullptr;
    uint64_t bytes_ = 0;
};
using MappingPtr = std::shared_ptr<const Mapping>;

class Mappings {
public:
    // What one costs, with the driver's part. Host memory also costs tables of pages.
    static constexpr uint64_t bytes_of_mapping = 4096;

    explicit Mappings(Ledger &ledger) : ledger_(ledger) {}
    // Opens memory by a handle that came from the endpoint `sender`, unless it is open: for a
    // device, or in host memory if `device` is "". If descriptors identify it, they are not needed
    // afterwards. If the sender's account has no room, memory of the same sender that is not in use
    // is closed.
    Status open(ucp_ep_h sender, const ucd_ipc_handle_t &handle, std::span<const int> fds,
                const std::string &device, MappingPtr &mapping);
    // Finds memory that is open. A handle that needs descriptors gives no right by itself, so it
    // has to come from the same sender again.
    bool find(ucp_ep_h sender, const ucd_ipc_handle_t &handle, const std::string &device,
              MappingPtr &mapping);
    // Closes the host memory of an endpoint that is gone, and all memory of devices: others of its
    // process may have sent that. What is in use closes when its use ends.
    void close(ucp_ep_h sender);

private:
    static constexpr std::size_t max_idle = 64; // exceeded only while all are in use
    bool close_idle_of(ucp_ep_h sender);

    Ledger &ledger_;
    std::vector<MappingPtr> kept_; // in the order of their last uses
};

} // namespace ucd_ucx
