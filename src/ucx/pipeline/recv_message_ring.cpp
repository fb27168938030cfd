// The receiver's side of transfers through chunks in the sender's device memory. See
// docs/guide/gpu-ring.md.

#include "pipeline/receiving.h"
#include "pipeline/recv_message.h"

namespace ucd_ucx {

// The answer --------------------------------------------------------------

bool Receiving::joins_ring(ucd_ucx_pipeline &pipeline, const AmData &accept) const {
    if (!options_.ring || buffer_.device().empty()) return false;
    std::shared_ptr<const Mapping> mapping;
    const auto open = [&] {
        return pipeline.mappings.open(accept.ep, accept.place().handle, buffer_.device(), mapping);
    };
    return without_exceptions(open).ok();
}

Block Receiving::take_copy(ucd_ucx_pipeline &pipeline, uint64_t bytes) const {
    if (!options_.ring_copy || buffer_.device().empty() || buffer_.device_in_place() != nullptr)
        return {};
    // Without memory for a copy, chunks are unpacked from the sender's memory.
    Block block;
    (void)without_exceptions([&] {
        block = pipeline.chunks_of(buffer_.device()).take_shared(bytes, false);
        return success;
    });
    return block;
}

void RecvMessage::take_ring_offer(ucd_ucx_pipeline &pipeline, std::unique_ptr<AmData> ring_offer) {
    std::unique_ptr<AmData> &place =
        ring_offer->header.kind == Kind::ring_refuse ? refuse_ : accept_;
    if (place != nullptr || ended_) return;
    place = std::move(ring_offer);
    answer(pipeline);
}

// The offer that is completed first is the answer. Dropping an offer completes it, too, so the
// other one is kept until the sender is known to have the answer.
void RecvMessage::answer(ucd_ucx_pipeline &pipeline) {
    if (!claimed_ || answered_ || refuse_ == nullptr || accept_ == nullptr) return;
    answered_ = true;
    // To a transfer that will be dropped, the ring costs the sender least.
    if (receiving_ == nullptr || receiving_->has_failed()) return accept_.reset();
    fetch(pipeline, receiving_->joins_ring(pipeline, *accept_) ? accept_ : refuse_);
}

void RecvMessage::fetch(ucd_ucx_pipeline &pipeline, std::unique_ptr<AmData> &ring_offer) {
    if (ring_offer == nullptr) return;
    ++in_use_;
    ring_offer.release()->fetch(pipeline, *this);
}

void RecvMessage::fetch_ring_offers(ucd_ucx_pipeline &pipeline) {
    fetch(pipeline, refuse_);
    fetch(pipeline, accept_);
}

void RecvMessage::drop_ring_offers() {
    refuse_.reset();
    accept_.reset();
}

void AmData::fetch(ucd_ucx_pipeline &pipeline, RecvMessage &message) {
    message_ = &message;
    fetch_receipt(pipeline);
}

// Chunks --------------------------------------------------------------

void AmData::receive_from_ring(ucd_ucx_pipeline &pipeline) {
    const TypedBuffer &buffer = message_->receiving()->buffer();
    std::unique_ptr<AmData> self(this);
    if (buffer.device().empty()) // the ring was not offered
        return message_->settle(pipeline, std::move(self), UCS_ERR_INVALID_PARAM, UCD_SUCCESS);
    const RingPlace place = this->place();
    const auto open = [&] {
        return pipeline.mappings.open(ep, place.handle, buffer.device(), mapping_);
    };
    if (const Status opened = without_exceptions(open); !opened.ok())
        return message_->settle(pipeline, std::move(self), ucx_status_of(opened.code()),
                                opened.code());
    if (place.offset > mapping_->bytes() || place.bytes > mapping_->bytes() - place.offset)
        return message_->settle(pipeline, std::move(self), UCS_ERR_INVALID_PARAM, UCD_SUCCESS);
    (void)self.release(); // owned by the device or by UCX from now on
    pipeline.trace(UCD_UCX_EVENT__RECEIVED, header.id, header.offset, bytes);
    const char *from = mapping_->address() + place.offset;
    if (!block_) return unpack_from_ring(pipeline, from);
    copying_ = true;
    ++under_way_;
    await_device(pipeline, buffer.copy_near(from, block_.memory(), bytes, &moving));
}

void AmData::unpack_from_ring(ucd_ucx_pipeline &pipeline, const void *from) {
    const TypedBuffer &buffer = message_->receiving()->buffer();
    pipeline.trace(UCD_UCX_EVENT__UNPACK_BEGIN, header.id, header.offset, bytes);
    ++under_way_;
    await_device(pipeline, buffer.unpack_from_own_device(header.offset, from, bytes, &moving));
}

void AmData::await_device(ucd_ucx_pipeline &pipeline, Status started) {
    if (!started.ok()) return moved_in_ring(pipeline, started);
    pipeline.await(*this);
}

void AmData::moved_in_ring(ucd_ucx_pipeline &pipeline, Status status) {
    const bool copied = copying_;
    copying_ = false;
    if (!copied) pipeline.trace(UCD_UCX_EVENT__UNPACK_END, header.id, header.offset, bytes);
    if (!status.ok()) ucd_ = status.code();
    // The sender's memory is no longer needed. After a failure, dropping the receipt is enough.
    if (status.ok() && data_ != nullptr) fetch_receipt(pipeline);
    if (status.ok() && copied && !message_->receiving()->has_failed())
        unpack_from_ring(pipeline, block_.memory());
    settle_ring(pipeline);
}

// The end --------------------------------------------------------------

void AmData::fetch_receipt(ucd_ucx_pipeline &pipeline) {
    ++under_way_;
    ucp_request_param_t p = {};
    p.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    p.cb.recv_am = on_received;
    p.user_data = this;
    const ucs_status_ptr_t request = ucp_am_recv_data_nbx(
        pipeline.worker, std::exchange(data_, nullptr), &receipt_, sizeof receipt_, &p);
    if (UCS_PTR_IS_PTR(request)) return;
    status_ = UCS_PTR_STATUS(request);
    settle_ring(pipeline);
}

// One of the chunk's unfinished operations has ended.
void AmData::settle_ring(ucd_ucx_pipeline &pipeline) {
    if (--under_way_ > 0) return;
    if (is_ring() && ucd_ == UCD_SUCCESS && status_ == UCS_OK && receipt_ != receipt_of(header))
        status_ = UCS_ERR_CONNECTION_RESET; // the memory may have been reused while it was read
    message_->settle(pipeline, std::unique_ptr<AmData>(this),
                     ucd_ == UCD_SUCCESS ? status_ : ucx_status_of(ucd_), ucd_);
}

} // namespace ucd_ucx
