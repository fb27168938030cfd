// A message of several chunks, or a user's active message, at its receiver: what has come of it,
// and what becomes of that.
#pragma once

#include "message.h"
#include "pipeline.h"

#include <memory>
#include <string>

namespace ucd_ucx {

// An active message that has come, with or without data.
class Arrival final : public Event, public Chunk {
public:
    // Called by UCX; argument is the pipeline.
    static ucs_status_t on_arrival(void *argument, const void *header, std::size_t header_bytes,
                                   void *data, std::size_t bytes, const ucp_am_recv_param_t *param);
    ~Arrival();

    void happen(ucd_ucx_pipeline &pipeline) override;
    void moved(ucd_ucx_pipeline &pipeline, Status status) override;
    bool is_ring() const { return header.kind == Kind::ring_chunk; }
    // Of a ring_refuse or ring_accept: this is what the sender learns.
    void fetch(ucd_ucx_pipeline &pipeline, Incoming &message);

    // Brings the data to where it belongs, by `block` if that is not empty.
    void receive(ucd_ucx_pipeline &pipeline, Incoming &message, Block block);
    bool is_here() const { return !rendezvous_; } // no receive is needed
    const void *data() const { return data_; }
    bool holds_memory() const { return static_cast<bool>(block_); }

    Header header;
    std::string user_header;
    uint64_t bytes = 0; // of the transfer
    RingPlace place;
    ucp_ep_h reply_ep = nullptr;
    uint64_t since = 0; // when it came; see ucd_ucx_pipeline::now

private:
    enum class Stage : uint8_t { new_one, on_its_way };
    static void on_received(void *request, ucs_status_t status, std::size_t, void *arrival);
    void take_in(ucd_ucx_pipeline &pipeline);
    void received(ucd_ucx_pipeline &pipeline);
    void unpack(ucd_ucx_pipeline &pipeline, const void *from);
    void drop_data();

    // incoming_ring.cpp
    void receive_from_ring(ucd_ucx_pipeline &pipeline);
    void unpack_from_ring(ucd_ucx_pipeline &pipeline, const void *from);
    void await_device(ucd_ucx_pipeline &pipeline, Status started);
    void moved_in_ring(ucd_ucx_pipeline &pipeline, Status status);
    void fetch_receipt(ucd_ucx_pipeline &pipeline);
    void settle_ring(ucd_ucx_pipeline &pipeline);

    ucd_ucx_pipeline *pipeline_ = nullptr;
    Stage stage_ = Stage::new_one;
    void *data_ = nullptr; // UCX's, until it is received or released
    std::size_t data_bytes_ = 0;
    bool rendezvous_ = false;
    ucs_status_t status_ = UCS_OK;
    Incoming *message_ = nullptr;
    Block block_;
    // Of the ring:
    std::shared_ptr<const Mapping> mapping_;
    Receipt receipt_ = 0;
    unsigned under_way_ = 0; // the device's work, and the receipt
    bool copying_ = false;
    int ucd_ = UCD_SUCCESS;
};

// Held by the pipeline until all of it was received or dropped, and whoever it is for knows of it.
class Incoming {
public:
    explicit Incoming(const MessageId &id) : id_(id) {}
    ~Incoming() { drop_waiting(); }
    Incoming(const Incoming &) = delete;
    Incoming &operator=(const Incoming &) = delete;

    Incoming *next = nullptr; // in a queue
    const MessageId &id() const { return id_; }
    uint64_t total() const { return total_; }
    ucp_ep_h reply_ep() const { return ep_; }
    const Header &header() const { return header_; }
    const std::string &user_header() const { return user_header_; }

    // What a message says of itself, whichever part of it comes first.
    void learn(const Arrival &arrival);
    // It is a user's, who is to be told.
    void deliver(ucd_ucx_pipeline &pipeline, Arrival &arrival);
    bool is_delivered() const { return delivered_; }
    void add(ucd_ucx_pipeline &pipeline, std::unique_ptr<Arrival> arrival);
    void take_ticket(ucd_ucx_pipeline &pipeline, std::unique_ptr<Arrival> ticket);
    // No more will come.
    void end(ucd_ucx_pipeline &pipeline, ucs_status_t status);
    void lose(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, ucs_status_t status, uint64_t before);

    // It is for this transfer; or for nobody.
    void match(ucd_ucx_pipeline &pipeline, Receiving &receiving, uint64_t total);
    void drop(ucd_ucx_pipeline &pipeline);
    // Its bytes, if UCX has brought all of them already.
    const void *all_here() const;
    // The transfer that it was for has ended, or is to end: what is left of it is dropped.
    void abandon(ucd_ucx_pipeline &pipeline);

    // Starts as many receives as there is room for.
    void advance(ucd_ucx_pipeline &pipeline);
    Receiving *receiving() const { return receiving_; }
    unsigned in_use() const { return in_use_; }
    // A chunk is done with.
    void settle(ucd_ucx_pipeline &pipeline, std::unique_ptr<Arrival> arrival, ucs_status_t status,
                int ucd);

private:
    void drop_waiting();
    bool fits(const Arrival &arrival) const;
    bool find_room(ucd_ucx_pipeline &pipeline, const Arrival &arrival, Block &block);
    void conclude(ucd_ucx_pipeline &pipeline);
    void answer(ucd_ucx_pipeline &pipeline);
    void fetch(ucd_ucx_pipeline &pipeline, std::unique_ptr<Arrival> &ticket);
    void end_tickets(ucd_ucx_pipeline &pipeline);
    void drop_tickets();

    const MessageId id_;
    Header header_;
    std::string user_header_;
    ucp_ep_h ep_ = nullptr;
    uint64_t since_ = 0;
    uint64_t total_ = UINT64_MAX; // until it is known
    uint64_t settled_ = 0;        // bytes received or dropped
    Arrival &first_waiting() const { return static_cast<Arrival &>(waiting_.front()); }
    Queue<Event> waiting_;                     // arrivals of its own
    std::unique_ptr<Arrival> refuse_, accept_; // one of them is to be fetched, once it is matched
    bool answered_ = false;
    unsigned in_use_ = 0, blocks_ = 0; // chunks on their way, and those that hold memory
    bool matched_ = false;             // or dropped: the user knows
    bool delivered_ = false;           // or about to be
    bool ended_ = false;
    ucs_status_t status_ = UCS_OK; // with which it ended
    Receiving *receiving_ = nullptr;
};

} // namespace ucd_ucx
