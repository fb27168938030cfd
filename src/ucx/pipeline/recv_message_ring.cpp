// The receiver's side of transfers through chunks in the sender's device memory. See
// docs/guide/gpu-ring.md.

#include "pipeline/receiving.h"
#include "pipeline/recv_message.h"
#include "pipeline/transfers.h"

namespace ucd_ucx {

// The answer --------------------------------------------------------------

bool Receiving::joins_ring(const RecvPart &accept) const {
    if (!options_.ring || buffer_.device().empty()) return false;
    std::shared_ptr<const Mapping> mapping;
    const auto open = [&] {
        return transfers_.mappings.open(accept.ep(), accept.place().handle, buffer_.device(),
                                        mapping);
    };
    return without_exceptions(open).ok();
}

void RecvMessage::take_route(std::unique_ptr<RecvPart> route) {
    offer_of(route->header.route()) = std::move(route);
    answer();
}

bool RecvMessage::has_answered() const {
    if (!state_.all_routes_came()) return false;
    for (std::size_t i = 0; i < max_routes; ++i)
        if (state_.has_come(static_cast<ChunkRoute>(i)) && routes_[i] == nullptr) return true;
    return false;
}

// The offer that is completed first is the answer. Dropping an offer completes it, too, so the
// others are kept until the sender is known to have the answer.
void RecvMessage::answer() {
    answer_direct();
    if (!state_.is_claimed() || !state_.all_routes_came() || has_answered()) return;
    std::unique_ptr<RecvPart> &ring = offer_of(ChunkRoute::ring),
                              &host = offer_of(ChunkRoute::host);
    // To a transfer that will be dropped, the ring costs the sender least.
    if (receiving_ == nullptr || receiving_->has_failed())
        return ring != nullptr ? ring.reset() : host.reset();
    fetch(ring != nullptr && receiving_->joins_ring(*ring) ? ring : host);
}

void RecvMessage::fetch(std::unique_ptr<RecvPart> &route) {
    if (route == nullptr) return;
    ++in_use_;
    route.release()->fetch(*this);
}

void RecvMessage::fetch_routes() {
    for (std::unique_ptr<RecvPart> &route : routes_) fetch(route);
}

void RecvMessage::drop_routes() {
    for (std::unique_ptr<RecvPart> &route : routes_) route.reset();
    direct_.reset();
}

void RecvPart::fetch(RecvMessage &message) {
    message_ = &message;
    fetch_receipt();
}

// Chunks --------------------------------------------------------------

void RecvPart::receive_from_ring() {
    const TypedBuffer &buffer = message_->receiving()->buffer();
    std::unique_ptr<RecvPart> self(this);
    if (buffer.device().empty()) // the ring was not offered
        return message_->settle(std::move(self), UCS_ERR_INVALID_PARAM, UCD_SUCCESS);
    const RingPlace place = this->place();
    const auto open = [&] {
        return transfers_.mappings.open(ep(), place.handle, buffer.device(), mapping_);
    };
    if (const Status opened = without_exceptions(open); !opened.ok())
        return message_->settle(std::move(self), ucx_status_of(opened.code()), opened.code());
    if (place.offset > mapping_->bytes() || place.bytes > mapping_->bytes() - place.offset)
        return message_->settle(std::move(self), UCS_ERR_INVALID_PARAM, UCD_SUCCESS);
    (void)self.release(); // owned by the device or by UCX from now on
    transfers_.trace(UCD_UCX_EVENT__RECEIVED, header.id, header.offset, bytes);
    state_ = PartState::unpacking;
    transfers_.trace(UCD_UCX_EVENT__UNPACK_BEGIN, header.id, header.offset, bytes);
    ++under_way_;
    const Status started = buffer.unpack(header.offset, mapping_->address() + place.offset, bytes,
                                         &moving, PackedPlace::own_device);
    if (!started.ok()) return moved_in_ring(started);
    transfers_.engine.await(*this);
}

void RecvPart::moved_in_ring(Status status) {
    transfers_.trace(UCD_UCX_EVENT__UNPACK_END, header.id, header.offset, bytes);
    if (!status.ok()) ucd_ = status.code();
    // The sender's memory is no longer needed. After a failure, dropping the receipt is enough.
    if (status.ok() && am_data_->has_handle()) fetch_receipt();
    settle_ring();
}

// The end --------------------------------------------------------------

void RecvPart::fetch_receipt() {
    ++under_way_;
    ucp_request_param_t p = {};
    p.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    p.cb.recv_am = on_received;
    p.user_data = this;
    const ucs_status_ptr_t request = ucp_am_recv_data_nbx(
        transfers_.engine.worker(), am_data_->take_handle(), &receipt_, sizeof receipt_, &p);
    if (UCS_PTR_IS_PTR(request)) return;
    status_ = UCS_PTR_STATUS(request);
    settle_ring();
}

// One of the chunk's unfinished operations has ended.
void RecvPart::settle_ring() {
    if (--under_way_ > 0) return;
    const Receipt expected = is_route() ? 0 : receipt_of(header);
    if (ucd_ == UCD_SUCCESS && status_ == UCS_OK && receipt_ != expected)
        status_ = UCS_ERR_CONNECTION_RESET; // the memory may have been reused while it was read
    message_->settle(std::unique_ptr<RecvPart>(this),
                     ucd_ == UCD_SUCCESS ? status_ : ucx_status_of(ucd_), ucd_);
}

} // namespace ucd_ucx
