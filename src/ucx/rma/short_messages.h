// Sends one-sided messages that fit one active message. They have no UCX header, so that UCX sends
// short ones on its fastest path; the packed data follows the message.
#pragma once

#include "common/ledger.h"
#include "datatype/typed_buffer.h"
#include "engine/send_op.h"
#include "rma/rma_message.h"

#include <memory>
#include <vector>

namespace ucd_ucx::rma {

class OneSided;
class ShortMessage;

// A message with packed data behind it.
struct ShortContent {
    const Encoded &message;
    const Data &data = {};
    uint64_t data_bytes = 0;
    const char *contiguous = nullptr; // the data's address, if it is one segment of host memory
    std::size_t bytes() const { return message.size() + data_bytes; }
};

// The caller holds the engine's lock.
class ShortMessages {
public:
    explicit ShortMessages(OneSided &rma);
    ~ShortMessages();
    ShortMessages(const ShortMessages &) = delete;
    ShortMessages &operator=(const ShortMessages &) = delete;

    // Send a message. All of the content is copied. The first request, type or answer after a call
    // of send_gathered is sent at once, so that a single one has no delay. Further short ones to
    // the same endpoint are gathered, and the next call of send_gathered sends them as one message.
    // Operations of this side are notified if UCX fails to send later.

    // Nothing is charged for requests and types, because the user asked for the operation.
    Status send_request(ucp_ep_h ep, const ShortContent &content);
    // Charges the message for `use`. If the endpoint's account has no room, sets *refused and does
    // nothing else. `alone`: is not gathered.
    Status send_answer(ucp_ep_h ep, const ShortContent &content, LedgerUse use, bool *refused,
                       bool alone = false);
    // What send_answer charges for a message of this size that is not gathered.
    static uint64_t charge_of(std::size_t bytes);
    void send_gathered() {
        gathers_ = false;
        if (!gathered_.empty()) send_all_gathered();
    }
    // The endpoint has failed: nothing is sent to it any more.
    void forget_gathered(ucp_ep_h ep);

    // The number of messages that are not sent yet.
    std::size_t unsent() const { return unsent_ + gathered_.size(); }
    // UCX is done with a message that it was sending.
    void sent(std::unique_ptr<ShortMessage> message, ucs_status_t status);

private:
    Status send(ucp_ep_h ep, const ShortContent &content, Charge charge);
    std::unique_ptr<ShortMessage> take(ucp_ep_h ep, std::size_t bytes);
    void give_back(std::unique_ptr<ShortMessage> message);
    ShortMessage *gathered_for(ucp_ep_h ep, std::size_t bytes, bool is_charged);
    void send_all_gathered();
    Status start(std::unique_ptr<ShortMessage> &message, bool has_begun);

    OneSided &rma_;
    std::vector<std::unique_ptr<ShortMessage>> idle_; // has the capacity for all, so that giving
                                                      // back never allocates
    std::vector<std::unique_ptr<ShortMessage>> gathered_; // one for each endpoint
    bool gathers_ = false;                                // a message was sent since send_gathered
    std::size_t unsent_ = 0;
};

} // namespace ucd_ucx::rma
