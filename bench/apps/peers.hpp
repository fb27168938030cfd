// A process's transfers with the others of its section, each by a pipeline of libucd-ucx.
#pragma once

#include "apps/place.hpp"
#include "apps/processes.hpp"

#include <ucd_ucx.h>

#include <functional>
#include <vector>

namespace bench::apps {

class Peers {
public:
    // Made by all processes of the board at the same time. Chunks are in the place's host memory.
    Peers(Board &board, unsigned seat, Place &place);
    ~Peers();
    Peers(const Peers &) = delete;
    Peers &operator=(const Peers &) = delete;

    unsigned seat() const { return seat_; }
    unsigned seats() const { return board_.seats(); }

    // Start a transfer, with this process too. At most once at a time to, or from, the same seat
    // with the same tag. host: the data is in memory of the host, without asking.
    enum class Where { ask, host };
    void receive(unsigned from, void *buf, std::uintptr_t count, ucd_type_t type, ucp_tag_t tag = 0,
                 Where where = Where::ask);
    void send(unsigned to, const void *buf, std::uintptr_t count, ucd_type_t type,
              ucp_tag_t tag = 0, Where where = Where::ask);
    // Until all that were started are complete. Throws if one fails, or is not of the length that
    // was received.
    void finish();

    void meet();
    // All processes come here. The first one's number; the sum of all numbers.
    double agree(double number);
    std::uint64_t sum(std::uint64_t number);

private:
    struct Transfer {
        ucd_ucx_request_t request;
        std::uint64_t bytes;
    };
    void connect();
    ucd_ucx_param_t param(Where where) const;
    void keep(ucd_ucx_request_t request, std::uintptr_t count, ucd_type_t type);
    void flush();

    Board &board_;
    unsigned seat_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    std::vector<ucp_ep_h> endpoints_;
    ucd_ucx_pipeline_t pipeline_ = UCD_UCX_PIPELINE__NULL;
    ucd_info_t of_host_ = UCD_INFO__NULL;
    std::vector<Transfer> transfers_;
};

} // namespace bench::apps
