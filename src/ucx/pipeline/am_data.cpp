#include "pipeline/receiving.h"
#include "pipeline/recv_message.h"

#include <cstring>
#include <memory>
#include <new>
#include <optional>

namespace ucd_ucx {
namespace {

// Receives and discards data, and deletes itself.
class Unwanted {
public:
    // Returns false if there is no memory for it.
    static bool receive(ucd_ucx_pipeline &pipeline, void *data, std::size_t bytes) {
        std::unique_ptr<Unwanted> self(new (std::nothrow) Unwanted(bytes));
        if (self == nullptr || self->memory_ == nullptr) return false;
        ucp_request_param_t p = {};
        p.op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
        p.cb.recv_am = on_received;
        p.user_data = self.get();
        const ucs_status_ptr_t request =
            ucp_am_recv_data_nbx(pipeline.worker, data, self->memory_.get(), bytes, &p);
        if (UCS_PTR_IS_PTR(request)) (void)self.release();
        return true;
    }

private:
    explicit Unwanted(std::size_t bytes) : memory_(new (std::nothrow) char[bytes]) {}
    static void on_received(void *request, ucs_status_t, std::size_t, void *unwanted) {
        ucp_request_free(request);
        delete static_cast<Unwanted *>(unwanted);
    }
    const std::unique_ptr<char[]> memory_;
};

} // namespace

ucs_status_t AmData::on_am(void *argument, const void *header, std::size_t header_bytes, void *data,
                           std::size_t bytes, const ucp_am_recv_param_t *param) {
    auto *pipeline = static_cast<ucd_ucx_pipeline *>(argument);
    // A message without an endpoint cannot be charged to a peer.
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) == 0 || param->reply_ep == nullptr)
        return UCS_OK;
    if (pipeline->direct != nullptr) {
        const std::optional<ucs_status_t> taken = pipeline->direct->take(
            {static_cast<const char *>(header), header_bytes}, data, bytes, *param);
        if (taken) return *taken;
    }
    Header h;
    if (header_bytes < sizeof h) return UCS_OK;
    std::memcpy(&h, header, sizeof h);
    if (h.magic != Header::expected_magic || h.kind > last_kind ||
        h.user_header != header_bytes - sizeof h)
        return UCS_OK; // not a message of a pipeline
    const bool placed = h.kind == Kind::ring_accept || h.kind == Kind::ring_chunk;
    if (placed && h.user_header != sizeof(RingPlace)) return UCS_OK;
    Charge charge;
    if (!take_charge(*pipeline, *param, header_bytes, bytes, charge)) return UCS_OK;
    std::unique_ptr<AmData> am_data =
        made(*pipeline, {static_cast<const char *>(header) + sizeof h, h.user_header});
    if (am_data == nullptr)
        // For a rendezvous, UCX reports the error to the sender. For other messages, UCX accepts no
        // error.
        return (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 ? UCS_ERR_NO_MEMORY : UCS_OK;
    am_data->header = h;
    am_data->charge = std::move(charge);
    const bool ring = placed || h.kind == Kind::ring_refuse;
    am_data->bytes = !ring ? bytes : am_data->is_ring() ? am_data->place().bytes : 0;
    am_data->pipeline_ = pipeline;
    const bool fits = !ring || bytes == sizeof(Receipt); // if not, the data is dropped
    am_data->rendezvous_ = fits && (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    am_data->ep = param->reply_ep;
    const bool may_be_held =
        am_data->rendezvous_ || (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
    const bool held = fits && bytes > 0 && may_be_held;
    if (fits && bytes > 0) am_data->keep(data, bytes, may_be_held);
    AmData &put = *am_data.release();
    pipeline->events.put(put, put.since);
    return held ? UCS_INPROGRESS : UCS_OK;
}

// Includes the descriptor that UCX needs for a rendezvous with our header, and the additional range
// that may have to be remembered once the data is here. If there is no memory for an account, the
// message is not charged, and neither is the spare message.
bool AmData::take_charge(ucd_ucx_pipeline &pipeline, const ucp_am_recv_param_t &param,
                         std::size_t header_bytes, std::size_t data_bytes, Charge &charge) {
    constexpr uint64_t descriptor = 256;
    const bool rendezvous = (param.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    const uint64_t bytes = sizeof(AmData) + ByteRanges::bytes_of_range + header_bytes +
                           (rendezvous ? descriptor : data_bytes);
    try {
        charge = pipeline.ledger->take(param.reply_ep, bytes, Use::message);
    } catch (const std::bad_alloc &) {
        return true;
    }
    return static_cast<bool>(charge);
}

std::unique_ptr<AmData> AmData::made(ucd_ucx_pipeline &pipeline, std::string_view user_header) {
    std::unique_ptr<AmData> am_data;
    try {
        am_data = std::make_unique<AmData>();
        am_data->user_header.assign(user_header);
        return am_data;
    } catch (const std::bad_alloc &) {
        am_data.reset(pipeline.spare.exchange(nullptr));
    }
    if (am_data == nullptr || am_data->user_header.capacity() < user_header.size()) return nullptr;
    am_data->user_header.assign(user_header);
    return am_data;
}

void AmData::keep(void *data, std::size_t data_bytes, bool may_be_held) {
    data_bytes_ = data_bytes;
    data_ = data;
    if (may_be_held) return;
    copy_.reset(new (std::nothrow) char[data_bytes]);
    data_ = copy_.get();
    if (copy_ != nullptr)
        std::memcpy(copy_.get(), data, data_bytes);
    else
        lost_data_ = true;
}

RingPlace AmData::place() const {
    RingPlace place;
    std::memcpy(static_cast<void *>(&place), user_header.data(), sizeof place);
    return place;
}

AmData::~AmData() {
    drop_data();
}

void AmData::drop_data() {
    if (data_ == nullptr || copy_ != nullptr) return;
    // In UCX 1.13 and newer, ucp_am_data_release of a rendezvous answers the sender before it locks
    // the worker, and so races with a thread that makes progress. Receiving takes the lock first.
    if (!rendezvous_ || !pipeline_->lock.is_needed() ||
        !Unwanted::receive(*pipeline_, data_, data_bytes_))
        ucp_am_data_release(pipeline_->worker, data_);
    data_ = nullptr;
}

void AmData::on_complete(ucd_ucx_pipeline &pipeline) {
    if (stage_ == Stage::new_one)
        take_in(pipeline);
    else if (unpacking_ != nullptr)
        unpack_for_peer(pipeline);
    else if (is_ring() || is_ring_offer())
        settle_ring(pipeline);
    else
        received(pipeline);
}

void AmData::take_in(ucd_ucx_pipeline &pipeline) {
    std::unique_ptr<AmData> self(this);
    // The message may have arrived before its endpoint failed, which is only known now. In that
    // case nothing may be sent back, but the user is still told of a user's message.
    const ucs_status_t failed = pipeline.endpoint_failures.since(ep, since);
    RecvMessage *message;
    Admission admission = Admission::ignore;
    try {
        message = find_message(pipeline, failed);
        if (message != nullptr) admission = message->admit(*this);
    } catch (const std::bad_alloc &) {
        pipeline.events.put_back(*self.release());
        throw;
    }
    stage_ = Stage::on_its_way;
    if (message == nullptr) return;
    if (failed != UCS_OK) ep = nullptr;
    message->take(pipeline, std::move(self), admission);
    if (failed != UCS_OK) message->on_endpoint_failed(pipeline, failed);
}

// If it throws std::bad_alloc, nothing has changed.
RecvMessage *AmData::find_message(ucd_ucx_pipeline &pipeline, ucs_status_t failed) const {
    const bool users = header.kind == Kind::whole || header.kind == Kind::user_offer;
    if (failed != UCS_OK) {
        pipeline.end_stream(header.id.stream, failed);
        if (!users) return nullptr;
    }
    const ucp_ep_h from = failed == UCS_OK ? ep : nullptr;
    return header.kind == Kind::withdraw ? pipeline.messages.find(from, header.id)
                                         : pipeline.messages.get(from, header, since);
}

void AmData::receive(ucd_ucx_pipeline &pipeline, RecvMessage &message, Block block) {
    message_ = &message;
    block_ = std::move(block);
    if (is_ring()) return receive_from_ring(pipeline);
    if (!rendezvous_) return unpack(pipeline, data_);
    const TypedBuffer &buffer = message.receiving()->buffer();
    void *to = block_ ? block_.memory() : buffer.in_place() + header.offset;
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    p.cb.recv_am = on_received;
    p.user_data = this;
    const ucs_status_ptr_t request =
        ucp_am_recv_data_nbx(pipeline.worker, std::exchange(data_, nullptr), to, bytes, &p);
    if (UCS_PTR_IS_PTR(request)) return;
    status_ = UCS_PTR_STATUS(request);
    received(pipeline);
}

void AmData::on_received(void *request, ucs_status_t status, std::size_t length, void *argument) {
    auto *am_data = static_cast<AmData *>(argument);
    ucp_request_free(request);
    const std::size_t expected =
        am_data->is_ring() || am_data->is_ring_offer() ? sizeof am_data->receipt_ : am_data->bytes;
    am_data->status_ = status == UCS_OK && length != expected ? UCS_ERR_INVALID_PARAM : status;
    am_data->pipeline_->events.put(*am_data);
}

void AmData::received(ucd_ucx_pipeline &pipeline) {
    pipeline.trace(UCD_UCX_EVENT__RECEIVED, header.id, header.offset, bytes);
    if (status_ == UCS_OK && block_) return unpack(pipeline, block_.memory());
    message_->settle(pipeline, std::unique_ptr<AmData>(this), status_, UCD_SUCCESS);
}

void AmData::unpack(ucd_ucx_pipeline &pipeline, const void *from) {
    const Receiving &receiving = *message_->receiving();
    if (receiving.has_failed())
        return message_->settle(pipeline, std::unique_ptr<AmData>(this), UCS_OK, UCD_SUCCESS);
    pipeline.trace(UCD_UCX_EVENT__UNPACK_BEGIN, header.id, header.offset, bytes);
    if (receiving.account() != nullptr && receiving.buffer().on_host()) {
        unpacking_ = static_cast<const char *>(from);
        return unpack_for_peer(pipeline);
    }
    const Status status = receiving.buffer().unpack(header.offset, from, bytes, &moving);
    if (!status.ok()) return moved(pipeline, status);
    pipeline.await(*this);
}

// Unpacks in pieces, as long as the peer may cause work in this call of progress.
void AmData::unpack_for_peer(ucd_ucx_pipeline &pipeline) {
    const Receiving &receiving = *message_->receiving();
    const TypedBuffer &buffer = receiving.buffer();
    Ledger &ledger = *pipeline.ledger;
    while (unpacked_ < bytes && !receiving.has_failed()) {
        if (!ledger.may_work(receiving.account())) return pipeline.events.put(*this);
        const uint64_t piece =
            piece_of(bytes - unpacked_, buffer.steps(bytes - unpacked_), receiving.granule());
        const Status status =
            buffer.unpack(header.offset + unpacked_, unpacking_ + unpacked_, piece, nullptr);
        if (!status.ok()) return moved(pipeline, status);
        ledger.note_work(receiving.account(), buffer.steps(piece));
        unpacked_ += piece;
    }
    moved(pipeline, success);
}

void AmData::moved(ucd_ucx_pipeline &pipeline, Status status) {
    if (is_ring()) return moved_in_ring(pipeline, status);
    pipeline.trace(UCD_UCX_EVENT__UNPACK_END, header.id, header.offset, bytes);
    message_->settle(pipeline, std::unique_ptr<AmData>(this), ucx_status_of(status.code()),
                     status.code());
}

} // namespace ucd_ucx
