// A message of a transfer that UCX is sending.
#pragma once

#include "engine/send_op.h"
#include "pipeline/message.h"

#include <array>
#include <cstring>

namespace ucd_ucx {

class TransferMessage;

// A transfer, at its sender or at its receiver.
class MessageOwner {
public:
    // UCX has sent the message: if that was by rendezvous, the receiver has fetched or dropped it.
    virtual void on_sent(TransferMessage &message, ucs_status_t status) = 0;

protected:
    ~MessageOwner() = default;
};

// A header, and what follows it: as many bytes as MessageHeader::following says.
struct LongHeader : MessageHeader {
    std::array<char, sizeof(DirectPlace)> following;
};
static_assert(sizeof(LongHeader) == sizeof(MessageHeader) + sizeof(DirectPlace));

// The header, and for some kinds a receipt. Both stay here until UCX has sent the message.
class TransferMessage : public SendOp {
public:
    TransferMessage(WorkerEngine &engine, MessageOwner &owner, MessageKind kind)
        : SendOp(engine), owner_(owner) {
        header.kind = kind;
    }
    void on_complete() final {
        receipt_ = 0; // invalidates it before the memory that it is about is reused
        owner_.on_sent(*this, status_);
    }

    LongHeader header;
    template <class T>
    void set_following(const T &value) {
        static_assert(sizeof value <= sizeof header.following);
        header.user_header = sizeof value;
        std::memcpy(header.following.data(), static_cast<const void *>(&value), sizeof value);
    }
    template <class T>
    T following() const {
        T value;
        std::memcpy(static_cast<void *>(&value), header.following.data(), sizeof value);
        return value;
    }

    // Sends it, with data: at once, or by rendezvous, for which the data waits here.
    void send(ucp_ep_h ep, SendArgs args = {},
              ucp_send_am_flags protocol = UCP_AM_SEND_FLAG_EAGER) {
        args.header = &header;
        args.header_bytes = sizeof(MessageHeader) + header.user_header;
        send_am(ep, protocol, args);
    }
    // The receipt waits here until the receiver fetches or drops it.
    void ask(ucp_ep_h ep, Receipt receipt) {
        receipt_ = receipt;
        send(ep, {.data = &receipt_, .count = sizeof receipt_}, UCP_AM_SEND_FLAG_RNDV);
    }

private:
    MessageOwner &owner_;
    Receipt receipt_ = 0;
};

} // namespace ucd_ucx
