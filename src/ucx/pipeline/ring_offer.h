// A sender's offer to send chunks in device memory. The sender sends two, one for each possible
// answer; the receiver answers by fetching the receipt of one of them.
#pragma once

#include "pipeline/sending.h"

namespace ucd_ucx {

class Sending::RingOffer final : public SendOp {
public:
    // The answer is `route` if this offer's receipt is fetched.
    RingOffer(Sending &owner, Route route) : owner_(owner), route_(route) {}
    void send(ucd_ucx_pipeline &pipeline, Kind kind, const RingPlace *place);
    void on_complete(ucd_ucx_pipeline &pipeline) override {
        owner_.on_answer(pipeline, route_, status_);
    }

private:
    Sending &owner_;
    const Route route_;
    RingHeader header_;
    Receipt receipt_ = 0;
};

} // namespace ucd_ucx
