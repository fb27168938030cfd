// The family of transfers: tagged messages and users' active messages, as one message or in chunks.
#pragma once

#include "common/generic_datatype.h"
#include "direct/mappings.h"
#include "engine/engine.h"
#include "pipeline/message.h"
#include "pipeline/message_table.h"
#include "pipeline/routes.h"
#include "types/known_types.h"

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ucd_ucx {

class Receiving;
class RecvMessage;
class RecvPart;
class Sending;

// Who started a transfer, if it was not the user.
class TransferOwner {
public:
    // The transfer has ended, and is deleted after this.
    virtual void transfer_ended(const ucd_ucx_request &transfer, const Result &result) = 0;

protected:
    ~TransferOwner() = default;
};

// Terms of a transfer that users cannot set.
struct TransferTerms {
    uint64_t granule = 1; // bytes; the sender splits chunks at multiples of it
    // The peer that asked for the transfer: chunks wait until its account has room, and until it
    // may cause work in a call of progress. Null if the user asked for the transfer.
    ucp_ep_h account = nullptr;
    TransferOwner *owner = nullptr;
};

// Who gets the active messages with the library's own id, instead of the user's handler.
class MessageReceiver {
public:
    // Receives the message or drops it, now or later.
    virtual void take_message(RecvMessage &message) = 0;

protected:
    ~MessageReceiver() = default;
};

// The memory that a transfer uses, without its chunks.
constexpr uint64_t bytes_of_transfer(const TransferOptions &options) {
    return (2 << 10) + 512 * options.depth_or(TransferOptions::usual_depth);
}

// The caller holds the engine's lock.
class Transfers final : public Family {
public:
    explicit Transfers(WorkerEngine &engine);
    ~Transfers();
    Transfers(const Transfers &) = delete;
    Transfers &operator=(const Transfers &) = delete;
    Status open();

    // Start transfers. *transfer is null if a send is complete already; the owner of the terms is
    // then not called.
    Status send_tagged(ucp_ep_h ep, const Data &data, ucp_tag_t tag, const ucd_ucx_param_t *param,
                       ucd_ucx_request_t *transfer);
    // An active message, as ucd_ucx_am_send_nbx defines it.
    Status send_active(ucp_ep_h ep, unsigned id, std::string_view header, const Data &data,
                       const ucd_ucx_param_t *param, const TransferTerms &terms,
                       ucd_ucx_request_t *transfer);
    Status receive_tagged(const Data &to, ucp_tag_t tag, ucp_tag_t mask,
                          const ucd_ucx_param_t *param, ucd_ucx_request_t *transfer);
    // If the op is not REPLACE, chunks must consist of whole elements.
    Status receive_active(RecvMessage &message, const Data &to, ucd_op_t op,
                          const ucd_ucx_param_t *param, const TransferTerms &terms,
                          ucd_ucx_request_t *transfer);
    // The id of active messages that carry long one-sided messages. Users' ids begin at 1.
    static constexpr unsigned own_id = 0;
    // From now on, active messages with that id go to `receiver`.
    void pass_messages_to(MessageReceiver &receiver) { receiver_ = &receiver; }
    // The longest header of an active message.
    std::size_t max_user_header() const;
    // The number of transfers that are not complete.
    std::size_t outstanding() const;

    // The functions of a family:
    void take(std::unique_ptr<AmData> am_data) override;
    void on_endpoint_failed(const EndpointFailure &failure) override;
    void on_barred(ucp_ep_h ep) override;
    void on_link_ended(ucp_ep_h ep, bool is_process) override;
    bool advance() override;

    // For use by transfers:
    MessageId next_id(ucp_ep_h ep);
    void trace(int what, const MessageId &id, uint64_t offset, uint64_t bytes) const {
        if (engine.params.trace == nullptr) return;
        const ucd_ucx_event_t event = {what, id.stream, id.number, offset, bytes};
        engine.params.trace(&event, engine.params.trace_arg);
    }
    // Inline, so that the compiler does not copy the result through memory.
    void finish(ucd_ucx_request &transfer, const Result &result) {
        transfer.complete(result);
        if (transfer.handed_out) finished_.push(transfer);
    }
    // A user's message has been announced.
    void deliver(RecvMessage &message);
    // Frees the chunks in this call of progress and in later ones.
    void drop(Queue<Event> &chunks) { dropped_.splice(chunks); }
    // If the message's endpoint has failed, and the message has not ended yet: the status.
    ucs_status_t failure_of(const RecvMessage &message) const;

    WorkerEngine &engine;
    Mappings mappings;
    // Of data that one side reads where it is: each travels once to an endpoint, and then its
    // content id names it.
    TypesOfOrigin types_to_send;
    TypesOfTarget types_of_peers; // also those of one-sided operations, which have the same limit
    MessageTable messages;
    // See framed.h. Shared with receives that UCX still has when the pipeline ends.
    const std::shared_ptr<GenericDatatype> framed = std::make_shared<GenericDatatype>();

private:
    // Takes a message that is about direct transfers, but of none that arrives here. Returns false
    // for others.
    bool take_about_direct(const RecvPart &part, ucs_status_t failed);
    void end_stream(uint64_t stream, ucs_status_t status);
    void end_messages(const EndpointFailure &failure);
    bool end_some();
    bool free_dropped(uint64_t most);
    template <class Start>
    Status start_send(ucp_ep_h ep, const Data &data, const ucd_ucx_param_t *param, bool is_tagged,
                      const TransferTerms &terms, ucd_ucx_request_t *transfer, Start &&start);
    template <class Start>
    Status start_receive(const Data &to, ucd_op_t op, const ucd_ucx_param_t *param,
                         const TransferTerms &terms, ucd_ucx_request_t *transfer, Start &&start);
    void pass_on() noexcept;

    MessageReceiver *receiver_ = nullptr;
    uint64_t number_ = 0;
    std::unordered_map<ucp_ep_h, uint64_t> streams_; // of sent transfers, by endpoint
    // Transfers that have been started and whose end has not been passed on.
    std::vector<Sending *> sendings_;
    std::vector<Receiving *> receivings_;
    Queue<Notice> finished_, delivered_;
    // Endpoints that have failed or are barred, whose messages end in many calls of progress.
    struct Ending {
        ucs_status_t status = UCS_OK;
        uint64_t before = 0;           // messages that came later are those of a new endpoint
        std::optional<MessageId> last; // the last one that has ended
    };
    std::unordered_map<ucp_ep_h, Ending> ending_;
    Queue<Event> dropped_;
    // The limit on messages that end, and on chunks that are freed, in one call of progress.
    static constexpr uint64_t ends_of_call = 2048;
    uint64_t ends_left_ = ends_of_call;
};

// The common base of a transfer at its sender and at its receiver.
class Transfer : public ucd_ucx_request {
public:
    // Null if the user started it.
    TransferOwner *owner() const { return terms_.owner; }

protected:
    explicit Transfer(Transfers &transfers) : transfers_(transfers) {}
    // Ends it with this status, as soon as nothing of it is in progress.
    virtual void stop(ucs_status_t status, int ucd) = 0;
    // Ends it if nothing has moved from or to the endpoint for longer than its time limit.
    void check_time(ucp_ep_h ep) {
        if (is_overdue_ || !has_timed_out()) return;
        stop(UCS_ERR_TIMED_OUT, UCD_SUCCESS);
        is_overdue_ = true;
        // UCX cannot cancel what it sends or writes, so the buffer is still in use.
        if (!is_complete()) transfers_.engine.report_unresponsive(ep);
    }

    Transfers &transfers_;
    TransferTerms terms_;
    ucs_status_t status_ = UCS_OK; // how it ends
    int ucd_ = UCD_SUCCESS;

private:
    bool is_overdue_ = false; // it has failed by its time limit, and the user has been told
};

} // namespace ucd_ucx
