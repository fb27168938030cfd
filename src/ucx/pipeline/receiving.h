// A transfer at its receiver.
#pragma once

#include "pipeline/active.h"
#include "pipeline/framed.h"
#include "pipeline/pipeline.h"

namespace ucd_ucx {

class AmData;

class Receiving final : public ucd_ucx_request, public Event {
public:
    Status set(ucd_ucx_pipeline &pipeline, const Data &to, const ucd_ucx_param_t *param,
               ucd_op_t op = UCD_OP__REPLACE, const TransferTerms &terms = {});
    Status start_tagged(ucd_ucx_pipeline &pipeline, ucp_tag_t tag, ucp_tag_t mask);
    void start_am(ucd_ucx_pipeline &pipeline, RecvMessage &message);

    void on_complete(ucd_ucx_pipeline &pipeline) override; // the tagged message has arrived
    void cancel(ucd_ucx_pipeline &pipeline) override;
    void explain() const override;
    void advance(ucd_ucx_pipeline &pipeline);
    // Ends the transfer if nothing has arrived for longer than its time limit.
    void check_time(ucd_ucx_pipeline &pipeline);

    const TypedBuffer &buffer() const { return buffer_; }
    ucp_ep_h account() const { return terms_.account; }
    uint64_t granule() const { return terms_.granule; }
    uint64_t depth() const { return options_.depth; }
    // For chunks in device memory:
    uint64_t ring_depth() const { return options_.ring_depth; }
    bool joins_ring(ucd_ucx_pipeline &pipeline, const AmData &accept) const;
    // Takes memory to copy a chunk to, if the options ask for copies.
    Block take_copy(ucd_ucx_pipeline &pipeline, uint64_t bytes) const;
    bool has_failed() const { return status_ != UCS_OK; }

    // Ends the transfer with this status as soon as no chunk is being received into its memory.
    void fail(ucd_ucx_pipeline &pipeline, ucs_status_t status, int ucd);
    // Ends the transfer: the whole message was received and unpacked, or the transfer has failed
    // and no chunk is being received.
    void end(ucd_ucx_pipeline &pipeline);

private:
    static void on_tagged(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                          void *receiving);

    TransferTerms terms_;
    TypedBuffer buffer_;
    Frame frame_;
    ucd_ucx_pipeline *pipeline_ = nullptr;
    void *posted_ = nullptr; // UCX's request
    bool cancelled_ = false;
    ucs_status_t posted_status_ = UCS_OK;
    ucp_tag_t tag_ = 0;
    std::size_t length_ = 0; // of the tagged message
    RecvMessage *message_ = nullptr;
    bool reported_ = false; // whether the user was told that the endpoint does not respond
    ucs_status_t status_ = UCS_OK;
    int ucd_ = UCD_SUCCESS;
};

} // namespace ucd_ucx
