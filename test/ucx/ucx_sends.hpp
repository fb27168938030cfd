// Stands between the library and UCX's calls that send, and that fetch data, in programs that link
// ucx_sends.cpp: a test sees the calls, and decides what becomes of them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <ucp/api/ucp.h>
#include <vector>

namespace ucdtest {

class UcxSends {
public:
    // Of that endpoint only, or of all. There is one at a time.
    explicit UcxSends(ucp_ep_h only = nullptr);
    // Nothing may be held any more.
    ~UcxSends();
    UcxSends(const UcxSends &) = delete;
    UcxSends &operator=(const UcxSends &) = delete;

    enum class Fate {
        sent,
        ended, // at once with `status`, and is not sent
        held,  // is under way until end_held(), and is not sent
    };
    std::deque<Fate> next;  // of the next calls,
    Fate rest = Fate::sent; // and of those behind them
    ucs_status_t status = UCS_ERR_NO_MEMORY;

    struct Call {
        ucp_ep_h ep;
        bool tagged;
        std::size_t header_bytes, count;
    };
    std::vector<Call> calls;
    std::function<void()> on_call; // within each, which is noted already
    // Unless UCS_OK: data that is fetched from its sender ends so at once, in any worker.
    ucs_status_t fetched = UCS_OK;
    ucs_status_t fetched_later = UCS_OK; // the same, but only when it would have come
    std::size_t fetches = 0;             // that ended so

    std::size_t held() const { return held_.size(); }
    void end_held(ucs_status_t ended_with);

    // For ucx_sends.cpp.
    struct Request {
        ucp_send_nbx_callback_t callback;
        void *user_data;
        bool freed = false;
    };
    bool frees(const void *request); // whether it is one of those that are held
    bool takes(const Call &call, const ucp_request_param_t &param, ucs_status_ptr_t &result);
    ucs_status_ptr_t fetch(ucp_worker_h worker, void *data, void *buffer, std::size_t count,
                           const ucp_request_param_t &param);

private:
    struct Fetch {
        ucp_am_recv_data_nbx_callback_t callback;
        void *user_data;
        ucs_status_t ends_with;
    };
    static void end_fetch(void *request, ucs_status_t status, std::size_t length, void *fetch);

    const ucp_ep_h only_;
    std::deque<std::unique_ptr<Request>> held_;
};

} // namespace ucdtest
