// A process's transfers with the others of its section, each by a pipeline of libucd-ucx.
#pragma once

#include "harness/device.hpp"
#include "harness/measure.hpp"
#include "harness/processes.hpp"

#include <ucd_ucx_rma.h>

#include <functional>
#include <vector>

namespace bench {

// Throw what UCX, or libucd-ucx, says.
void check_ucx(ucs_status_t status, const char *what);
void check_ucd_ucx(int rc);

class Peers final : public Company {
public:
    // Made by all processes of the board at the same time. A GPU's processes have their chunks in
    // host memory that it copies to at full speed.
    Peers(Board &board, unsigned seat, Device &device);
    ~Peers() override;
    Peers(const Peers &) = delete;
    Peers &operator=(const Peers &) = delete;

    using Progress = std::function<unsigned()>;

    unsigned seat() const override { return seat_; }
    unsigned seats() const { return board_.seats(); }

    // Start a transfer, with this process too; without `info`, its receiver does not read this
    // process's memory. At most once at a time to, or from, the same seat
    // with the same tag.
    void receive(unsigned from, void *buf, std::uintptr_t count, ucd_type_t type, ucp_tag_t tag = 0,
                 ucd_info_t info = UCD_INFO__NULL);
    void send(unsigned to, const void *buf, std::uintptr_t count, ucd_type_t type,
              ucp_tag_t tag = 0, ucd_info_t info = UCD_INFO__NULL);
    // Until all that were started are complete. Throws if one fails, or is not of the length that
    // was received.
    void finish();

    void meet() override;
    double agree(double number) override;
    std::uint64_t sum(std::uint64_t number) override;

    // UCP itself, and its own sends and receives, waited for; `progress` is made meanwhile, which
    // says how much there was, instead of the worker's.
    ucp_worker_h worker() const { return worker_; }
    ucp_ep_h endpoint(unsigned seat) const { return endpoints_[seat]; }
    void send_raw(unsigned to, const void *buf, std::size_t count, ucp_datatype_t datatype,
                  ucp_tag_t tag);
    void receive_raw(void *buf, std::size_t count, ucp_datatype_t datatype, ucp_tag_t tag,
                     const Progress &progress = nullptr);

    // Memory of a window of the library's, which other processes can map.
    class Window {
    public:
        Window(Peers &peers, std::size_t bytes);
        ~Window();
        Window(const Window &) = delete;
        Window &operator=(const Window &) = delete;
        char *data() const { return data_; }

    private:
        ucd_ucx_window_t window_ = UCD_UCX_WINDOW__NULL;
        char *data_ = nullptr;
    };

private:
    struct Transfer {
        ucd_ucx_request_t request;
        std::uint64_t bytes;
    };
    void connect();
    void keep(ucd_ucx_request_t request, std::uintptr_t count, ucd_type_t type);
    void flush();
    void wait_raw(ucs_status_ptr_t request, const char *what, const Progress &progress = nullptr);

    Board &board_;
    unsigned seat_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    std::vector<ucp_ep_h> endpoints_;
    ucd_ucx_t pipeline_ = UCD_UCX__NULL;
    ucd_ucx_t rma_ = UCD_UCX__NULL;
    std::vector<Transfer> transfers_;
};

} // namespace bench
