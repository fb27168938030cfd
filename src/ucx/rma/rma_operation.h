// One operation at its origin; and a flush, which waits for some.
#pragma once

#include "pipeline/active.h"
#include "pipeline/device_work.h"
#include "pipeline/request.h"
#include "rma/payload.h"
#include "rma/rma_message.h"
#include "rma/rma_types.h"

#include <memory>
#include <ucd_ucx_rma.h>
#include <vector>

namespace ucd_ucx::rma {

class Origin;
struct Lane;

// The arguments of an operation. What it does not have is left as it is.
struct Arguments {
    Verb verb;
    ucp_ep_h ep;
    Data sent, received;
    const ucd_ucx_window_key_t *key;
    intptr_t displacement;
    Data target; // without a buffer
    ucd_op_t op = UCD_OP__REPLACE;
    const ucd_ucx_param_t *param;
};

class Flush final : public ucd_ucx_request {
public:
    Status set(const TransferOptions &options, const ucd_ucx_param_t *param);
    void cancel(ucd_ucx_pipeline &) override {}
    void await_one() { ++remaining_; }
    bool awaits_any() const { return remaining_ > 0; }
    // True: that was the last one.
    bool one_ended(const ucd_ucx_result_t &result);

private:
    uint64_t remaining_ = 0;
    ucs_status_t status_ = UCS_OK;
    int ucd_ = UCD_SUCCESS;
};

// Under the lock, but for what ucd_ucx_request says.
class RmaOperation final : public ucd_ucx_request, public DeviceWork {
public:
    explicit RmaOperation(Origin &origin) : origin_(origin) {}
    static void *operator new(std::size_t bytes);
    static void operator delete(void *memory);
    Status set(const Arguments &arguments);
    // What is not started before the call returns keeps what it was called with.
    Status hold();
    // Sends it. A failure leaves nothing under way.
    Status start(Lane &lane);
    void cancel(ucd_ucx_pipeline &) override {}
    void explain() const override;

    // Takes the payload if it needs it for longer.
    void answered(const Answer &answer, Payload &payload);
    void type_asked_for();
    // Ends it with this, as soon as no transfer uses its memory.
    void fail(ucs_status_t status, int ucd);
    // Ends it, if the target has taken too long.
    void check_time();

    ucp_ep_h ep() const { return arguments_.ep; }
    Lane *lane = nullptr; // once it is started
    uint64_t since() const { return since_; }
    uint32_t number = 0;
    std::vector<Flush *> flushes;

private:
    static void on_sent(ucd_ucx_request_t, const ucd_ucx_result_t *result, void *operation);
    static void on_received(ucd_ucx_request_t, const ucd_ucx_result_t *result, void *operation);
    Status check_data(const Data &data);
    Status find_hints_of(Data &data, ucd_info_t info, Direction direction,
                         std::unique_ptr<const Hints> &made);
    Status check_element();
    Status check_op();
    Status send(const Encoded &message, const Data &data, uint64_t bytes, uint64_t granule);
    const char *contiguous_of(const Data &data) const;
    void receive_here(Payload &payload);
    void moved(ucd_ucx_pipeline &, Status status) override;
    void transferred(const ucd_ucx_result_t &result);
    ucd_ucx_param_t param(ucd_ucx_callback_t callback);
    void conclude();

    Origin &origin_;
    Arguments arguments_ = {};
    OwnedType held_type_, received_type_;
    std::unique_ptr<const Hints> sent_hints_, received_hints_; // those of its own
    OwnedInfo info_;
    TypePtr type_;
    ContentId window_ = {};
    uint32_t type_index_ = Request::no_index; // that it introduces
    uint64_t bytes_ = 0;                      // of the packed stream
    uint64_t sent_bytes_ = 0;                 // of it, that are sent: all or none
    uint64_t granule_ = 1;
    uint64_t since_ = 0;
    unsigned transfers_ = 0; // under way
    ucd_ucx_request_t receiving_ = UCD_UCX_REQUEST__NULL;
    Payload unpacking_; // by a device
    bool answered_ = false, type_sent_ = false, reported_ = false;
    Verdict verdict_ = Verdict::done;
    ucs_status_t status_ = UCS_OK;
    int ucd_ = UCD_SUCCESS;
};

} // namespace ucd_ucx::rma
