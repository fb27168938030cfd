// At the receiver, a message of several chunks or a user's active message: which parts have
// arrived, and how they are received or dropped.
#pragma once

#include "pipeline/message.h"
#include "pipeline/pipeline.h"
#include "pipeline/transfer_state.h"

#include <memory>
#include <string>
#include <string_view>

namespace ucd_ucx {

// An active message that has arrived, with or without data.
class AmData final : public Event, public DeviceWork {
public:
    // Called by UCX; `argument` is the pipeline.
    static ucs_status_t on_am(void *argument, const void *header, std::size_t header_bytes,
                              void *data, std::size_t bytes, const ucp_am_recv_param_t *param);
    ~AmData();

    void on_complete(ucd_ucx_pipeline &pipeline) override;
    void moved(ucd_ucx_pipeline &pipeline, Status status) override;
    bool is_ring() const { return header.kind == Kind::ring_chunk; }
    bool is_ring_offer() const {
        return header.kind == Kind::ring_accept || header.kind == Kind::ring_refuse;
    }
    RingPlace place() const; // only for ring_accept and ring_chunk
    // Answers a ring offer: UCX tells the sender that its receipt was fetched.
    void fetch(ucd_ucx_pipeline &pipeline, RecvMessage &message);

    // Receives the data into the receive buffer; through `block`, if that is not empty.
    void receive(ucd_ucx_pipeline &pipeline, RecvMessage &message, Block block);
    bool is_here() const { return !rendezvous_; } // the data has arrived with the message
    bool holds_memory() const { return static_cast<bool>(block_); }
    // The data of this message was lost, because there was no memory for it.
    bool has_lost_data() const { return lost_data_; }

    Header header;
    std::string user_header; // or a RingPlace
    uint64_t bytes = 0;      // bytes of the packed stream in this message
    ucp_ep_h ep = nullptr;   // the sender's endpoint
    uint64_t since = 0;      // time of arrival; see EventQueue::now
    Charge charge;           // on the sender's account

private:
    enum class Stage : uint8_t { new_one, on_its_way };
    static void on_received(void *request, ucs_status_t status, std::size_t length, void *am_data);
    // Returns a new object, or the spare one if there is no memory. Null if there is no spare one
    // either.
    static std::unique_ptr<AmData> made(ucd_ucx_pipeline &pipeline, std::string_view user_header);
    // Takes the charge for the message. Returns whether the message may be kept.
    static bool take_charge(ucd_ucx_pipeline &pipeline, const ucp_am_recv_param_t &param,
                            std::size_t header_bytes, std::size_t data_bytes, Charge &charge);
    void take_in(ucd_ucx_pipeline &pipeline);
    RecvMessage *find_message(ucd_ucx_pipeline &pipeline, ucs_status_t failed) const;
    void received(ucd_ucx_pipeline &pipeline);
    void unpack(ucd_ucx_pipeline &pipeline, const void *from);
    void unpack_for_peer(ucd_ucx_pipeline &pipeline);
    void keep(void *data, std::size_t bytes, bool may_be_held);
    void drop_data();

    // In recv_message_ring.cpp:
    void receive_from_ring(ucd_ucx_pipeline &pipeline);
    void unpack_from_ring(ucd_ucx_pipeline &pipeline, const void *from);
    void await_device(ucd_ucx_pipeline &pipeline, Status started);
    void moved_in_ring(ucd_ucx_pipeline &pipeline, Status status);
    void fetch_receipt(ucd_ucx_pipeline &pipeline);
    void settle_ring(ucd_ucx_pipeline &pipeline);

    ucd_ucx_pipeline *pipeline_ = nullptr;
    Stage stage_ = Stage::new_one;
    void *data_ = nullptr;         // owned by UCX until it is received or released; or points to
                                   // copy_
    std::unique_ptr<char[]> copy_; // a copy of data that UCX lends only to its callback
    std::size_t data_bytes_ = 0;
    bool rendezvous_ = false, lost_data_ = false;
    ucs_status_t status_ = UCS_OK;
    RecvMessage *message_ = nullptr;
    Block block_;
    // For data that a peer asked for: the packed data, and the number of bytes unpacked so far.
    const char *unpacking_ = nullptr;
    uint64_t unpacked_ = 0;
    // For chunks of the ring:
    std::shared_ptr<const Mapping> mapping_;
    Receipt receipt_ = 0;
    unsigned under_way_ = 0; // the number of unfinished operations of device and UCX
    bool copying_ = false;
    int ucd_ = UCD_SUCCESS;
};

// The message table owns it until all of it was received or dropped and its receive has ended.
// TransferState decides which messages may change it.
class RecvMessage {
public:
    RecvMessage(const MessageId &id, uint64_t total) : id_(id), state_(total) {}
    ~RecvMessage() { drop_waiting(); }
    RecvMessage(const RecvMessage &) = delete;
    RecvMessage &operator=(const RecvMessage &) = delete;

    RecvMessage *next = nullptr; // link of a queue
    Charge charge;               // of the message itself, on its endpoint's account
    static const uint64_t bytes_of_entry;
    const MessageId &id() const { return id_; }
    uint64_t total() const { return state_.total(); }
    ucp_ep_h ep() const { return ep_; } // null: only an opening has arrived
    uint64_t since() const { return since_; }
    const Header &header() const { return header_; }
    const std::string &user_header() const { return user_header_; }

    // Used by the message table:
    void bind(ucp_ep_h ep, uint64_t since);
    // The message had a receive, which has ended.
    bool is_over() const { return claimed_ && receiving_ == nullptr; }
    bool open(uint64_t total) { return state_.open(total) == Admission::accept; }

    // For an active message of this transfer. `admit` decides what to do with it; if that throws
    // std::bad_alloc, nothing has changed. `take` then does it.
    Admission admit(const AmData &am_data);
    void take(ucd_ucx_pipeline &pipeline, std::unique_ptr<AmData> am_data, Admission admission);
    // No more messages of this transfer will arrive.
    void end(ucd_ucx_pipeline &pipeline, ucs_status_t status);
    // As `end`; and no opening can arrive either, since the message table answers openings from now
    // on.
    void on_endpoint_failed(ucd_ucx_pipeline &pipeline, ucs_status_t status);

    // A receive takes the message, or the user drops it.
    void match(ucd_ucx_pipeline &pipeline, Receiving &receiving);
    void drop(ucd_ucx_pipeline &pipeline);
    // The receive has ended or is going to end: drops the rest of the message.
    void abandon(ucd_ucx_pipeline &pipeline);

    // Starts receiving as many chunks as the receive's depth allows.
    void advance(ucd_ucx_pipeline &pipeline);
    Receiving *receiving() const { return receiving_; }
    unsigned in_use() const { return in_use_; }
    // A chunk has been received or dropped.
    void settle(ucd_ucx_pipeline &pipeline, std::unique_ptr<AmData> am_data, ucs_status_t status,
                int ucd);

private:
    void announce(ucd_ucx_pipeline &pipeline, AmData &am_data);
    // Keeps the charge for the parts of `am_data` that the message takes over before `am_data` is
    // deleted.
    void keep_charge(AmData &am_data);
    // There is no memory for a part of this many bytes: the receive fails, and the rest is dropped.
    void fail_without_memory(ucd_ucx_pipeline &pipeline, uint64_t bytes);
    void add(ucd_ucx_pipeline &pipeline, std::unique_ptr<AmData> am_data);
    void take_ring_offer(ucd_ucx_pipeline &pipeline, std::unique_ptr<AmData> ring_offer);
    void drop_waiting();
    bool is_finished() const { return settled_ == state_.total(); }
    bool find_room(ucd_ucx_pipeline &pipeline, const AmData &am_data, Block &block);
    void conclude(ucd_ucx_pipeline &pipeline);
    void answer(ucd_ucx_pipeline &pipeline);
    void fetch(ucd_ucx_pipeline &pipeline, std::unique_ptr<AmData> &ring_offer);
    void fetch_ring_offers(ucd_ucx_pipeline &pipeline);
    void drop_ring_offers();

    const MessageId id_;
    TransferState state_;
    Header header_;
    std::string user_header_;
    ucp_ep_h ep_ = nullptr;
    uint64_t since_ = 0;
    uint64_t settled_ = 0; // bytes received or dropped
    AmData &first_waiting() const { return static_cast<AmData &>(waiting_.front()); }
    Queue<Event> waiting_;                    // active messages of this transfer, owned
    std::unique_ptr<AmData> refuse_, accept_; // after the match, one of them is fetched
    bool answered_ = false;
    unsigned in_use_ = 0, blocks_ = 0; // chunks in progress, and how many of them hold memory
    bool claimed_ = false;             // a receive or the user has decided how the message ends
    bool ended_ = false, endpoint_failed_ = false;
    bool kept_for_late_ = false;
    bool has_lost_ = false;        // a part of the message
    ucs_status_t status_ = UCS_OK; // the status with which it ended
    Receiving *receiving_ = nullptr;
};

} // namespace ucd_ucx
