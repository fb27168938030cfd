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

// For messages that do not belong to an operation of this side.
inline constexpr uint32_t no_operation = UINT32_MAX;

// The caller holds the engine's lock.
class ShortMessages {
public:
    explicit ShortMessages(OneSided &rma);
    ~ShortMessages();
    ShortMessages(const ShortMessages &) = delete;
    ShortMessages &operator=(const ShortMessages &) = delete;

    // Sends a message with packed data behind it. Both are copied, so nothing of the caller's is
    // used after the return. `number` is the operation that is notified if UCX fails to send.
    // `charge` is held until the message is sent, and stays with the caller if there is no memory.
    // If the data is one segment of host memory, `contiguous` is its address.
    Status send(ucp_ep_h ep, const Encoded &message, const Data &data, uint64_t data_bytes,
                uint32_t number, Charge &charge, const char *contiguous = nullptr);

    // Send a request, a type or an answer in the same way. The first one after a call of
    // send_gathered is sent at once, so that a single one has no delay. Further short ones to the
    // same endpoint are gathered, and the next call of send_gathered sends them as one message.
    // Nothing is charged for requests and types, because the user asked for the operation. Charges
    // the answer for `use`; if the endpoint's account has no room, sets *refused and does nothing
    // else.
    Status gather_request(ucp_ep_h ep, const Encoded &message, const Data &data,
                          uint64_t data_bytes, uint32_t number, const char *contiguous);
    Status gather_answer(ucp_ep_h ep, const Encoded &answer, const Data &data, uint64_t data_bytes,
                         LedgerUse use, bool *refused);
    void send_gathered() {
        gathers_ = false;
        if (!gathered_.empty()) send_all_gathered();
    }
    // The endpoint has failed: nothing is sent to it any more.
    void forget_gathered(ucp_ep_h ep);

    // The memory that a message of this size takes until it is sent.
    static uint64_t bytes_of_message(std::size_t bytes);

    // The number of messages that are not sent yet.
    std::size_t unsent() const { return unsent_ + gathered_.size(); }
    // UCX is done with a message that it was sending.
    void sent(std::unique_ptr<ShortMessage> message, ucs_status_t status);

private:
    // Messages to one endpoint, to be sent as one.
    struct Gathered {
        std::unique_ptr<ShortMessage> message;
        std::size_t bytes, parts;
    };
    std::unique_ptr<ShortMessage> take(std::size_t bytes);
    void give_back(std::unique_ptr<ShortMessage> message);

    Status fill(char *memory, const Encoded &message, const Data &data, uint64_t data_bytes,
                const char *contiguous);
    void send_all_gathered();
    Gathered *gathered_for(ucp_ep_h ep, std::size_t bytes, bool is_charged);
    bool start_gathering(ucp_ep_h ep, bool is_charged, Gathered &gathered);
    static std::string_view parts_of(const Gathered &gathered);
    bool charge(ShortMessage &message);
    Status add(Gathered &gathered, const Encoded &part, const Data &data, uint64_t data_bytes,
               const char *contiguous);
    Status send(Gathered &gathered);
    void fail_operations(std::string_view parts, ucp_ep_h ep, ucs_status_t status);
    Status send(std::unique_ptr<ShortMessage> &message, ucp_ep_h ep, std::string_view data);

    OneSided &rma_;
    std::vector<std::unique_ptr<ShortMessage>> idle_; // has the capacity for all, so that giving
                                                      // back never allocates
    std::vector<Gathered> gathered_;                  // one for each endpoint
    bool gathers_ = false;                            // a message was sent since send_gathered
    std::size_t unsent_ = 0;
};

} // namespace ucd_ucx::rma
