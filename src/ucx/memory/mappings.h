// Device memory of other processes that is open in this process.
#pragma once

#include "common/failure.h"
#include "memory/kept_memory.h"

#include <cstdint>
#include <span>
#include <string>
#include <ucd_memory.h>
#include <utility>

namespace ucd_ucx {

// Memory that is open for the lifetime of this object.
class Mapping {
public:
    Mapping(ucp_ep_h from, const ucd_ipc_handle_t &handle, const std::string &device, Charge charge)
        : sender(from), handle_(handle), device_(device), charge_(std::move(charge)) {}
    ~Mapping() {
        if (address_ != nullptr) (void)ucd_ipc_close(address_);
    }
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;

    char *address() const { return address_; }
    uint64_t bytes() const { return bytes_; }
    const ucp_ep_h sender;

private:
    friend class Mappings;
    Status open(std::span<const int> fds);
    bool is_for(ucp_ep_h from, const ucd_ipc_handle_t &handle, const std::string &device) const;

    const ucd_ipc_handle_t handle_;
    const std::string device_;
    const Charge charge_;
    bool has_fds_ = false; // it was opened by descriptors
    char *address_ = nullptr;
    uint64_t bytes_ = 0;
};

class Mappings {
public:
    // What one costs, with the driver's part.
    static constexpr uint64_t bytes_of_mapping = 4096;

    explicit Mappings(Ledger &ledger) : kept_(ledger) {}
    // Opens memory by a handle that came from the endpoint `sender`, unless it is open. If
    // descriptors identify it, they are not needed afterwards.
    Status open(ucp_ep_h sender, const ucd_ipc_handle_t &handle, std::span<const int> fds,
                const std::string &device, std::shared_ptr<const Mapping> &mapping);
    // Finds memory that is open. A handle that needs descriptors gives no right by itself, so it
    // has to come from the same sender again.
    bool find(ucp_ep_h sender, const ucd_ipc_handle_t &handle, const std::string &device,
              std::shared_ptr<const Mapping> &mapping);
    // Closes all memory that is not in use; the rest closes when its use ends.
    void close_all() { kept_.close_all(); }

private:
    KeptMemory<Mapping> kept_;
};

} // namespace ucd_ucx
