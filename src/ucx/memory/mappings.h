// Device memory of other processes that is open in this process. Opening takes long, so it is kept
// open.
#pragma once

#include "common/failure.h"
#include "common/ledger.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <ucd_memory.h>
#include <utility>
#include <vector>

namespace ucd_ucx {

// Memory that is open for the lifetime of this object.
class Mapping {
public:
    Mapping(void *address, uint64_t bytes, Charge charge)
        : address_(static_cast<char *>(address)), bytes_(bytes), charge_(std::move(charge)) {}
    ~Mapping() { (void)ucd_ipc_close(address_); } // cannot fail, since it is open
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;

    char *address() const { return address_; }
    uint64_t bytes() const { return bytes_; }

private:
    char *address_;
    uint64_t bytes_;
    Charge charge_;
};

class Mappings {
public:
    // What one costs, with the driver's part. It is charged to the sender. If the sender's account
    // has no room, memory of the same sender that is not in use is closed.
    static constexpr uint64_t bytes_of_mapping = 4096;

    explicit Mappings(Ledger &ledger) : ledger_(ledger) {}
    // Opens memory by a handle that came from the endpoint `sender`.
    Status open(ucp_ep_h sender, const ucd_ipc_handle_t &handle, const std::string &device,
                std::shared_ptr<const Mapping> &mapping);
    // Same, for memory that descriptors identify; they are not needed afterwards.
    Status open(ucp_ep_h sender, const ucd_ipc_handle_t &handle, std::span<const int> fds,
                const std::string &device, std::shared_ptr<const Mapping> &mapping);
    // Finds memory that is open. A handle that needs descriptors gives no right by itself, so it
    // has to come from the same sender again.
    bool find(ucp_ep_h sender, const ucd_ipc_handle_t &handle, const std::string &device,
              std::shared_ptr<const Mapping> &mapping);
    // Closes all memory that is not in use; the rest closes when its use ends.
    void close_all() { entries_.clear(); }

private:
    struct Entry {
        ucp_ep_h sender;
        ucd_ipc_handle_t handle;
        bool has_fds; // it was opened by descriptors
        std::string device;
        std::shared_ptr<const Mapping> mapping;
        uint64_t used; // the time of the last use
    };
    static constexpr std::size_t max_idle = 64; // exceeded only while all are in use
    void make_room();
    Charge charge(ucp_ep_h sender);
    bool close_idle_of(ucp_ep_h sender); // returns whether there was any

    Ledger &ledger_;
    std::vector<Entry> entries_;
    uint64_t clock_ = 0;
};

} // namespace ucd_ucx
