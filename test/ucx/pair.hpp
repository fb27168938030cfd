// Two UCX workers of this process, connected with each other, each with a pipeline.
#pragma once

#include "support/keys.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <ucd_ucx.h>
#include <utility>
#include <vector>

namespace ucdtest {

// Throws std::runtime_error.
void ucx(ucs_status_t status, const char *what);
void ok(int rc, const char *what);

std::string to_hex(const std::string &bytes);
std::string from_hex(const std::string &digits);

constexpr std::uint16_t am_id = 7;

struct MemoryUse {
    std::size_t live = 0, most = 0; // blocks
    long until_failure = -1;        // so many allocations succeed; negative: all

    // For a pipeline's params, with a MemoryUse as the argument.
    static void *allocate(std::size_t bytes, void *use);
    static void release(void *memory, std::size_t bytes, void *use);
};

class Side {
public:
    explicit Side(ucs_thread_mode_t mode = UCS_THREAD_MODE_SINGLE);
    ~Side();
    Side(const Side &) = delete;
    Side &operator=(const Side &) = delete;

    void open_pipeline(ucd_info_t info);
    std::string address() const;
    void connect(const std::string &address);
    // As a program does that is done with the peer: the pipeline is told first.
    void close_endpoint();
    // Tells the pipeline that the endpoint, its own one unless another is given, is lost.
    void lose_endpoint(ucp_ep_h which = nullptr);

    ucp_context_h context = nullptr;
    ucp_worker_h worker = nullptr;
    ucp_ep_h ep = nullptr;
    ucd_ucx_t pipeline = UCD_UCX__NULL;
    std::vector<ucd_ucx_event_t> events;
    std::vector<ucp_ep_h> unresponsive; // what that callback was told, with this as its argument
    static void note_unresponsive(ucp_ep_h ep, void *side) {
        static_cast<Side *>(side)->unresponsive.push_back(ep);
    }
    MemoryUse memory;
    bool gives_memory = true;   // for chunks
    bool can_fail = false;      // its endpoint, and tell so
    ucs_status_t lost = UCS_OK; // what the endpoint's error handler was told
};

struct PipelineSide : Side {
    explicit PipelineSide(ucd_info_t info = UCD_INFO__NULL) { open_pipeline(info); }
};

class TwoSides {
public:
    explicit TwoSides(std::initializer_list<std::pair<std::string, std::string>> keys = {},
                      ucs_thread_mode_t mode = UCS_THREAD_MODE_SINGLE);
    void progress();
    // Until it is true; throws after 30 seconds.
    void until(const std::function<bool()> &condition);

    Side a, b;
};

// What a transfer's callback was told, in whichever thread that was.
struct Outcome {
    std::atomic<int> calls = 0;
    ucd_ucx_result_t result = {};
    ucd_ucx_request_t request = UCD_UCX_REQUEST__NULL;

    Outcome() = default;
    Outcome(const Outcome &) = delete;
    Outcome &operator=(const Outcome &) = delete;
    ~Outcome() { ucd_ucx_request_free(request); }
    bool done() const { return calls > 0; }
    ucd_ucx_param_t param(ucd_info_t info = UCD_INFO__NULL);
    // After the call that started it: complete already, or not.
    void started() { calls += request == UCD_UCX_REQUEST__NULL; }
};

// Memory in a layout.
struct Data {
    const void *address;
    std::uintptr_t count;
    ucd_type_t type;
    void *room() const { return const_cast<void *>(address); }
};

// Transfers of a side to or from its peer. They throw if the call fails.
void start_send(Side &side, const Data &data, Outcome &o, ucp_tag_t tag = 1,
                ucd_info_t info = UCD_INFO__NULL);
void start_receive(Side &side, const Data &data, Outcome &o, ucp_tag_t tag = 1,
                   ucd_info_t info = UCD_INFO__NULL, ucp_tag_t mask = UINT64_MAX);
void start_active(Side &side, const Data &data, Outcome &o, const std::string &header = "h",
                  unsigned id = 1, ucd_info_t info = UCD_INFO__NULL);
void start_receive_active(Side &side, ucd_ucx_data_t announced, const Data &data, Outcome &o,
                          ucd_info_t info = UCD_INFO__NULL);

// The active messages that a side is told of. Their data is kept, unless it is to be dropped.
struct Told {
    explicit Told(Side &side, bool drops = false);
    Told(const Told &) = delete;
    Told &operator=(const Told &) = delete;

    int times = 0;
    unsigned id = 0;               // of the last one,
    std::string header;            // its header,
    ucd_ucx_data_t data = nullptr; // its data,
    std::uint64_t bytes = 0;       // of so many bytes
    ucp_ep_h reply_ep = nullptr;

private:
    Side &side_;
    bool drops_;
};

// A transfer whose completion is asked for, not called back: with several threads, callbacks come
// in whichever makes progress.
class Request {
public:
    ~Request() { ucd_ucx_request_free(handle); }
    bool done() const {
        return handle == UCD_UCX_REQUEST__NULL ||
               ucd_ucx_request_check(handle, nullptr) != UCS_INPROGRESS;
    }
    ucd_ucx_request_t handle = UCD_UCX_REQUEST__NULL;
};

} // namespace ucdtest
