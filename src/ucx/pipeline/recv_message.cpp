#include "pipeline/recv_message.h"

#include "pipeline/receiving.h"

#include <utility>

namespace ucd_ucx {

// Includes a node in each of the message table's two maps.
const uint64_t RecvMessage::bytes_of_entry = sizeof(RecvMessage) + 192;

void RecvMessage::keep_charge(AmData &am_data) {
    const uint64_t kept = bytes_of_entry + user_header_.capacity() + state_.memory();
    if (kept > charge.bytes())
        charge.take_from(am_data.charge, kept - charge.bytes());
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

Admission RecvMessage::admit(const AmData &am_data) {
    const Header &h = am_data.header;
    return state_.take({h.kind, h.total, h.offset, am_data.bytes, !am_data.is_here()});
}

void RecvMessage::take(ucd_ucx_pipeline &pipeline, std::unique_ptr<AmData> am_data,
                       Admission admission) {
    const Header &h = am_data->header;
    if (admission == Admission::refuse) return end(pipeline, UCS_ERR_INVALID_PARAM);
    if (admission == Admission::ignore) {
        if (!am_data->is_ring_offer()) settled_ += am_data->bytes;
        am_data.reset();
        return conclude(pipeline);
    }
    keep_charge(*am_data);
    switch (h.kind) {
    case Kind::offer: return;
    case Kind::withdraw: return end(pipeline, status_of_withdrawal(h.status));
    case Kind::ring_refuse:
    case Kind::ring_accept: return take_ring_offer(pipeline, std::move(am_data));
    case Kind::whole:
    case Kind::user_offer: announce(pipeline, *am_data); break;
    default: break;
    }
    if (am_data->has_lost_data()) return fail_without_memory(pipeline, am_data->bytes);
    if (am_data->bytes > 0) add(pipeline, std::move(am_data));
}

// The sender is not told, so more chunks of the message may arrive.
void RecvMessage::fail_without_memory(ucd_ucx_pipeline &pipeline, uint64_t bytes) {
    settled_ += bytes;
    has_lost_ = true;
    drop_waiting();
    if (receiving_ != nullptr) receiving_->fail(pipeline, UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    conclude(pipeline);
}

void RecvMessage::announce(ucd_ucx_pipeline &pipeline, AmData &am_data) {
    header_ = am_data.header;
    user_header_ = std::move(am_data.user_header);
    keep_charge(am_data);
    pipeline.messages.close_to_openings(*this);
    if (ended_) return;
    state_.deliver();
    pipeline.notifications.add_message(*this);
}

void RecvMessage::add(ucd_ucx_pipeline &pipeline, std::unique_ptr<AmData> am_data) {
    if (ended_) return;
    if (answered_) fetch_ring_offers(pipeline); // a chunk proves that the sender knows the answer
    waiting_.push(*am_data.release());
    advance(pipeline); // performance only: progress gives each transfer a turn anyway
}

void RecvMessage::end(ucd_ucx_pipeline &pipeline, ucs_status_t status) {
    if (ended_) return;
    ended_ = true;
    status_ = status;
    drop_waiting();
    drop_ring_offers();
    if (receiving_ != nullptr)
        receiving_->fail(pipeline, status, UCD_SUCCESS);
    else
        conclude(pipeline);
}

void RecvMessage::on_endpoint_failed(ucd_ucx_pipeline &pipeline, ucs_status_t status) {
    endpoint_failed_ = true;
    end(pipeline, status);
    conclude(pipeline);
}

void RecvMessage::match(ucd_ucx_pipeline &pipeline, Receiving &receiving) {
    claimed_ = true;
    receiving_ = &receiving;
    if (ep_ != nullptr) state_.receive();
    if (ended_) return receiving.fail(pipeline, status_, UCD_SUCCESS);
    if (has_lost_) return receiving.fail(pipeline, UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    if (total() > receiving.buffer().bytes())
        return receiving.fail(pipeline, UCS_ERR_MESSAGE_TRUNCATED, UCD_SUCCESS);
    answer(pipeline);
    advance(pipeline);
}

void RecvMessage::drop(ucd_ucx_pipeline &pipeline) {
    claimed_ = true;
    abandon(pipeline);
}

void RecvMessage::abandon(ucd_ucx_pipeline &pipeline) {
    state_.end();
    drop_waiting();
    answer(pipeline);
    conclude(pipeline);
}

void RecvMessage::drop_waiting() {
    while (!waiting_.empty()) {
        const std::unique_ptr<AmData> am_data(static_cast<AmData *>(&waiting_.pop()));
        settled_ += am_data->bytes;
    }
}

bool RecvMessage::find_room(ucd_ucx_pipeline &pipeline, const AmData &am_data, Block &block) {
    if (am_data.is_ring()) {
        block = receiving_->take_copy(pipeline, am_data.bytes);
        if (block) ++blocks_;
        return true;
    }
    if (am_data.is_here() || receiving_->buffer().in_place() != nullptr) return true;
    const bool urgent = blocks_ == 0;
    if (!pipeline.take_chunk_for(receiving_->account(), receiving_->buffer(), am_data.bytes, urgent,
                                 &block))
        return false;
    if (block) {
        ++blocks_;
        return true;
    }
    receiving_->fail(pipeline, UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    return false;
}

void RecvMessage::advance(ucd_ucx_pipeline &pipeline) {
    if (!claimed_ && !ended_) return;
    while (receiving_ != nullptr && !receiving_->has_failed() && !waiting_.empty() &&
           in_use_ < (first_waiting().is_ring() ? receiving_->ring_depth() : receiving_->depth())) {
        AmData &am_data = first_waiting();
        Block block;
        if (!find_room(pipeline, am_data, block)) return;
        (void)waiting_.pop();
        ++in_use_;
        am_data.receive(pipeline, *this, std::move(block));
    }
    if (receiving_ == nullptr || receiving_->has_failed()) drop_waiting();
    conclude(pipeline);
}

void RecvMessage::settle(ucd_ucx_pipeline &pipeline, std::unique_ptr<AmData> am_data,
                         ucs_status_t status, int ucd) {
    --in_use_;
    if (am_data->holds_memory()) --blocks_;
    if (!am_data->is_ring_offer()) settled_ += am_data->bytes;
    am_data.reset();
    if (receiving_ != nullptr) receiving_->note_progress();
    if (status != UCS_OK && !receiving_->has_failed())
        return receiving_->fail(pipeline, status, ucd);
    conclude(pipeline);
}

void RecvMessage::conclude(ucd_ucx_pipeline &pipeline) {
    if (in_use_ > 0) return;
    if (receiving_ != nullptr && (is_finished() || receiving_->has_failed())) {
        Receiving &receiving = *receiving_;
        receiving_ = nullptr;
        if (!receiving.is_complete()) receiving.end(pipeline);
    }
    if (claimed_ && receiving_ == nullptr) state_.end();
    const bool unclaimable = endpoint_failed_ && state_.stage() == Stage::announced;
    if (receiving_ == nullptr && ((claimed_ && (is_finished() || ended_)) || unclaimable))
        pipeline.messages.forget(*this);
    else if (is_over() && ep_ == nullptr && !kept_for_late_) {
        pipeline.messages.keep_for_late(*this);
        kept_for_late_ = true;
    }
}

} // namespace ucd_ucx
