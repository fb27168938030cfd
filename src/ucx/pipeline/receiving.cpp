#include "pipeline/receiving.h"

#include "pipeline/recv_message.h"
#include "pipeline/routes.h"

#include <mutex>
#include <new>

namespace ucd_ucx {

Status Receiving::set(const Data &to, const ucd_ucx_param_t *param, ucd_op_t op,
                      const TransferTerms &terms) {
    terms_ = terms;
    ucd_info_t info;
    UCD_TRY(ucd_ucx_request::set(transfers_.engine.options, param, info));
    UCD_TRY(buffer_.set(to, info, TransferDirection::receive, transfers_.engine.for_host, op));
    frame_.buffer = &buffer_;
    frame_.bytes = FramedRange::any_length;
    frame_.header = &header_;
    frame_.prefix = sizeof header_;
    frame_.arrival = &arrival_;
    frame_.read_ahead();
    return success;
}

// performance only: it decides who unpacks
bool Receiving::is_streamed(ucp_ep_h from) const {
    return buffer_.on_host() && buffer_.op() == UCD_OP__REPLACE && terms_.owner == nullptr &&
           terms_.account == nullptr &&
           host_transport(from, options_, true) == Transport::shared_memory;
}

ChunkRoute Receiving::route_beside(const RecvPart &ring) const {
    if (!options_.ring || buffer_.device().empty()) return ChunkRoute::host;
    const ucd_ipc_handle_t handle = ring.following<RingPlace>().handle;
    MappingPtr mapping;
    const auto open = [&] {
        return transfers_.mappings.open(ring.am_data->ep, handle, {}, buffer_.device(), mapping);
    };
    if (!without_exceptions(open).ok()) return ChunkRoute::host;
    // performance only: if it is not known, chunks are sent as they are packed
    char device[32];
    uintptr_t needed;
    const bool is_same =
        ucd_ipc_get_device(&handle, device, sizeof device, &needed) == UCD_SUCCESS &&
        buffer_.device() == device;
    return is_same ? ChunkRoute::ring_in_turns : ChunkRoute::ring;
}

// The object of an abandoned receive may be gone.
void Receiving::on_tagged(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                          void *argument) {
    auto *receiving = static_cast<Receiving *>(argument);
    if (receiving->is_posted_.exchange(Posted::ended) == Posted::abandoned) {
        ucp_request_free(request);
        return receiving->let_go();
    }
    receiving->posted_status_ = status;
    if (status == UCS_OK) {
        receiving->tag_ = info->sender_tag;
        receiving->length_ = info->length;
    }
    receiving->transfers_.engine.events.put(*receiving);
}

Status Receiving::start_tagged(ucp_tag_t tag, ucp_tag_t mask) {
    ucp_request_param_t p = {};
    // A callback even for receives that complete at once, for which UCX before 1.16 does not return
    // the length.
    p.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                     UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    p.cb.recv = on_tagged;
    p.user_data = this;
    p.datatype = transfers_.framed->handle();
    const ucs_status_ptr_t request =
        ucp_tag_recv_nbx(transfers_.engine.worker(), &frame_, 1, tag, mask, &p);
    if (UCS_PTR_IS_ERR(request)) return ucx_ok(UCS_PTR_STATUS(request), "ucp_tag_recv_nbx");
    posted_ = request;
    return success;
}

namespace {

// Checks the header of a tagged message.
ucs_status_t check_tagged(const MessageHeader &h, std::size_t length) {
    if (length >= sizeof h && is_of_refused_peer(h)) return UCS_ERR_UNSUPPORTED;
    const bool whole = h.kind == MessageKind::whole && h.total == length - sizeof h;
    const bool opening = h.kind == MessageKind::opening && length == sizeof h;
    const bool is_good = length >= sizeof h && h.is_good() && h.unused_are_zero(true);
    return is_good && (whole || opening) ? UCS_OK : UCS_ERR_INVALID_PARAM;
}

} // namespace

void Receiving::on_complete() {
    const MessageHeader &h = header_;
    if (posted_status_ == UCS_OK) posted_status_ = check_tagged(h, length_);
    const bool opens = posted_status_ == UCS_OK && h.kind == MessageKind::opening;
    ucs_status_t refused = UCS_OK;
    try {
        if (opens) message_ = transfers_.messages.open(h, &refused);
    } catch (const std::bad_alloc &) { // nothing has changed yet
        transfers_.engine.events.put_back(*this);
        throw;
    }
    ucp_request_free(posted_);
    posted_ = nullptr;
    if (posted_status_ != UCS_OK) return stop(posted_status_, UCD_SUCCESS);
    if (opens) {
        if (message_ == nullptr) return stop(refused, UCD_SUCCESS);
        note_progress();
        message_->match(*this);
        if (is_cancelled_) stop(UCS_ERR_CANCELED, UCD_SUCCESS);
        return;
    }
    if (arrival_.has_dropped) return stop(UCS_ERR_CANCELED, UCD_SUCCESS);
    if (frame_.failure != UCD_SUCCESS) return stop(ucx_status_of(frame_.failure), frame_.failure);
    if (h.total > buffer_.bytes()) return stop(UCS_ERR_MESSAGE_TRUNCATED, UCD_SUCCESS);
    if (arrival_.gathered != nullptr) {
        const Status status = buffer_.unpack(0, arrival_.gathered.get(), h.total, nullptr);
        arrival_.gathered.reset();
        if (!status.ok()) return stop(ucx_status_of(status.code()), status.code());
    }
    end();
}

void Receiving::start_am(RecvMessage &message) {
    message_ = &message;
    header_ = message.header();
    note_progress();
    message.match(*this);
}

// The time limit applies only once a message has matched: until then, a receive does not wait for a
// peer.
void Receiving::advance() {
    if (message_ != nullptr) check_time(message_->ep());
    if (message_ != nullptr) message_->advance();
}

void Receiving::cancel() {
    if (is_complete()) return;
    // If the receive is matched before UCX cancels it, UCX completes it, and `on_complete` stops
    // the transfer.
    is_cancelled_ = posted_ != nullptr && !abandon();
    if (!is_cancelled_) stop(UCS_ERR_CANCELED, UCD_SUCCESS);
}

// Asks UCX to cancel. UCX cannot end a receive of which a fragment has come: it waits for the
// others, also if their sender has ended. Such a receive is left to UCX, which writes by the
// callbacks of the datatype only, and these drop what comes. Returns whether it was left.
//
// ucp_request_cancel waits for a thread in which UCX is calling back: so after it, either the whole
// message of a fragment that was seen before is here, or later ones see that data is to be dropped.
bool Receiving::abandon() {
    bool has_begun;
    {
        // First, since a fragment may come while this waits for a thread that makes progress.
        const std::lock_guard held(transfers_.engine.progress_lock());
        has_begun = arrival_.has_header.load(std::memory_order_acquire);
        if (has_begun) arrival_.drops_data.store(true, std::memory_order_release);
        ucp_request_cancel(transfers_.engine.worker(), posted_);
    }
    if (!has_begun) return false;
    hold(); // by UCX
    datatype_ = transfers_.framed;
    Posted expected = Posted::waits;
    if (!is_posted_.compare_exchange_strong(expected, Posted::abandoned)) {
        let_go();
        return false;
    }
    posted_ = nullptr;
    return true;
}

void Receiving::stop(ucs_status_t status, int ucd) {
    if (is_complete() || has_failed()) return;
    status_ = status;
    ucd_ = ucd;
    RecvMessage *message = message_;
    if (message == nullptr || message->in_use() == 0) end();
    if (message != nullptr) message->abandon();
}

void Receiving::explain() const {
    if (status_ != UCS_ERR_MESSAGE_TRUNCATED) return ucd_ucx_request::explain();
    (void)ucd_ucx::fail(
        UCD_ERR__TRUNCATED,
        "the transfer ended with: %s: the message has %ju bytes, the receive takes %ju",
        ucs_status_string(status_), uintmax_t{header_.total}, uintmax_t{buffer_.bytes()});
}

void Receiving::end() {
    message_ = nullptr;
    transfers_.finish(*this, {status_, ucd_, has_failed() ? 0 : header_.total, tag_});
}

} // namespace ucd_ucx
