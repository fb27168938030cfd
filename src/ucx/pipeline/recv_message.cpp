#include "pipeline/recv_message.h"

#include "pipeline/receiving.h"
#include "pipeline/transfers.h"

#include <mutex>
#include <new>
#include <utility>

namespace ucd_ucx {

// Includes a node in each of the message table's two maps.
const uint64_t RecvMessage::bytes_of_entry = sizeof(RecvMessage) + 192;

RecvMessage::RecvMessage(Transfers &transfers, const MessageId &id, uint64_t total)
    : transfers_(transfers), id_(id), state_(total) {}

RecvMessage::~RecvMessage() {
    drop_waiting();
}

void RecvMessage::keep_charge(RecvPart &part) {
    const uint64_t kept = bytes_of_entry + announcement_.capacity() + state_.memory();
    if (kept > charge.bytes())
        charge.take_from(part.am_data->charge, kept - charge.bytes());
    else
        charge.shrink_to(kept);
}

void RecvMessage::bind(ucp_ep_h ep, uint64_t since) {
    ep_ = ep;
    since_ = since;
    if (receiving_ != nullptr) (void)state_.claim(true);
}

// A sender withdraws only with an error. Other values cannot be cast to ucs_status_t, whose range
// is 8 bits.
static ucs_status_t status_of_withdrawal(int status) {
    return status > 0 && status < -int{UCS_ERR_LAST} ? static_cast<ucs_status_t>(-status)
                                                     : UCS_ERR_INVALID_PARAM;
}

Admission RecvMessage::admit(const RecvPart &part) {
    return part.unused_are_zero() ? state_.take(part.header, part.bytes, !part.is_here())
                                  : Admission::refuse;
}

void RecvMessage::take(std::unique_ptr<RecvPart> part, Admission admission) {
    const MessageHeader &h = part->header;
    // The sender goes on by another route, so it knows that its offer was declined.
    if (decline_ != nullptr && h.kind >= MessageKind::chunk && h.kind <= MessageKind::ring_chunk)
        direct_.reset();
    if (admission == Admission::refuse) return end(UCS_ERR_INVALID_PARAM);
    if (admission == Admission::ignore) {
        settled_ += part->bytes;
        if (part->is_direct()) settled_ = total(); // dropping it ends the transfer
        part.reset();
        return conclude();
    }
    keep_charge(*part);
    switch (h.kind) {
    case MessageKind::offer: return;
    case MessageKind::withdraw: return end(status_of_withdrawal(h.detail));
    case MessageKind::route: offer_of(h.route()) = std::move(part); return answer();
    case MessageKind::direct: return take_direct(std::move(part));
    case MessageKind::whole:
    case MessageKind::user_offer: announce(*part); break;
    default: break;
    }
    if (part->am_data->is_cut()) return lose_part(part->bytes);
    if (part->bytes == 0 || !state_.takes_data()) return;
    // A chunk proves that the sender knows the answer, if there was one. If UCX refuses to fetch an
    // offer, the receive ends.
    if (is_answered_)
        for (std::unique_ptr<RecvPart> &route : routes_) {
            if (is_receiving())
                fetch(route);
            else
                route.reset();
        }
    waiting_bytes_ += part->bytes;
    waiting_.push(*part.release());
    advance(); // performance only: progress gives each transfer a turn anyway
}

// The sender is not told, so more chunks of the message may arrive.
void RecvMessage::lose_part(uint64_t bytes) {
    settled_ += bytes;
    status_ = UCS_ERR_NO_MEMORY;
    ucd_ = UCD_ERR__OUT_OF_MEM;
    drop_waiting();
    if (receiving_ != nullptr) receiving_->stop(status_, ucd_);
    conclude();
}

void RecvMessage::tell() {
    WorkerEngine &engine = transfers_.engine;
    UserHandler called;
    ucp_ep_h reply_ep = nullptr;
    {
        const std::lock_guard held(engine.lock);
        // If there is no memory for this, the endpoint counts as lost. Progress repeats it.
        const bool is_unknown = retry_on_bad_alloc([&engine] {
            engine.handle_endpoint_failures();
            return false;
        });
        called = engine.handler;
        if (called.callback == nullptr) return abandon();
        if (!is_unknown && transfers_.messages.has_endpoint_of(*this)) reply_ep = ep_;
    }
    called.callback(called.arg, header_.user_id, user_header().data(), user_header().size(),
                    reinterpret_cast<ucd_ucx_data_t>(this), total(), reply_ep);
}

void RecvMessage::announce(RecvPart &part) {
    header_ = part.header;
    announcement_ = part.am_data->take_header();
    keep_charge(part);
    transfers_.messages.close_to_openings(*this);
    if (state_.deliver()) transfers_.deliver(*this);
}

void RecvMessage::end(ucs_status_t status) {
    if (!state_.end()) return;
    status_ = status;
    ucd_ = UCD_SUCCESS;
    drop_waiting();
    for (std::unique_ptr<RecvPart> &route : routes_) route.reset();
    direct_.reset();
    if (receiving_ != nullptr)
        receiving_->stop(status, UCD_SUCCESS);
    else
        conclude();
}

void RecvMessage::on_endpoint_failed(ucs_status_t status) {
    end(status);
    (void)state_.lose_endpoint();
    conclude();
}

void RecvMessage::notice_failure() {
    if (const ucs_status_t status = transfers_.failure_of(*this); status != UCS_OK) end(status);
}

void RecvMessage::match(Receiving &receiving) {
    notice_failure();
    receiving_ = &receiving;
    if (!state_.claim(ep_ != nullptr) || status_ != UCS_OK) return receiving.stop(status_, ucd_);
    if (total() > receiving.buffer().bytes())
        return receiving.stop(UCS_ERR_MESSAGE_TRUNCATED, UCD_SUCCESS);
    answer();
    advance();
}

bool RecvMessage::is_receiving() const {
    return receiving_ != nullptr && !receiving_->has_failed();
}

void RecvMessage::abandon() {
    notice_failure();
    (void)state_.release();
    drop_waiting();
    answer();
    conclude();
}

void RecvMessage::drop_waiting() {
    settled_ += std::exchange(waiting_bytes_, 0);
    transfers_.drop(waiting_);
}

bool RecvMessage::find_room(RecvPart &part, StagingBlock &block) {
    if (part.is_ring() || part.is_here() || receiving_->buffer().in_place() != nullptr) return true;
    if (receiving_->is_streamed(part.am_data->ep)) {
        part.stream_to(receiving_->buffer());
        return true;
    }
    const bool urgent = blocks_ == 0;
    if (!transfers_.engine.take_chunk_for(receiving_->account(), receiving_->buffer(), part.bytes,
                                          urgent, &block))
        return false;
    if (block) {
        ++blocks_;
        return true;
    }
    receiving_->stop(UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    return false;
}

void RecvMessage::advance() {
    if (!state_.is_claimed()) return;
    while (is_receiving() && !waiting_.empty() &&
           in_use_ < (first_waiting().is_ring() ? receiving_->ring_depth() : receiving_->depth())) {
        RecvPart &part = first_waiting();
        StagingBlock block;
        if (!find_room(part, block)) return;
        (void)waiting_.pop();
        waiting_bytes_ -= part.bytes;
        start(std::unique_ptr<RecvPart>(&part), std::move(block));
    }
    if (!is_receiving()) drop_waiting();
    conclude();
}

void RecvMessage::start(std::unique_ptr<RecvPart> part, StagingBlock block) {
    ++in_use_;
    part.release()->receive(*this, std::move(block));
}

void RecvMessage::settle(std::unique_ptr<RecvPart> part, ucs_status_t status, int ucd) {
    --in_use_;
    if (part->holds_memory()) --blocks_;
    settled_ += part->bytes;
    part.reset();
    receiving_->note_progress();
    if (status != UCS_OK && !receiving_->has_failed()) return receiving_->stop(status, ucd);
    conclude();
}

void RecvMessage::conclude() {
    if (in_use_ > 0) return;
    if (receiving_ != nullptr && (is_finished() || receiving_->has_failed())) {
        Receiving &receiving = *receiving_;
        receiving_ = nullptr;
        (void)state_.release();
        if (!receiving.is_complete()) receiving.end();
    }
    if (receiving_ != nullptr) return;
    if (state_.stage() == TransferStage::over || (state_.is_discarding() && is_finished())) {
        transfers_.messages.forget(*this);
    } else if (state_.stage() == TransferStage::discarding && ep_ == nullptr) {
        transfers_.messages.keep_for_late(*this);
        (void)state_.become_late();
    }
}

// Routes ---------------------------------------------------------------------

// The offer that is completed first is the answer. Dropping an offer completes it, too, so the
// others are kept until the sender is known to have the answer.
void RecvMessage::answer() {
    answer_direct();
    if (!state_.is_claimed() || !state_.all_routes_came() || is_answered_) return;
    is_answered_ = true;
    std::unique_ptr<RecvPart> &ring = offer_of(ChunkRoute::ring),
                              &host = offer_of(ChunkRoute::host);
    // To a transfer that will be dropped, the ring costs the sender least.
    if (!is_receiving()) return ring != nullptr ? ring.reset() : host.reset();
    ChunkRoute best = ring != nullptr ? receiving_->route_beside(*ring) : ChunkRoute::host;
    if (best == ChunkRoute::ring_in_turns && offer_of(best) == nullptr) best = ChunkRoute::ring;
    fetch(offer_of(best));
}

void RecvMessage::fetch(std::unique_ptr<RecvPart> &route) {
    if (route != nullptr) start(std::move(route));
}

// Direct transfers (docs/guide/ucx-ways.md): the receiver reads the data where it is --------------

// The link's numbers are in the order of the offers, and not of the receives that match.
void RecvMessage::take_direct(std::unique_ptr<RecvPart> offer) {
    Link *const link = transfers_.engine.links.to_owner(ep_);
    const auto place = offer->following<DirectPlace>();
    is_genuine_ = link != nullptr &&
                  link->is_authentic(offer->am_data->header().data(), bytes_under_mac, place.mac) &&
                  link->admits(place.number);
    direct_ = std::move(offer);
    answer();
}

void RecvMessage::answer_direct() {
    if (direct_ == nullptr || decline_ != nullptr || !state_.is_claimed()) return;
    if (!is_receiving()) {
        direct_.reset(); // which ends the transfer at the sender
        settled_ = total();
        return;
    }
    Decline reason = Decline::other_route;
    bool takes = false;
    const Status status = without_exceptions([&] {
        takes = is_genuine_ && direct_->find_direct(*receiving_, &reason);
        return success;
    });
    if (!status.ok() || !takes) return decline(reason);
    reads_directly_ = true;
    start(std::move(direct_));
}

// The sender's receipt stays, since dropping it says that the data is not needed any more.
void RecvMessage::decline(Decline reason) {
    decline_.reset(new (std::nothrow)
                       TransferMessage(transfers_.engine, *this, MessageKind::decline));
    if (decline_ == nullptr) return receiving_->stop(UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    decline_->header.id = id_;
    decline_->header.total = total();
    decline_->header.detail = static_cast<uint16_t>(reason);
    ++in_use_;
    decline_->send(ep_);
}

void RecvMessage::on_sent(TransferMessage &, ucs_status_t status) {
    --in_use_;
    if (status != UCS_OK) receiving_->stop(status, UCD_SUCCESS);
    conclude();
}

void RecvMessage::on_link_ended(bool is_process) {
    if (reads_directly_ || (is_process && direct_ != nullptr)) end(UCS_ERR_CONNECTION_RESET);
}

} // namespace ucd_ucx
