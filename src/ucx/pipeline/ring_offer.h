// A sender's offer to send chunks in device memory. The sender sends two, one for each possible
// answer; the receiver answers by fetching the receipt of one of them.
#pragma once

#include "pipeline/sending.h"

namespace ucd_ucx {

class RingOffer final : public SendOp {
public:
    // The answer is `route` if this offer's receipt is fetched.
    RingOffer(Sending &owner, Sending::Route route)
        : SendOp(owner.transfers_.engine), owner_(owner), route_(route) {}
    void send(Kind kind, const RingPlace *place);
    void on_complete() override { owner_.on_answer(route_, status_); }

private:
    Sending &owner_;
    const Sending::Route route_;
    RingHeader header_;
    Receipt receipt_ = 0;
};

} // namespace ucd_ucx
