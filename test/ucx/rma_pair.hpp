// Two workers of this process that take part in one-sided operations.
#pragma once

#include "ucx/pair.hpp"

#include <ucd_ucx_rma.h>

namespace ucdtest {

class RmaSide {
public:
    RmaSide(ucd_info_t info, ucs_thread_mode_t mode);
    ~RmaSide();
    RmaSide(const RmaSide &) = delete;
    RmaSide &operator=(const RmaSide &) = delete;

    // For a second object, when the first one is destroyed.
    void create(ucd_info_t info);
    void progress();
    // As a program does that is done with the peer.
    void close_endpoint();
    void lose_endpoint();
    ucp_ep_h ep() const { return side.ep; }

    Side side; // without a pipeline
    ucd_ucx_t rma = UCD_UCX__NULL;

private:
    bool told_ = false; // that the endpoint was lost
};

class RmaPair {
public:
    explicit RmaPair(std::initializer_list<std::pair<std::string, std::string>> keys = {},
                     ucs_thread_mode_t mode = UCS_THREAD_MODE_SINGLE);
    void progress();
    void until(const std::function<bool()> &condition);
    // Of side a. Throws if they fail.
    void flush();

    RmaSide a, b;
};

// For a RmaPair whose data of a few kilobytes are many chunks.
extern const std::initializer_list<std::pair<std::string, std::string>> small_chunks;

// Makes progress until no operation is in progress on the window, and destroys it; ends the process
// after 30 seconds. A number of calls is no limit: progress returns at once while another thread is
// in it, and that one may be waiting for a processor.
void destroy_window(ucd_ucx_window_t &window, const std::function<void()> &progress);

// A window that ends itself, as soon as it knows that nobody reads it any more: after a get, the
// origin knows that earlier. When it never does, the test has left something at work.
class Window {
public:
    Window(RmaSide &side, void *base, std::size_t bytes, ucd_info_t info = UCD_INFO__NULL);
    ~Window();
    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;
    const ucd_ucx_window_key_t *key() const { return &key_; }

    ucd_ucx_window_t handle = UCD_UCX_WINDOW__NULL;

private:
    RmaSide &side_;
    ucd_ucx_window_key_t key_ = {};
};

// A layout in a window.
struct Place {
    const ucd_ucx_window_key_t *key;
    std::intptr_t displacement;
    std::uintptr_t count;
    ucd_type_t type;
};

// Operations on a window of the side's peer. They throw if the call fails.
void start_put(RmaSide &side, const Data &origin, const Place &target, Outcome &o,
               ucd_info_t info = UCD_INFO__NULL);
void start_get(RmaSide &side, const Data &origin, const Place &target, Outcome &o,
               ucd_info_t info = UCD_INFO__NULL);
void start_accumulate(RmaSide &side, const Data &origin, const Place &target, ucd_op_t op,
                      Outcome &o, ucd_info_t info = UCD_INFO__NULL);
void start_get_accumulate(RmaSide &side, const Data &origin, const Data &result,
                          const Place &target, ucd_op_t op, Outcome &o,
                          ucd_info_t info = UCD_INFO__NULL);

} // namespace ucdtest
