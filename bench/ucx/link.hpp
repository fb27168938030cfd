// Two processes that are connected by UCX: this one sends, its child receives.
#pragma once

#include "ucx/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <ucd_ucx.h>

namespace bench {

void check_ucx(ucs_status_t status, const char *what);

// Made in one process, which becomes two. Both go through the same measurements in the same order.
class Link {
public:
    // Where the sender and the receiver have their data, as Memory::open takes it.
    Link(const std::string &senders_memory, const std::string &receivers_memory);
    ~Link(); // waits for the child
    Link(const Link &) = delete;
    Link &operator=(const Link &) = delete;

    bool sends() const { return child_ > 0; }
    ucd_ucx_pipeline_t pipeline() const { return pipeline_; }
    ucp_ep_h ep() const { return ep_; }
    ucp_worker_h worker() const { return worker_; }
    Memory &memory() const { return *memory_; } // this side's
    bool any_device() const { return any_device_; }

    // UCP's own calls, waited for.
    void send(const void *buf, std::size_t count, ucp_datatype_t datatype);
    void receive(void *buf, std::size_t count, ucp_datatype_t datatype);
    void wait(ucd_ucx_request_t request);
    // The receiver says that it has all; the sender waits for that.
    void acknowledge();
    // A number of the sender's, at both sides.
    std::uint64_t agree(std::uint64_t number);

    static constexpr ucp_tag_t tag = 1, acknowledgement = 2;

private:
    void connect(int to, int from);
    void wait_ucx(ucs_status_ptr_t request, const char *what);

    pid_t child_ = -1;
    bool any_device_;
    std::unique_ptr<Memory> memory_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    ucp_ep_h ep_ = nullptr;
    ucd_ucx_pipeline_t pipeline_ = UCD_UCX_PIPELINE__NULL;
};

} // namespace bench
