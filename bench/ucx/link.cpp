#include "ucx/link.hpp"

#include "ucd_peer.hpp"

#include <csignal>
#include <cstdlib>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace bench {

void check_ucx(ucs_status_t status, const char *what) {
    if (status != UCS_OK)
        throw std::runtime_error(std::string(what) + ": " + ucs_status_string(status));
}

namespace {

void check_ucd_ucx(int rc) {
    if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_ucx_last_error());
}

void write_all(int fd, const void *bytes, std::size_t count) {
    if (write(fd, bytes, count) != static_cast<ssize_t>(count))
        throw std::runtime_error("the other process is gone");
}

void read_all(int fd, void *bytes, std::size_t count) {
    for (auto *at = static_cast<char *>(bytes); count > 0;) {
        const ssize_t n = read(fd, at, count);
        if (n <= 0) throw std::runtime_error("the other process is gone");
        at += n;
        count -= static_cast<std::size_t>(n);
    }
}

void *allocate_staging(std::size_t bytes, void *memory) {
    return static_cast<Memory *>(memory)->allocate_staging(bytes);
}

void release_staging(void *staging, std::size_t, void *memory) {
    static_cast<Memory *>(memory)->free_staging(static_cast<char *>(staging));
}

// Whoever waits for a process that has failed, and has said so, would wait for ever.
void on_child(int) {
    int status;
    if (waitpid(-1, &status, WNOHANG) > 0 && status != 0) _exit(1);
}

} // namespace

Link::Link(const std::string &senders_memory, const std::string &receivers_memory)
    : any_device_(senders_memory != "host" || receivers_memory != "host") {
    int down[2], up[2];
    if (pipe(down) != 0 || pipe(up) != 0) throw std::runtime_error("no pipe can be had");
    std::signal(SIGCHLD, on_child);
    child_ = fork();
    if (child_ < 0) throw std::runtime_error("no process can be had");
    std::signal(SIGPIPE, SIG_IGN);                     // write_all tells
    if (child_ == 0) prctl(PR_SET_PDEATHSIG, SIGKILL); // it would wait for ever
    // Without the other one's ends: what reads would not be told that the other process is gone.
    const int to = sends() ? down[1] : up[1], from = sends() ? up[0] : down[0];
    for (const int fd : {down[0], down[1], up[0], up[1]})
        if (fd != to && fd != from) close(fd);
    // In each process: the driver does not outlive a fork.
    try {
        memory_ = Memory::open(sends() ? senders_memory : receivers_memory);
    } catch (const std::exception &e) {
        throw std::runtime_error((sends() ? "the sender: " : "the receiver: ") +
                                 std::string(e.what()));
    }
    connect(to, from);
    close(to);
    close(from);
}

void Link::connect(int to, int from) {
    ucp_params_t params = {};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_AM;
    check_ucx(ucp_init(&params, nullptr, &context_), "ucp_init");
    ucp_worker_params_t worker_params = {};
    check_ucx(ucp_worker_create(context_, &worker_params, &worker_), "ucp_worker_create");
    ucp_address_t *address;
    std::size_t bytes;
    check_ucx(ucp_worker_get_address(worker_, &address, &bytes), "ucp_worker_get_address");
    write_all(to, &bytes, sizeof bytes);
    write_all(to, address, bytes);
    ucp_worker_release_address(worker_, address);
    read_all(from, &bytes, sizeof bytes);
    std::vector<char> theirs(bytes);
    read_all(from, theirs.data(), bytes);
    ucp_ep_params_t ep_params = {};
    ep_params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    ep_params.address = reinterpret_cast<const ucp_address_t *>(theirs.data());
    check_ucx(ucp_ep_create(worker_, &ep_params, &ep_), "ucp_ep_create");
    ucd_ucx_pipeline_params_t pipeline_params = {};
    pipeline_params.struct_size = sizeof pipeline_params;
    pipeline_params.am_id = 1;
    if (memory_->on_device()) {
        pipeline_params.allocate = allocate_staging;
        pipeline_params.release = release_staging;
        pipeline_params.memory_arg = memory_.get();
    }
    check_ucd_ucx(ucd_ucx_pipeline_create(worker_, &pipeline_params, UCD_INFO__NULL, &pipeline_));
}

Link::~Link() {
    // Once both are here, nothing is on its way.
    acknowledge();
    (void)ucd_ucx_pipeline_destroy(&pipeline_);
    if (!sends()) {
        // The last acknowledgement may still have to leave.
        for (int i = 0; i < 1000; ++i) ucp_worker_progress(worker_);
        std::_Exit(0);
    }
    int status;
    (void)waitpid(child_, &status, 0);
    ucp_worker_destroy(worker_);
    ucp_cleanup(context_);
}

void Link::wait_ucx(ucs_status_ptr_t request, const char *what) {
    if (!UCS_PTR_IS_PTR(request)) return check_ucx(UCS_PTR_STATUS(request), what);
    ucs_status_t status;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
        if (ucp_worker_progress(worker_) == 0) sched_yield(); // there may be more to run than cores
    ucp_request_free(request);
    check_ucx(status, what);
}

void Link::send(const void *buf, std::size_t count, ucp_datatype_t datatype) {
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    p.datatype = datatype;
    wait_ucx(ucp_tag_send_nbx(ep_, buf, count, tag, &p), "ucp_tag_send_nbx");
}

void Link::receive(void *buf, std::size_t count, ucp_datatype_t datatype) {
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    p.datatype = datatype;
    wait_ucx(ucp_tag_recv_nbx(worker_, buf, count, tag, UINT64_MAX, &p), "ucp_tag_recv_nbx");
}

void Link::wait(ucd_ucx_request_t request) {
    if (request == UCD_UCX_REQUEST__NULL) return;
    ucs_status_t status;
    while ((status = ucd_ucx_request_check(request, nullptr)) == UCS_INPROGRESS)
        if (ucd_ucx_progress(pipeline_) == 0) sched_yield();
    ucd_ucx_request_free(request);
    ucd_ucx_progress(pipeline_);
    check_ucx(status, "a transfer");
}

void Link::acknowledge() {
    char byte = 0;
    ucp_request_param_t p = {};
    if (sends())
        wait_ucx(ucp_tag_recv_nbx(worker_, &byte, 1, acknowledgement, UINT64_MAX, &p),
                 "ucp_tag_recv_nbx");
    else
        wait_ucx(ucp_tag_send_nbx(ep_, &byte, 1, acknowledgement, &p), "ucp_tag_send_nbx");
}

std::uint64_t Link::agree(std::uint64_t number) {
    if (sends())
        send(&number, sizeof number, ucp_dt_make_contig(1));
    else
        receive(&number, sizeof number, ucp_dt_make_contig(1));
    return number;
}

} // namespace bench
