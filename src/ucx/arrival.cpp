#include "incoming.h"
#include "receiving.h"

#include <cstring>
#include <memory>
#include <new>

namespace ucd_ucx {
namespace {

// Data that is received for nobody, and ends itself.
class Unwanted {
public:
    // False if there is no memory for it.
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

ucs_status_t Arrival::on_arrival(void *argument, const void *header, std::size_t header_bytes,
                                 void *data, std::size_t bytes, const ucp_am_recv_param_t *param) {
    auto *pipeline = static_cast<ucd_ucx_pipeline *>(argument);
    Header h;
    if (header_bytes < sizeof h) return UCS_OK;
    std::memcpy(&h, header, sizeof h);
    if (h.magic != Header::expected_magic || h.user_header != header_bytes - sizeof h)
        return UCS_OK; // no pipeline's: dropped
    try {
        auto arrival = std::make_unique<Arrival>();
        const bool placed = h.kind == Kind::ring_accept || h.kind == Kind::ring_chunk;
        if (placed && h.user_header != sizeof arrival->place) return UCS_OK;
        if (placed)
            std::memcpy(static_cast<void *>(&arrival->place),
                        static_cast<const char *>(header) + sizeof h, sizeof arrival->place);
        else
            arrival->user_header.assign(static_cast<const char *>(header) + sizeof h,
                                        h.user_header);
        arrival->header = h;
        const bool ring = placed || h.kind == Kind::ring_refuse;
        arrival->bytes = !ring ? bytes : arrival->is_ring() ? arrival->place.bytes : 0;
        arrival->pipeline_ = pipeline;
        const bool fits = !ring || bytes == sizeof(Receipt); // else it is dropped
        arrival->rendezvous_ = fits && (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
        if ((param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0)
            arrival->reply_ep = param->reply_ep;
        arrival->since = pipeline->now();
        const bool keep =
            arrival->rendezvous_ || (fits && (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0);
        if (keep && bytes > 0) {
            arrival->data_ = data;
            arrival->data_bytes_ = bytes;
        }
        pipeline->inbox.put(*arrival.release());
        return keep && bytes > 0 ? UCS_INPROGRESS : UCS_OK;
    } catch (const std::bad_alloc &) {
        return UCS_ERR_NO_MEMORY; // which the sender of a chunk is told
    }
}

Arrival::~Arrival() {
    drop_data();
}

void Arrival::drop_data() {
    if (data_ == nullptr) return;
    // Of a rendezvous, ucp_am_data_release answers the sender before it locks the worker (in UCX
    // 1.13 and newer ones), in the way of a thread that makes progress. Receiving does lock.
    if (!rendezvous_ || !pipeline_->lock.is_needed() ||
        !Unwanted::receive(*pipeline_, data_, data_bytes_))
        ucp_am_data_release(pipeline_->worker, data_);
    data_ = nullptr;
}

void Arrival::happen(ucd_ucx_pipeline &pipeline) {
    if (stage_ == Stage::new_one)
        take_in(pipeline);
    else if (is_ring() || header.kind == Kind::ring_accept || header.kind == Kind::ring_refuse)
        settle_ring(pipeline);
    else
        received(pipeline);
}

void Arrival::take_in(ucd_ucx_pipeline &pipeline) {
    stage_ = Stage::on_its_way;
    std::unique_ptr<Arrival> self(this);
    if (header.kind == Kind::withdraw) {
        Incoming *message = pipeline.find_incoming(header.id);
        // No pipeline withdraws what is well.
        const auto status = header.status == 0
                                ? UCS_ERR_INVALID_PARAM
                                : static_cast<ucs_status_t>(-static_cast<int>(header.status));
        if (message != nullptr) message->end(pipeline, status);
        return;
    }
    const bool users = header.kind == Kind::whole || header.kind == Kind::user_offer;
    const bool ticket = header.kind == Kind::ring_refuse || header.kind == Kind::ring_accept;
    if (!users && header.kind != Kind::offer && header.kind != Kind::chunk && !ticket && !is_ring())
        return; // unknown
    // Without rendezvous, or a receipt, the sender has taken leave of the ring.
    if (ticket && !rendezvous_) return;
    if (header.kind == Kind::whole && bytes != header.total) return;
    // A message is announced once: of a second time, no pipeline would be the sender.
    if (users && pipeline.find_incoming(header.id) != nullptr &&
        pipeline.find_incoming(header.id)->is_delivered())
        return;
    Incoming &message = pipeline.incoming(header.id);
    // It may have come before its endpoint was lost, which is only known now.
    const ucs_status_t lost = pipeline.loss_since(reply_ep, since);
    if (lost != UCS_OK) reply_ep = nullptr;
    message.learn(*this);
    if (users) message.deliver(pipeline, *this);
    if (lost != UCS_OK) return message.end(pipeline, lost);
    if (ticket) return message.take_ticket(pipeline, std::move(self));
    if (is_ring() && !rendezvous_) return message.end(pipeline, UCS_ERR_INVALID_PARAM);
    if (bytes > 0) message.add(pipeline, std::move(self));
}

void Arrival::receive(ucd_ucx_pipeline &pipeline, Incoming &message, Block block) {
    message_ = &message;
    block_ = std::move(block);
    if (is_ring()) return receive_from_ring(pipeline);
    if (!rendezvous_) return unpack(pipeline, data_);
    const Operand &operand = message.receiving()->operand();
    void *to = block_ ? block_.memory() : operand.in_place() + header.offset;
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

void Arrival::on_received(void *request, ucs_status_t status, std::size_t, void *argument) {
    auto *arrival = static_cast<Arrival *>(argument);
    ucp_request_free(request);
    arrival->status_ = status;
    arrival->pipeline_->inbox.put(*arrival);
}

void Arrival::received(ucd_ucx_pipeline &pipeline) {
    pipeline.trace(UCD_UCX_EVENT__RECEIVED, header.id, header.offset, bytes);
    if (status_ == UCS_OK && block_) return unpack(pipeline, block_.memory());
    message_->settle(pipeline, std::unique_ptr<Arrival>(this), status_, UCD_SUCCESS);
}

void Arrival::unpack(ucd_ucx_pipeline &pipeline, const void *from) {
    const Receiving &receiving = *message_->receiving();
    if (receiving.has_failed())
        return message_->settle(pipeline, std::unique_ptr<Arrival>(this), UCS_OK, UCD_SUCCESS);
    pipeline.trace(UCD_UCX_EVENT__UNPACK_BEGIN, header.id, header.offset, bytes);
    const Status status = receiving.operand().unpack(header.offset, from, bytes, &moving);
    if (!status.ok()) return moved(pipeline, status);
    pipeline.await(*this);
}

void Arrival::moved(ucd_ucx_pipeline &pipeline, Status status) {
    if (is_ring()) return moved_in_ring(pipeline, status);
    pipeline.trace(UCD_UCX_EVENT__UNPACK_END, header.id, header.offset, bytes);
    message_->settle(pipeline, std::unique_ptr<Arrival>(this), ucx_status_of(status.code()),
                     status.code());
}

} // namespace ucd_ucx
