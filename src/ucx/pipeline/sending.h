// A transfer at its sender.
#pragma once

#include "engine/send_op.h"
#include "pipeline/framed.h"
#include "pipeline/transfer.h"
#include "pipeline/transport.h"

#include <list>
#include <string>
#include <string_view>

namespace ucd_ucx {

enum class Matching : uint8_t { tag, am };

class SendChunk;
class Sending;
class RouteOffer;
class DirectMessage;
struct SendingDirect;

// A message without data.
class ControlMessage final : public SendOp {
public:
    explicit ControlMessage(Sending &owner);
    void on_complete() override;

private:
    Sending &owner_;
};

class Sending final : public Transfer {
public:
    explicit Sending(Transfers &transfers);
    ~Sending() override;

    Status set(ucp_ep_h ep, const Data &data, const ucd_ucx_param_t *param, Matching matching,
               const TransferTerms &terms = {});

    // Send the first message; if the transfer takes more than one message, the chunks follow.
    void start_tagged(ucp_tag_t tag);
    void start_am(unsigned id, std::string_view header);

    // Sends one more chunk, if there is room for it.
    bool advance();
    void cancel() override;
    // Ends the transfer if nothing was sent for longer than its time limit.
    void check_time();
    void on_endpoint_failed(ucp_ep_h ep, ucs_status_t status, uint64_t before);
    bool is(ucp_ep_h ep, const MessageId &id) const { return ep == ep_ && id == frame_.header.id; }
    bool goes_to(ucp_ep_h ep) const { return ep == ep_; }
    // The receiver waits for the data by another route.
    void on_declined(Decline reason);
    // The process that was to read the data has ended.
    void on_link_ended();
    // For a complete transfer: why it could not be started.
    Status start_status() const;

private:
    enum class SendState : uint8_t {
        starting, // its first messages are being sent, and it cannot end yet
        sending,
        stopping, // it has failed, and waits for messages that UCX is still sending
        overdue,  // same, beyond its time limit; the user has been told
    };
    // How the data goes, or what the receiver is being asked first.
    enum class SendRoute : uint8_t {
        asking_directly, // whether it reads the data where it is
        asking,          // which of `routes_` it takes
        host,
        ring,
        direct,
    };
    friend class ControlMessage;
    friend class SendChunk;
    friend class RouteOffer;
    friend class DirectMessage;

    // In sending_direct.cpp:
    // `type` is the user's handle, by which the flattened type is remembered.
    void prepare_direct(ucd_type_t type);
    void introduce();
    bool ask_directly();
    void give_up_direct();
    void on_direct_message(const DirectMessage &message, ucs_status_t status);

    // In sending_ring.cpp:
    uint64_t ring_block_bytes() const;
    // Whether a peer's budget, if one applies, has room for a block of the ring.
    bool charge_ring_block(Charge &charge) const;
    void prepare_ring();
    void ask();
    void ask_for_route();
    void on_answer(ChunkRoute route, ucs_status_t status);
    // Packs a first chunk for the ring. Returns false if the transfer has failed.
    bool start_packing();
    bool advance_in_ring();
    void drop_packed();

    bool is_whole() const { return buffer_.bytes() <= eager_; }
    void set_limits(Matching matching);
    Status set_whole();
    SendArgs whole_message();
    void begin(MessageKind kind);
    void end_of_start();
    void on_sent(ucs_status_t status);
    // Ends the transfer with this status, once UCX has sent its messages. `withdraws`: tell the
    // receiver.
    void stop(ucs_status_t status, int ucd = UCD_SUCCESS, bool withdraws = true);
    void withdraw();
    void conclude();
    bool holds_memory() const;
    uint64_t chunk_bytes(uint64_t offset) const;
    void set_chunks();

    ucp_ep_h ep_ = nullptr;
    uint64_t eager_ = 0;
    uint64_t packed_from_ = 0; // messages of this size are packed before UCX gets them
    bool is_streamed_ = false; // UCX packs the chunks
    uint64_t since_ = 0;
    TypedBuffer buffer_;
    Frame frame_;
    StagingBlock packed_;   // a whole message that was packed in advance, behind space for a Header
    std::string am_header_; // a Header, and the user's header
    MessageHeader withdrawal_;
    ControlMessage opening_{*this}, offer_{*this}, withdrawal_message_{*this};
    std::list<SendChunk> chunks_; // the window; a list, so that addresses stay valid
    uint64_t next_ = 0;           // the first byte that is in no chunk yet
    uint64_t under_way_ = 0;      // the number of unfinished messages and chunks
    SendRoute route_ = SendRoute::host;
    std::list<RouteOffer> routes_;          // those offered
    std::unique_ptr<SendingDirect> direct_; // what is sent so that the receiver reads the data
    std::list<SendChunk> ring_chunks_;
    StagingBlock first_block_;      // the first block of the ring
    bool exposed_ = false;          // the receiver opens the buffer itself
    ucd_ipc_handle_t offered_ = {}; // the handle of the buffer, or of the first block
    SendState state_ = SendState::starting;
    ucs_status_t status_ = UCS_OK;
    int ucd_ = UCD_SUCCESS;
};

} // namespace ucd_ucx
