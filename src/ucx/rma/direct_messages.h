// One-sided messages that fit one active message. They have no UCX header, so that UCX sends short
// ones on its fastest path; the packed data follows the message.
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

// For messages that do not belong to an operation of this side.
inline constexpr uint32_t no_operation = UINT32_MAX;

// Handles the messages that arrive. The lock of one-sided operations is held.
class DirectHandler {
public:
    // Whether a message may be handled within UCX's callback: no earlier message waits, and no
    // other message is being handled.
    virtual bool may_handle_now() = 0;
    virtual void take_message(DirectMessage &message) = 0;
    // For a message whose end was lost because there was no memory for it.
    virtual void take_beginning(DirectMessage &message) = 0;
    virtual void take_old_request(ucp_ep_h ep, std::string_view refusal) = 0;
    // The message of operation `number` of this side could not be sent.
    virtual void take_failure(ucp_ep_h ep, uint32_t number, ucs_status_t status) = 0;

protected:
    ~DirectHandler() = default;
};

// A message that has arrived. Its data is in memory of UCX that is valid during the callback only,
// in memory of UCX that is held for longer, or in a copy.
class DirectMessage final : public Event {
public:
    DirectMessage(DirectMessages &owner, ucp_ep_h from) : ep(from), owner_(owner) {}
    // For use in UCX's callback.
    DirectMessage(DirectMessages &owner, ucp_ep_h from, void *data, std::size_t bytes)
        : ep(from), owner_(owner), lent_(data), bytes_(bytes) {}
    ~DirectMessage();
    // A spare message with room for `room` bytes, for a message that arrives when there is no
    // memory.
    DirectMessage(DirectMessages &owner, std::size_t room);
    DirectMessage(const DirectMessage &) = delete;
    DirectMessage &operator=(const DirectMessage &) = delete;
    void on_complete(ucd_ucx_pipeline &) override; // also deletes this object

    std::string_view text() const;
    // Moves the text to a new object. With `hold`, it takes over UCX's memory, which it does not
    // release before UCX's callback returns; otherwise it copies the text. If it throws
    // std::bad_alloc, nothing has changed.
    std::unique_ptr<DirectMessage> take_over(bool hold);
    // Same, but moves the text to this spare message. A copy is cut to the room of the spare
    // message.
    void take_from(DirectMessage &other, bool hold);
    // A new message with a copy of a part of the text.
    std::unique_ptr<DirectMessage> copy_of(std::string_view part) const;

    ucp_ep_h ep;
    uint64_t since = 0;
    Charge charge;       // for a message that waits to be handled
    std::string refusal; // instead of a text: the answer to a peer of version 1

private:
    DirectMessages &owner_;
    void *lent_ = nullptr; // lent by UCX for its callback
    void *held_ = nullptr; // UCX's memory, to be released
    std::unique_ptr<char[]> copy_;
    std::size_t bytes_ = 0; // size of the text; for an unused spare message, its room
    bool is_cut_ = false;   // only the beginning of the text is here
};

class DirectMessages final : public DirectReceiver {
public:
    DirectMessages(DirectHandler &handler, EventQueue &events, Ledger &ledger);
    // Called before the first message arrives.
    void open(ucp_worker_h worker, unsigned am_id) {
        worker_ = worker;
        am_id_ = am_id;
        make_spare();
    }
    ~DirectMessages();
    // Makes a new spare message if the last one was used.
    void make_spare();

    // UCX's callback calls this.
    std::optional<ucs_status_t> take(std::string_view header, void *data, std::size_t bytes,
                                     const ucp_am_recv_param_t &param) override;

    // Sends a message with packed data behind it. Both are copied, so nothing of the caller's is
    // used after the return. `number` is the operation that is notified if UCX fails to send.
    // `charge` is held until the message is sent, and stays with the caller if there is no memory.
    // If the data is one segment of host memory, `contiguous` is its address.
    Status send(ucp_ep_h ep, const Encoded &message, const Data &data, uint64_t data_bytes,
                uint32_t number, Charge &charge, const char *contiguous = nullptr);

    // Sends an answer in the same way. The first answer after a call of send_gathered is sent at
    // once, so that a single answer has no delay. Further short answers to the same endpoint are
    // gathered, and the next call of send_gathered sends them as one message. Charges the answer
    // for `use`; if the endpoint's account has no room, sets *refused and does nothing else.
    Status gather(ucp_ep_h ep, const Encoded &answer, const Data &data, uint64_t data_bytes,
                  Use use, bool *refused);
    void send_gathered();
    void forget_gathered(ucp_ep_h ep);

    // Sends a message as a UCX header without data, which was the format of version 1.
    Status send_as_header(ucp_ep_h ep, std::string_view message);

    // The memory that a message of this size takes until it is sent.
    static uint64_t bytes_of_message(std::size_t bytes);

    // The number of messages that are not sent yet.
    std::size_t unsent() const { return unsent_ + gathered_.size(); }
    ucp_worker_h worker() const { return worker_; }
    DirectHandler &handler;
    EventQueue &events;

private:
    class SendOp;
    // Answers to one endpoint, to be sent as one message.
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
    // Sends the message of *send_op: a header for UCX, and data.
    Status send(std::unique_ptr<SendOp> &send_op, ucp_ep_h ep, std::string_view header,
                std::string_view data);

    Ledger &ledger_;

    ucp_worker_h worker_ = nullptr;
    unsigned am_id_ = 0;
    std::atomic<DirectMessage *> spare_ = nullptr;
    std::vector<std::unique_ptr<SendOp>> idle_; // has the capacity for all, so that giving back
                                                // never allocates
    std::vector<Gathered> gathered_;            // one for each endpoint
    bool gathers_ = false;                      // an answer was sent since send_gathered
    std::size_t unsent_ = 0;
};

} // namespace ucd_ucx::rma
