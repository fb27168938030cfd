#include "pipeline/recv_message.h"

#include "pipeline/receiving.h"
#include "pipeline/transfers.h"

#include <utility>

namespace ucd_ucx {

// Includes a node in each of the message table's two maps.
const uint64_t RecvMessage::bytes_of_entry = sizeof(RecvMessage) + 192;

void RecvMessage::keep_charge(RecvPart &part) {
    const uint64_t kept = bytes_of_entry + announcement_.capacity() + state_.memory();
    if (kept > charge.bytes())
        charge.take_from(part.charge(), kept - charge.bytes());
    else
        charge.shrink_to(kept);
}

void RecvMessage::bind(ucp_ep_h ep, uint64_t since) {
    ep_ = ep;
    since_ = since;
    if (receiving_ != nullptr) state_.receive();
}

// A sender withdraws only with an error. Other values cannot be cast to ucs_status_t, whose range
// is 8 bits.
static ucs_status_t status_of_withdrawal(int status) {
    return status > 0 && status < -int{UCS_ERR_LAST} ? static_cast<ucs_status_t>(-status)
                                                     : UCS_ERR_INVALID_PARAM;
}

Admission RecvMessage::admit(const RecvPart &part) {
    const Header &h = part.header;
    return state_.take({h.kind, h.total, h.offset, part.bytes, !part.is_here()});
}

void RecvMessage::take(std::unique_ptr<RecvPart> part, Admission admission) {
    const Header &h = part->header;
    if (admission == Admission::refuse) return end(UCS_ERR_INVALID_PARAM);
    if (admission == Admission::ignore) {
        if (!part->is_ring_offer()) settled_ += part->bytes;
        part.reset();
        return conclude();
    }
    keep_charge(*part);
    switch (h.kind) {
    case Kind::offer: return;
    case Kind::withdraw: return end(status_of_withdrawal(h.status));
    case Kind::ring_refuse:
    case Kind::ring_accept: return take_ring_offer(std::move(part));
    case Kind::whole:
    case Kind::user_offer: announce(*part); break;
    default: break;
    }
    if (part->has_lost_data()) return fail_without_memory(part->bytes);
    if (part->bytes > 0) add(std::move(part));
}

// The sender is not told, so more chunks of the message may arrive.
void RecvMessage::fail_without_memory(uint64_t bytes) {
    settled_ += bytes;
    has_lost_ = true;
    drop_waiting();
    if (receiving_ != nullptr) receiving_->fail(UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    conclude();
}

void RecvMessage::tell(const UserHandler &handler) {
    handler.callback(handler.arg, header_.user_id, user_header().data(), user_header().size(),
                     reinterpret_cast<ucd_ucx_data_t>(this), total(), ep_);
}

void RecvMessage::announce(RecvPart &part) {
    header_ = part.header;
    announcement_ = part.take_header();
    keep_charge(part);
    transfers_.messages.close_to_openings(*this);
    if (ended_) return;
    state_.deliver();
    transfers_.deliver(*this);
}

void RecvMessage::add(std::unique_ptr<RecvPart> part) {
    if (ended_) return;
    if (answered_) fetch_ring_offers(); // a chunk proves that the sender knows the answer
    waiting_.push(*part.release());
    advance(); // performance only: progress gives each transfer a turn anyway
}

void RecvMessage::end(ucs_status_t status) {
    if (ended_) return;
    ended_ = true;
    status_ = status;
    drop_waiting();
    drop_ring_offers();
    if (receiving_ != nullptr)
        receiving_->fail(status, UCD_SUCCESS);
    else
        conclude();
}

void RecvMessage::on_endpoint_failed(ucs_status_t status) {
    endpoint_failed_ = true;
    end(status);
    conclude();
}

void RecvMessage::match(Receiving &receiving) {
    claimed_ = true;
    receiving_ = &receiving;
    if (ep_ != nullptr) state_.receive();
    if (ended_) return receiving.fail(status_, UCD_SUCCESS);
    if (has_lost_) return receiving.fail(UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    if (total() > receiving.buffer().bytes())
        return receiving.fail(UCS_ERR_MESSAGE_TRUNCATED, UCD_SUCCESS);
    answer();
    advance();
}

void RecvMessage::drop() {
    claimed_ = true;
    abandon();
}

void RecvMessage::abandon() {
    state_.end();
    drop_waiting();
    answer();
    conclude();
}

void RecvMessage::drop_waiting() {
    while (!waiting_.empty()) {
        const std::unique_ptr<RecvPart> part(static_cast<RecvPart *>(&waiting_.pop()));
        settled_ += part->bytes;
    }
}

bool RecvMessage::find_room(const RecvPart &part, Block &block) {
    if (part.is_ring()) {
        block = receiving_->take_copy(part.bytes);
        if (block) ++blocks_;
        return true;
    }
    if (part.is_here() || receiving_->buffer().in_place() != nullptr) return true;
    const bool urgent = blocks_ == 0;
    if (!transfers_.engine.take_chunk_for(receiving_->account(), receiving_->buffer(), part.bytes,
                                          urgent, &block))
        return false;
    if (block) {
        ++blocks_;
        return true;
    }
    receiving_->fail(UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    return false;
}

void RecvMessage::advance() {
    if (!claimed_ && !ended_) return;
    while (receiving_ != nullptr && !receiving_->has_failed() && !waiting_.empty() &&
           in_use_ < (first_waiting().is_ring() ? receiving_->ring_depth() : receiving_->depth())) {
        RecvPart &part = first_waiting();
        Block block;
        if (!find_room(part, block)) return;
        (void)waiting_.pop();
        ++in_use_;
        part.receive(*this, std::move(block));
    }
    if (receiving_ == nullptr || receiving_->has_failed()) drop_waiting();
    conclude();
}

void RecvMessage::settle(std::unique_ptr<RecvPart> part, ucs_status_t status, int ucd) {
    --in_use_;
    if (part->holds_memory()) --blocks_;
    if (!part->is_ring_offer()) settled_ += part->bytes;
    part.reset();
    if (receiving_ != nullptr) receiving_->note_progress();
    if (status != UCS_OK && !receiving_->has_failed()) return receiving_->fail(status, ucd);
    conclude();
}

void RecvMessage::conclude() {
    if (in_use_ > 0) return;
    if (receiving_ != nullptr && (is_finished() || receiving_->has_failed())) {
        Receiving &receiving = *receiving_;
        receiving_ = nullptr;
        if (!receiving.is_complete()) receiving.end();
    }
    if (claimed_ && receiving_ == nullptr) state_.end();
    const bool unclaimable = endpoint_failed_ && state_.stage() == Stage::announced;
    if (receiving_ == nullptr && ((claimed_ && (is_finished() || ended_)) || unclaimable))
        transfers_.messages.forget(*this);
    else if (is_over() && ep_ == nullptr && !kept_for_late_) {
        transfers_.messages.keep_for_late(*this);
        kept_for_late_ = true;
    }
}

} // namespace ucd_ucx
