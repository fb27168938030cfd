#include "pipeline/recv_part.h"

#include "common/byte_ranges.h"
#include "pipeline/receiving.h"
#include "pipeline/recv_message.h"
#include "pipeline/transfers.h"

#include <cstring>
#include <utility>

namespace ucd_ucx {

// What the charge of an active message has to cover: this object, and the range that may have to be
// remembered once the data is here.
static_assert(sizeof(RecvPart) + ByteRanges::bytes_of_range <= AmData::bytes_for_family);

std::unique_ptr<RecvPart> RecvPart::make(Transfers &transfers, std::unique_ptr<AmData> &am_data) {
    const std::string_view text = am_data->header();
    MessageHeader h;
    if (text.size() < sizeof h) return nullptr;
    std::memcpy(&h, text.data(), sizeof h);
    if (!h.is_good() || h.user_header != text.size() - sizeof h || h.user_header != h.following())
        return nullptr;
    return std::make_unique<RecvPart>(transfers, h, std::move(am_data));
}

RecvPart::RecvPart(Transfers &transfers, const MessageHeader &h, std::unique_ptr<AmData> am_data)
    : header(h), transfers_(transfers), am_data_(std::move(am_data)) {
    if (!has_receipt()) {
        bytes = am_data_->data_bytes();
        return;
    }
    bytes = is_ring() ? place().bytes : 0;
    if (am_data_->data_bytes() != sizeof(Receipt)) am_data_->drop_data();
}

void RecvPart::on_complete() {
    if (state_ == PartState::copying_direct)
        copy_direct();
    else if (has_receipt())
        settle_ring();
    else if (state_ == PartState::unpacking)
        unpack_for_peer();
    else
        received();
}

void RecvPart::receive(RecvMessage &message, StagingBlock block) {
    message_ = &message;
    block_ = std::move(block);
    if (is_ring()) return receive_from_ring();
    if (is_here()) return unpack(am_data_->data().data());
    const TypedBuffer &buffer = message.receiving()->buffer();
    const bool is_streamed = range_.buffer != nullptr;
    void *to = &range_;
    if (!is_streamed) to = block_ ? block_.memory() : buffer.in_place() + header.offset;
    ucp_request_param_t p = {};
    p.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE;
    p.datatype = is_streamed ? transfers_.stream_range.handle() : ucp_dt_make_contig(1);
    p.cb.recv_am = on_received;
    p.user_data = this;
    const ucs_status_ptr_t request = ucp_am_recv_data_nbx(
        transfers_.engine.worker(), am_data_->take_handle(), to, is_streamed ? 1 : bytes, &p);
    if (UCS_PTR_IS_PTR(request)) return;
    status_ = UCS_PTR_STATUS(request);
    received();
}

void RecvPart::on_received(void *request, ucs_status_t status, std::size_t length, void *argument) {
    auto *part = static_cast<RecvPart *>(argument);
    ucp_request_free(request);
    const std::size_t expected = part->has_receipt() ? sizeof part->receipt_ : part->bytes;
    part->status_ = status == UCS_OK && length != expected ? UCS_ERR_INVALID_PARAM : status;
    part->transfers_.engine.events.put(*part);
}

void RecvPart::received() {
    transfers_.trace(UCD_UCX_EVENT__RECEIVED, header.id, header.offset, bytes);
    if (status_ == UCS_OK && block_) return unpack(block_.memory());
    if (status_ == UCS_OK && range_.failure != UCD_SUCCESS)
        return message_->settle(std::unique_ptr<RecvPart>(this), ucx_status_of(range_.failure),
                                range_.failure);
    message_->settle(std::unique_ptr<RecvPart>(this), status_, UCD_SUCCESS);
}

void RecvPart::unpack(const void *from) {
    state_ = PartState::unpacking;
    const Receiving &receiving = *message_->receiving();
    if (receiving.has_failed())
        return message_->settle(std::unique_ptr<RecvPart>(this), UCS_OK, UCD_SUCCESS);
    transfers_.trace(UCD_UCX_EVENT__UNPACK_BEGIN, header.id, header.offset, bytes);
    if (receiving.account() != nullptr && receiving.buffer().on_host()) {
        unpacking_ = static_cast<const char *>(from);
        return unpack_for_peer();
    }
    const Status status = receiving.buffer().unpack(header.offset, from, bytes, &moving);
    if (!status.ok()) return moved(status);
    transfers_.engine.await(*this);
}

// Unpacks in pieces, as long as the peer may cause work in this call of progress.
void RecvPart::unpack_for_peer() {
    const Receiving &receiving = *message_->receiving();
    const TypedBuffer &buffer = receiving.buffer();
    Ledger &ledger = transfers_.engine.ledger;
    while (unpacked_ < bytes && !receiving.has_failed()) {
        if (!ledger.may_work(receiving.account())) return transfers_.engine.events.put(*this);
        const uint64_t piece =
            piece_of(bytes - unpacked_, buffer.steps(bytes - unpacked_), receiving.granule());
        const Status status =
            buffer.unpack(header.offset + unpacked_, unpacking_ + unpacked_, piece, nullptr);
        if (!status.ok()) return moved(status);
        ledger.note_work(receiving.account(), buffer.steps(piece));
        unpacked_ += piece;
    }
    moved(success);
}

void RecvPart::moved(Status status) {
    if (is_ring()) return moved_in_ring(status);
    if (is_direct()) return moved_directly(status);
    transfers_.trace(UCD_UCX_EVENT__UNPACK_END, header.id, header.offset, bytes);
    message_->settle(std::unique_ptr<RecvPart>(this), ucx_status_of(status.code()), status.code());
}

} // namespace ucd_ucx
