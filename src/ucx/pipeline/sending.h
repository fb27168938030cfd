// A transfer at its sender.
#pragma once

#include "pipeline/framed.h"
#include "pipeline/routes.h"
#include "pipeline/transfer_message.h"
#include "pipeline/transfers.h"

#include <list>
#include <string>
#include <string_view>

namespace ucd_ucx {

class SendChunk;

class Sending final : public Transfer, public MessageOwner {
public:
    explicit Sending(Transfers &transfers);
    ~Sending() override;

    Status set(ucp_ep_h ep, const Data &data, const ucd_ucx_param_t *param, bool is_tagged,
               const TransferTerms &terms = {});

    // Send the first message; if the transfer takes more than one message, the chunks follow.
    void start_tagged(ucp_tag_t tag);
    void start_am(unsigned id, std::string_view header);

    // Sends one more chunk, if there is room for it.
    bool advance();
    void cancel() override;
    // Ends the transfer with this status, once UCX has sent its messages, and tells the receiver.
    void stop(ucs_status_t status, int ucd = UCD_SUCCESS) override { stop(status, ucd, true); }
    void on_endpoint_failed(ucp_ep_h ep, ucs_status_t status, uint64_t before);
    // If the peer behind `ep` has asked for the data: nothing more of it is sent.
    void on_barred(ucp_ep_h ep);
    void on_sent(TransferMessage &message, ucs_status_t status) override;
    // If it is the transfer with this id: the receiver waits for the data by another route.
    void on_declined(ucp_ep_h ep, const MessageId &id, Decline reason);
    // If it goes to `ep`: the process that was to read the data has ended.
    void on_link_ended(ucp_ep_h ep);
    // For a complete transfer: why it could not be started.
    Status start_status() const;

private:
    enum class SendState : uint8_t {
        starting, // its first messages are being sent, and it cannot end yet
        asking,   // the receiver is being asked whether it takes the route
        sending,
        stopping, // it has failed, and waits for messages that UCX is still sending
    };
    friend class SendChunk;

    void choose_route(bool is_tagged, ucd_type_t type, bool *is_packed);
    void set_chunks(uint64_t bytes);
    Status set_whole(bool is_packed);
    Status set_window();
    // Messages are made before the transfer starts, because later steps must not fail.
    TransferMessage &add_message(MessageKind kind);
    TransferMessage *find_message(MessageKind kind);
    // Prepares a message to be sent now.
    TransferMessage &use(TransferMessage &message);
    // Sends the first messages; `send` sends the opening.
    template <class Send>
    void start(MessageKind kind, Send &&send);
    SendArgs whole_message();
    // Asks the receiver, if the route needs its consent.
    void ask();
    // A packed chunk of the ring is not sent yet.
    bool holds_back() const {
        return state_ == SendState::starting || state_ == SendState::asking || takes_turns_;
    }
    // One of the messages and chunks under way is complete.
    void end_message(ucs_status_t status);
    void stop(ucs_status_t status, int ucd, bool withdraws); // `withdraws`: tell the receiver
    void conclude();
    uint64_t chunk_bytes(uint64_t offset) const;
    SendChunk *find_free_chunk();
    bool take_block(StagingBlock &block);

    // In sending_direct.cpp:
    // `type` is the user's handle, by which the flattened type is remembered.
    bool prepare_direct(ucd_type_t type);
    bool find_memory(DirectPlace &place) const;
    bool share(Link &to_reader, DirectPlace &place);
    void offer_directly();
    void give_up_direct();
    void on_read(ucs_status_t status);

    // In sending_ring.cpp:
    DeviceChunks &device_chunks() { return transfers_.engine.chunks_of(buffer_.device()); }
    uint64_t ring_block_bytes() const;
    bool prepare_ring();
    void offer_routes();
    void on_answer(ChunkRoute route, ucs_status_t status);
    void lengthen_turn();
    void end_turn();
    void drop_packed();

    ucp_ep_h ep_ = nullptr;
    uint64_t since_ = 0;
    TypedBuffer buffer_;
    TransferRoute route_ = TransferRoute::whole;      // the receiver may decline it
    TransferRoute in_chunks_ = TransferRoute::pieces; // the route that it cannot decline
    SendState state_ = SendState::starting;
    TransferMessage opening_;
    FramedRange frame_;                   // a whole message, if UCX packs it
    StagingBlock packed_;                 // or packed in advance, behind space for a header
    std::string am_header_;               // a header, and the user's header
    std::list<TransferMessage> messages_; // all but the opening
    std::list<SendChunk> chunks_;         // the window; a list, so that addresses stay valid
    uint64_t next_ = 0;                   // the first byte that is in no chunk yet
    uint64_t under_way_ = 0;              // the number of unfinished messages and chunks
    TypePtr type_;                        // that an offer to read the data names
    StagingBlock first_block_;            // the first block of the ring
    // The offer of the buffer itself, which then takes the place of the ring; null: there is none.
    TransferMessage *exposed_ = nullptr;
    bool takes_turns_ = false; // with the receiver, on one device
};

} // namespace ucd_ucx
