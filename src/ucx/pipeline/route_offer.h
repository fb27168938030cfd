// A sender's offer of one route to move the data of a transfer. The sender sends one for each
// route; the receiver answers by fetching the receipt of the one that it chooses.
#pragma once

#include "pipeline/sending.h"

namespace ucd_ucx {

class RouteOffer final : public SendOp {
public:
    RouteOffer(Sending &owner, ChunkRoute route)
        : SendOp(owner.transfers_.engine), owner_(owner), route_(route) {}
    // `offered` is the set of all routes.
    void send(uint8_t offered);
    void on_complete() override { owner_.on_answer(route_, status_); }
    ChunkRoute route() const { return route_; }

private:
    Sending &owner_;
    const ChunkRoute route_;
    RingHeader header_;
    Receipt receipt_ = 0;
};

} // namespace ucd_ucx
