// At the receiver, a message of several chunks or a user's active message: which parts have
// arrived, and how they are received or dropped.
#pragma once

#include "common/ledger.h"
#include "common/queue.h"
#include "engine/request.h"
#include "pipeline/message.h"
#include "pipeline/recv_part.h"
#include "pipeline/transfer_message.h"
#include "pipeline/transfer_state.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace ucd_ucx {

class Receiving;

// The message table owns it until all of it was received or dropped and its receive has ended.
// TransferState decides which messages may change it.
class RecvMessage final : public Notice, public MessageOwner {
public:
    RecvMessage(Transfers &transfers, const MessageId &id, uint64_t total);
    ~RecvMessage();
    RecvMessage(const RecvMessage &) = delete;
    RecvMessage &operator=(const RecvMessage &) = delete;

    // Passes a user's message to the user's handler; drops it, if that was taken away meanwhile,
    // perhaps by a callback just before.
    void tell() override;
    void let_go() override {} // the message table has it

    Charge charge; // of the message itself, on its endpoint's account
    static const uint64_t bytes_of_entry;
    const MessageId &id() const { return id_; }
    uint64_t total() const { return state_.total(); }
    ucp_ep_h ep() const { return ep_; } // null: only an opening has arrived
    uint64_t since() const { return since_; }
    const MessageHeader &header() const { return header_; }
    std::string_view user_header() const {
        return std::string_view(announcement_).substr(sizeof(MessageHeader));
    }

    // Used by the message table:
    void bind(ucp_ep_h ep, uint64_t since);
    // The message had a receive, which has ended.
    bool is_over() const { return state_.is_discarding() && receiving_ == nullptr; }
    bool open(uint64_t total) { return state_.open(total) == Admission::accept; }

    // For an active message of this transfer. `admit` decides what to do with it; if that throws
    // std::bad_alloc, nothing has changed. `take` then does it.
    Admission admit(const RecvPart &part);
    void take(std::unique_ptr<RecvPart> part, Admission admission);
    // No more messages of this transfer will arrive.
    void end(ucs_status_t status);
    // As `end`; and no opening can arrive either, since the message table answers openings from now
    // on.
    void on_endpoint_failed(ucs_status_t status);

    // A receive takes the message.
    void match(Receiving &receiving);
    // The user does not want the message; or its receive has ended, or is going to: drops the rest.
    void abandon();
    // If the endpoint has failed, and it is not the message's turn yet to end for that: ends it.
    void notice_failure();

    // Starts receiving as many chunks as the receive's depth allows.
    void advance();
    Receiving *receiving() const { return receiving_; }
    unsigned in_use() const { return in_use_; }
    // See Family.
    void on_link_ended(bool is_process);
    void on_sent(TransferMessage &decline, ucs_status_t status) override;
    // A chunk has been received or dropped.
    void settle(std::unique_ptr<RecvPart> part, ucs_status_t status, int ucd);

private:
    void announce(RecvPart &part);
    // Keeps the charge for the parts of `part` that the message takes over before `part` is
    // deleted.
    void keep_charge(RecvPart &part);
    // There is no memory for a part of this many bytes: the receive fails, and the rest is dropped.
    void lose_part(uint64_t bytes);
    // Has `part` received or answered, which ends with `settle`.
    void start(std::unique_ptr<RecvPart> part, StagingBlock block = {});
    void take_direct(std::unique_ptr<RecvPart> offer);
    void answer_direct();
    void decline(Decline reason);
    void drop_waiting();
    bool is_finished() const { return settled_ == state_.total(); }
    std::unique_ptr<RecvPart> &offer_of(ChunkRoute route) {
        return routes_[static_cast<std::size_t>(route)];
    }
    // A receive has it, and has not failed.
    bool is_receiving() const;
    bool find_room(RecvPart &part, StagingBlock &block);
    void conclude();
    void answer();
    void fetch(std::unique_ptr<RecvPart> &route);

    Transfers &transfers_;
    const MessageId id_;
    TransferState state_;
    MessageHeader header_;
    std::string announcement_; // the headers of a user's message
    ucp_ep_h ep_ = nullptr;
    uint64_t since_ = 0;
    uint64_t settled_ = 0; // bytes received or dropped
    RecvPart &first_waiting() const { return static_cast<RecvPart &>(waiting_.front()); }
    Queue<Event> waiting_;                                     // chunks of this transfer, owned
    uint64_t waiting_bytes_ = 0;                               // of these
    std::array<std::unique_ptr<RecvPart>, max_routes> routes_; // those offered
    // One was chosen, and the sender knows or will know which: UCX completes its offer.
    bool is_answered_ = false;
    // An offer to read the data where it is: until it is taken, or, after a decline, until the
    // sender's next message shows that it has the decline.
    std::unique_ptr<RecvPart> direct_;
    std::unique_ptr<TransferMessage> decline_; // sent
    bool is_genuine_ = false;                  // it comes from the owner of the memory
    bool reads_directly_ = false;              // it was taken: the data is being read
    // Chunks in progress, for which the receive stays, and how many of them hold memory.
    unsigned in_use_ = 0, blocks_ = 0;
    // Not UCS_OK: its sender has ended it, or a part was lost. A receive that takes it fails.
    ucs_status_t status_ = UCS_OK;
    int ucd_ = UCD_SUCCESS;
    Receiving *receiving_ = nullptr;
};

} // namespace ucd_ucx
