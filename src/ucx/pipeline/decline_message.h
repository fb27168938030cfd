// The answer to an offer to read data where it is, if the receiver does not take it.
#pragma once

#include "engine/send_op.h"
#include "pipeline/recv_message.h"

namespace ucd_ucx {

// Tells the sender that the receiver waits for the data by another route. The sender's receipt
// stays, since dropping it says that the data is not needed any more.
class DeclineMessage final : public SendOp {
public:
    DeclineMessage(WorkerEngine &engine, RecvMessage &owner, Decline reason)
        : SendOp(engine), owner_(owner) {
        header_.kind = MessageKind::decline;
        header_.id = owner.id();
        header_.total = owner.total();
        header_.detail = static_cast<uint16_t>(reason);
    }
    void send() {
        send_am(owner_.ep(), UCP_AM_SEND_FLAG_EAGER,
                {.header = &header_, .header_bytes = sizeof header_});
    }
    void on_complete() override { owner_.on_declined(status_); }

private:
    RecvMessage &owner_;
    MessageHeader header_;
};

} // namespace ucd_ucx
