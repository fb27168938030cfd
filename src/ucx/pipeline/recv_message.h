// A message of several chunks, or a user's active message, at its receiver: what has come of it,
// and what becomes of that.
#pragma once

#include "pipeline/message.h"
#include "pipeline/pipeline.h"
#include "pipeline/transfer_state.h"

#include <memory>
#include <string>
#include <string_view>

namespace ucd_ucx {

// An active message that has come, with or without data.
class AmData final : public Event, public DeviceWork {
public:
    // Called by UCX; argument is the pipeline.
    static ucs_status_t on_am(void *argument, const void *header, std::size_t header_bytes,
                              void *data, std::size_t bytes, const ucp_am_recv_param_t *param);
    ~AmData();

    void on_complete(ucd_ucx_pipeline &pipeline) override;
    void moved(ucd_ucx_pipeline &pipeline, Status status) override;
    bool is_ring() const { return header.kind == Kind::ring_chunk; }
    bool is_ring_offer() const {
        return header.kind == Kind::ring_accept || header.kind == Kind::ring_refuse;
    }
    RingPlace place() const; // of a ring_accept or ring_chunk
    // Answers a ring offer: the sender learns that its receipt was fetched.
    void fetch(ucd_ucx_pipeline &pipeline, RecvMessage &message);

    // Brings the data to where it belongs, by `block` if that is not empty.
    void receive(ucd_ucx_pipeline &pipeline, RecvMessage &message, Block block);
    bool is_here() const { return !rendezvous_; } // no receive is needed
    bool holds_memory() const { return static_cast<bool>(block_); }
    // It came with data that there was no memory for.
    bool has_lost_data() const { return lost_data_; }

    Header header;
    std::string user_header; // or a RingPlace
    uint64_t bytes = 0;      // of the transfer
    ucp_ep_h ep = nullptr;   // that it came from
    uint64_t since = 0;      // when it came; see EventQueue::now
    Charge charge;           // on the account of whom it came from

private:
    enum class Stage : uint8_t { new_one, on_its_way };
    static void on_received(void *request, ucs_status_t status, std::size_t length, void *am_data);
    // From the spare one, if there is no memory. Null: there is no spare one either.
    static std::unique_ptr<AmData> made(ucd_ucx_pipeline &pipeline, std::string_view user_header);
    // Whether it may be kept.
    static bool take_charge(ucd_ucx_pipeline &pipeline, const ucp_am_recv_param_t &param,
                            std::size_t header_bytes, std::size_t data_bytes, Charge &charge);
    void take_in(ucd_ucx_pipeline &pipeline);
    RecvMessage *find_message(ucd_ucx_pipeline &pipeline, ucs_status_t failed) const;
    void received(ucd_ucx_pipeline &pipeline);
    void unpack(ucd_ucx_pipeline &pipeline, const void *from);
    void unpack_for_peer(ucd_ucx_pipeline &pipeline);
    void keep(void *data, std::size_t bytes, bool may_be_held);
    void drop_data();

    // recv_message_ring.cpp
    void receive_from_ring(ucd_ucx_pipeline &pipeline);
    void unpack_from_ring(ucd_ucx_pipeline &pipeline, const void *from);
    void await_device(ucd_ucx_pipeline &pipeline, Status started);
    void moved_in_ring(ucd_ucx_pipeline &pipeline, Status status);
    void fetch_receipt(ucd_ucx_pipeline &pipeline);
    void settle_ring(ucd_ucx_pipeline &pipeline);

    ucd_ucx_pipeline *pipeline_ = nullptr;
    Stage stage_ = Stage::new_one;
    void *data_ = nullptr;         // UCX's, until it is received or released; or the copy
    std::unique_ptr<char[]> copy_; // of what UCX does not let be held
    std::size_t data_bytes_ = 0;
    bool rendezvous_ = false, lost_data_ = false;
    ucs_status_t status_ = UCS_OK;
    RecvMessage *message_ = nullptr;
    Block block_;
    // Of what a peer asked for: where the data is that is being unpacked, and how far that is.
    const char *unpacking_ = nullptr;
    uint64_t unpacked_ = 0;
    // Of the ring:
    std::shared_ptr<const Mapping> mapping_;
    Receipt receipt_ = 0;
    unsigned under_way_ = 0; // the device's work, and the receipt
    bool copying_ = false;
    int ucd_ = UCD_SUCCESS;
};

// Owned by the message table until all of it was received or dropped and its receive has ended.
// TransferState decides which messages may change it.
class RecvMessage {
public:
    RecvMessage(const MessageId &id, uint64_t total) : id_(id), state_(total) {}
    ~RecvMessage() { drop_waiting(); }
    RecvMessage(const RecvMessage &) = delete;
    RecvMessage &operator=(const RecvMessage &) = delete;

    RecvMessage *next = nullptr; // in a queue
    Charge charge;               // of the message itself, on its endpoint's account
    static const uint64_t bytes_of_entry;
    const MessageId &id() const { return id_; }
    uint64_t total() const { return state_.total(); }
    ucp_ep_h ep() const { return ep_; } // null: only an opening has come
    uint64_t since() const { return since_; }
    const Header &header() const { return header_; }
    const std::string &user_header() const { return user_header_; }

    // For the message table.
    void bind(ucp_ep_h ep, uint64_t since);
    // A receive had it, and has ended.
    bool is_over() const { return claimed_ && receiving_ == nullptr; }
    bool open(uint64_t total) { return state_.open(total) == Admission::accept; }

    // An active message of it has come. `admit` throws std::bad_alloc before anything has become of
    // it; then it is taken.
    Admission admit(const AmData &am_data);
    void take(ucd_ucx_pipeline &pipeline, std::unique_ptr<AmData> am_data, Admission admission);
    // No more will come.
    void end(ucd_ucx_pipeline &pipeline, ucs_status_t status);
    // Neither will what opens it, which the message table answers from now on.
    void on_endpoint_failed(ucd_ucx_pipeline &pipeline, ucs_status_t status);

    // A receive takes it; or it is dropped.
    void match(ucd_ucx_pipeline &pipeline, Receiving &receiving);
    void drop(ucd_ucx_pipeline &pipeline);
    // The transfer that it was for has ended, or is to end: what is left of it is dropped.
    void abandon(ucd_ucx_pipeline &pipeline);

    // Starts as many receives as there is room for.
    void advance(ucd_ucx_pipeline &pipeline);
    Receiving *receiving() const { return receiving_; }
    unsigned in_use() const { return in_use_; }
    // A chunk is done with.
    void settle(ucd_ucx_pipeline &pipeline, std::unique_ptr<AmData> am_data, ucs_status_t status,
                int ucd);

private:
    void announce(ucd_ucx_pipeline &pipeline, AmData &am_data);
    // What the message keeps of one that goes has to stay charged.
    void keep_charge(AmData &am_data);
    // There is no memory for a part of so many bytes: its receive fails, and the rest is dropped.
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
    Queue<Event> waiting_;                    // active messages of its own
    std::unique_ptr<AmData> refuse_, accept_; // one of them is to be fetched, once it is matched
    bool answered_ = false;
    unsigned in_use_ = 0, blocks_ = 0; // chunks on their way, and those that hold memory
    bool claimed_ = false;             // a receive, or the user, has decided what becomes of it
    bool ended_ = false, endpoint_failed_ = false;
    bool kept_for_late_ = false;
    bool has_lost_ = false;        // a part of it
    ucs_status_t status_ = UCS_OK; // with which it ended
    Receiving *receiving_ = nullptr;
};

} // namespace ucd_ucx
