// A transfer at its receiver.
#pragma once

#include "pipeline/framed.h"
#include "pipeline/transfers.h"

#include <atomic>

namespace ucd_ucx {

class RecvPart;

class Receiving final : public Transfer, public Event {
public:
    explicit Receiving(Transfers &transfers) : Transfer(transfers) {}
    Status set(const Data &to, const ucd_ucx_param_t *param, ucd_op_t op = UCD_OP__REPLACE,
               const TransferTerms &terms = {});
    Status start_tagged(ucp_tag_t tag, ucp_tag_t mask);
    void start_am(RecvMessage &message);

    void on_complete() override; // the tagged message has arrived
    void cancel() override;
    void explain() const override;
    void advance();

    RecvMessage *message() const { return message_; } // null: none has matched
    const TypedBuffer &buffer() const { return buffer_; }
    ucp_ep_h account() const { return terms_.account; }
    uint64_t granule() const { return terms_.granule; }
    // As many as any sender has under way, unless a peer has asked for the transfer.
    uint64_t depth() const {
        return options_.depth_or(terms_.account == nullptr ? max_usual_depth
                                                           : TransferOptions::usual_depth);
    }
    // For chunks in device memory:
    uint64_t ring_depth() const { return options_.ring_depth; }
    bool goes_direct() const { return options_.direct != Trust::none && terms_.owner == nullptr; }
    const TransferOptions &options() const { return options_; }
    // Which route to take, if the sender has offered this ring. In turns, if the sender's memory is
    // on the device of this buffer.
    ChunkRoute route_beside(const RecvPart &ring) const;
    // Whether UCX unpacks the chunks that come from there.
    bool is_streamed(ucp_ep_h from) const;
    // It ends as soon as no chunk is being received into its memory.
    bool has_failed() const { return status_ != UCS_OK; }

    // Ends the transfer with this status as soon as no chunk is being received into its memory.
    void stop(ucs_status_t status, int ucd) override;
    // Ends the transfer: the whole message was received and unpacked, or the transfer has failed
    // and no chunk is being received.
    void end();

private:
    // Of the receive that UCX has.
    enum class Posted : uint8_t {
        waits,     // UCX calls on_tagged when the message is here
        abandoned, // same; nobody else knows the receive any more
        ended,     // UCX has called it
    };
    bool abandon();
    static void on_tagged(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                          void *receiving);

    TypedBuffer buffer_;
    MessageHeader header_;
    FramedRange frame_; // a tagged message
    FramedArrival arrival_;
    void *posted_ = nullptr;    // UCX's request
    bool is_cancelled_ = false; // UCX cancels it, or has matched it already
    std::atomic<Posted> is_posted_ = Posted::waits;
    std::shared_ptr<const GenericDatatype> datatype_; // if it is abandoned
    ucs_status_t posted_status_ = UCS_OK;
    ucp_tag_t tag_ = 0;
    std::size_t length_ = 0; // of the tagged message
    RecvMessage *message_ = nullptr;
};

} // namespace ucd_ucx
