// One-sided messages that are one active message each: without a header for UCX, so that short ones
// take UCX's shortest way, and with the packed data behind the message.
#pragma once

#include "common/event_queue.h"
#include "common/ledger.h"
#include "datatype/typed_buffer.h"
#include "pipeline/pipeline.h"
#include "rma/rma_message.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>

namespace ucd_ucx::rma {

class DirectMessage;
class DirectMessages;

// For messages that carry no operation of this side.
inline constexpr uint32_t no_operation = UINT32_MAX;

// Whoever handles what comes, with the lock of one-sided operations.
class DirectHandler {
public:
    // Whether UCX's callback may be handled within it: nothing that came earlier waits, and nobody
    // is in the midst of something.
    virtual bool may_handle_now() = 0;
    virtual void take_message(DirectMessage &message) = 0;
    // For the rest of the message there was no memory.
    virtual void take_beginning(DirectMessage &message) = 0;
    virtual void take_old_request(ucp_ep_h ep, std::string_view refusal) = 0;
    // The message that carried operation `number` of this side was not sent.
    virtual void take_failure(ucp_ep_h ep, uint32_t number, ucs_status_t status) = 0;

protected:
    ~DirectHandler() = default;
};

// A message that has come: in memory that UCX gives for the length of its callback, or lets be
// held, or in a copy.
class DirectMessage final : public Event {
public:
    DirectMessage(DirectMessages &owner, ucp_ep_h from) : ep(from), owner_(owner) {}
    // In UCX's callback.
    DirectMessage(DirectMessages &owner, ucp_ep_h from, void *data, std::size_t bytes)
        : ep(from), owner_(owner), lent_(data), bytes_(bytes) {}
    ~DirectMessage();
    // A spare one, with room for so many bytes: for a message for which there is no memory.
    DirectMessage(DirectMessages &owner, std::size_t room);
    DirectMessage(const DirectMessage &) = delete;
    DirectMessage &operator=(const DirectMessage &) = delete;
    void on_complete(ucd_ucx_pipeline &) override; // and deletes it

    std::string_view text() const;
    // Another one that keeps the text, which this one has not any more. Memory that UCX lends is
    // held if `hold` is set, and then not released before UCX's callback returns; else copied.
    // Throws std::bad_alloc before anything has changed.
    std::unique_ptr<DirectMessage> take_over(bool hold);
    // The same into this one, a spare one: if it is not held, as much as there is room for.
    void take_from(DirectMessage &other, bool hold);
    // Another one, with a copy of that part of the text.
    std::unique_ptr<DirectMessage> copy_of(std::string_view part) const;

    ucp_ep_h ep;
    uint64_t since = 0;
    Charge charge;       // of a message that waits to be handled
    std::string refusal; // instead: what is to be sent to a peer of version 1

private:
    DirectMessages &owner_;
    void *lent_ = nullptr; // by UCX, for its callback
    void *held_ = nullptr; // UCX's, until it is released
    std::unique_ptr<char[]> copy_;
    std::size_t bytes_ = 0; // of the text; of a spare one at first, the room
    bool is_cut_ = false;   // only the beginning is here
};

class DirectMessages final : public DirectReceiver {
public:
    DirectMessages(DirectHandler &handler, EventQueue &events, Ledger &ledger);
    // Before the first message.
    void open(ucp_worker_h worker, unsigned am_id) {
        worker_ = worker;
        am_id_ = am_id;
        make_spare();
    }
    ~DirectMessages();
    // A new one, if the spare message was used.
    void make_spare();

    // Called by UCX.
    std::optional<ucs_status_t> take(std::string_view header, void *data, std::size_t bytes,
                                     const ucp_am_recv_param_t &param) override;

    // Sends a message and the packed data behind it, which it copies: nothing of the caller's is
    // used after the return. `number` is the operation to be told of if UCX fails to send it.
    // `charge` is held until it is sent; it is left to the caller if this fails for want of memory.
    // `contiguous` is the data, if it is one segment of the host's memory.
    Status send(ucp_ep_h ep, const Encoded &message, const Data &data, uint64_t data_bytes,
                uint32_t number, Charge &charge, const char *contiguous = nullptr);

    // Sends an answer like that. The first after a call of send_gathered is sent at once, so that
    // one alone does not wait; others, if they are short, together with those to the same endpoint
    // by the next call. Charges it for `use`; *refused: there is no room on the endpoint's account,
    // and nothing was done.
    Status gather(ucp_ep_h ep, const Encoded &answer, const Data &data, uint64_t data_bytes,
                  Use use, bool *refused);
    void send_gathered();
    void forget_gathered(ucp_ep_h ep);

    // Sends a message that is all header for UCX, as version 1 had them.
    Status send_as_header(ucp_ep_h ep, std::string_view message);

    // What a message of so many bytes takes until it is sent.
    static uint64_t bytes_of_message(std::size_t bytes);

    // Messages that UCX still has, or that are to be sent to it.
    std::size_t unsent() const { return unsent_ + gathered_.size(); }
    ucp_worker_h worker() const { return worker_; }
    DirectHandler &handler;
    EventQueue &events;

private:
    class SendOp;
    // Answers behind each other, as one message has them.
    struct Gathered {
        std::unique_ptr<SendOp> send_op;
        std::size_t bytes, answers;
    };
    ucs_status_t take(DirectMessage &message, bool may_be_held);
    std::unique_ptr<DirectMessage> kept(DirectMessage &message, bool may_be_held);
    std::unique_ptr<SendOp> take_send_op(std::size_t bytes);
    void give_back(std::unique_ptr<SendOp> send_op);

    Status fill(char *memory, const Encoded &message, const Data &data, uint64_t data_bytes,
                const char *contiguous);
    Gathered *gathered_for(ucp_ep_h ep, std::size_t bytes);
    bool start_gathering(ucp_ep_h ep, Gathered &gathered);
    Status send(Gathered &gathered);
    // Sends what is there: a header for UCX, and data.
    Status send(std::unique_ptr<SendOp> &send_op, ucp_ep_h ep, std::string_view header,
                std::string_view data);

    Ledger &ledger_;

    ucp_worker_h worker_ = nullptr;
    unsigned am_id_ = 0;
    std::atomic<DirectMessage *> spare_ = nullptr;
    std::vector<std::unique_ptr<SendOp>> idle_; // has the capacity for all
    std::vector<Gathered> gathered_;            // an endpoint each
    bool gathers_ = false;                      // one was sent at once
    std::size_t unsent_ = 0;
};

} // namespace ucd_ucx::rma
