// What a sender sends for a transfer whose receiver reads the data where it is.
#pragma once

#include "pipeline/sending.h"
#include "types/known_types.h"

#include <optional>

namespace ucd_ucx {

// An introduction, or an offer. The receipt waits here until the receiver has fetched or dropped
// it.
class DirectMessage final : public SendOp {
public:
    explicit DirectMessage(Sending &owner) : SendOp(owner.transfers_.engine), owner_(owner) {}
    void on_complete() override {
        receipt_ = 0; // the memory is not offered any more
        owner_.on_direct_message(*this, status_);
    }
    void send(ucp_ep_h ep, const void *header, std::size_t header_bytes, Receipt receipt) {
        receipt_ = receipt;
        send_am(ep, UCP_AM_SEND_FLAG_RNDV,
                {.header = header,
                 .header_bytes = header_bytes,
                 .data = &receipt_,
                 .count = sizeof receipt_});
    }

private:
    Sending &owner_;
    Receipt receipt_ = 0;
};

struct SendingDirect {
    explicit SendingDirect(Sending &owner)
        : introducing(owner), offering(owner), sending_type(owner) {}

    std::optional<Introduction> introduction;
    IntroductionHeader introduction_header;
    DirectMessage introducing;

    TypePtr type; // null: only the introduction is sent
    DirectHeader header;
    DirectMessage offering;

    MessageHeader type_header;
    ControlMessage sending_type;
};

} // namespace ucd_ucx
