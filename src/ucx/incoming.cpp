#include "incoming.h"

#include "receiving.h"

#include <utility>

namespace ucd_ucx {

void Incoming::bind(ucp_ep_h ep, uint64_t since) {
    ep_ = ep;
    since_ = since;
    if (receiving_ != nullptr) state_.receive();
}

// No pipeline withdraws what is well; and what is no error of UCX's is no ucs_status_t, which has
// 8 bits.
static ucs_status_t status_of_withdrawal(int status) {
    return status > 0 && status < -int{UCS_ERR_LAST} ? static_cast<ucs_status_t>(-status)
                                                     : UCS_ERR_INVALID_PARAM;
}

void Incoming::take(ucd_ucx_pipeline &pipeline, std::unique_ptr<Arrival> arrival) {
    const Header &h = arrival->header;
    const Admission admission =
        state_.take({h.kind, h.total, h.offset, arrival->bytes, !arrival->is_here()});
    if (admission == Admission::refuse) return end(pipeline, UCS_ERR_INVALID_PARAM);
    if (admission == Admission::ignore) {
        if (!arrival->is_ticket()) settled_ += arrival->bytes;
        arrival.reset();
        return conclude(pipeline);
    }
    if (!pipeline.charge(*this, arrival->cost() + arrival->user_header.size())) return;
    switch (h.kind) {
    case Kind::offer: return;
    case Kind::withdraw: return end(pipeline, status_of_withdrawal(h.status));
    case Kind::ring_refuse:
    case Kind::ring_accept: return take_ticket(pipeline, std::move(arrival));
    case Kind::whole:
    case Kind::user_offer: announce(pipeline, *arrival); break;
    default: break;
    }
    if (arrival->bytes > 0) add(pipeline, std::move(arrival));
}

void Incoming::announce(ucd_ucx_pipeline &pipeline, Arrival &arrival) {
    header_ = arrival.header;
    user_header_ = std::move(arrival.user_header);
    pipeline.messages.close_to_openings(*this);
    if (ended_) return;
    state_.deliver();
    pipeline.deliver(*this);
}

void Incoming::add(ucd_ucx_pipeline &pipeline, std::unique_ptr<Arrival> arrival) {
    if (ended_) return;
    if (answered_) end_tickets(pipeline); // the sender has the answer
    waiting_.push(*arrival.release());
    advance(pipeline);
}

void Incoming::end(ucd_ucx_pipeline &pipeline, ucs_status_t status) {
    if (ended_) return;
    ended_ = true;
    status_ = status;
    drop_waiting();
    drop_tickets();
    if (receiving_ != nullptr)
        receiving_->fail(pipeline, status, UCD_SUCCESS);
    else
        conclude(pipeline);
}

void Incoming::lose(ucd_ucx_pipeline &pipeline, ucs_status_t status) {
    lost_ = true;
    end(pipeline, status);
    conclude(pipeline);
}

void Incoming::match(ucd_ucx_pipeline &pipeline, Receiving &receiving) {
    claimed_ = true;
    receiving_ = &receiving;
    if (ep_ != nullptr) state_.receive();
    if (ended_) return receiving.fail(pipeline, status_, UCD_SUCCESS);
    if (total() > receiving.operand().bytes())
        return receiving.fail(pipeline, UCS_ERR_MESSAGE_TRUNCATED, UCD_SUCCESS);
    answer(pipeline);
    advance(pipeline);
}

void Incoming::drop(ucd_ucx_pipeline &pipeline) {
    claimed_ = true;
    abandon(pipeline);
}

void Incoming::abandon(ucd_ucx_pipeline &pipeline) {
    if (in_use_ == 0) receiving_ = nullptr;
    state_.end();
    drop_waiting();
    answer(pipeline);
    conclude(pipeline);
}

void Incoming::drop_waiting() {
    while (!waiting_.empty()) {
        const std::unique_ptr<Arrival> arrival(static_cast<Arrival *>(&waiting_.pop()));
        settled_ += arrival->bytes;
    }
}

bool Incoming::find_room(ucd_ucx_pipeline &pipeline, const Arrival &arrival, Block &block) {
    if (arrival.is_ring()) {
        block = receiving_->take_copy(pipeline, arrival.bytes);
        if (block) ++blocks_;
        return true;
    }
    if (arrival.is_here() || receiving_->operand().in_place() != nullptr) return true;
    const bool urgent = blocks_ == 0;
    block = pipeline.take_chunk(receiving_->operand(), arrival.bytes, urgent);
    if (block) {
        ++blocks_;
        return true;
    }
    if (urgent) receiving_->fail(pipeline, UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    return false;
}

void Incoming::advance(ucd_ucx_pipeline &pipeline) {
    if (!claimed_ && !ended_) return;
    while (receiving_ != nullptr && !receiving_->has_failed() && !waiting_.empty() &&
           in_use_ < (first_waiting().is_ring() ? receiving_->ring_depth() : receiving_->depth())) {
        Arrival &arrival = first_waiting();
        Block block;
        if (!find_room(pipeline, arrival, block)) return;
        (void)waiting_.pop();
        ++in_use_;
        arrival.receive(pipeline, *this, std::move(block));
    }
    if (receiving_ == nullptr || receiving_->has_failed()) drop_waiting();
    conclude(pipeline);
}

void Incoming::settle(ucd_ucx_pipeline &pipeline, std::unique_ptr<Arrival> arrival,
                      ucs_status_t status, int ucd) {
    --in_use_;
    if (arrival->holds_memory()) --blocks_;
    if (!arrival->is_ticket()) settled_ += arrival->bytes;
    pipeline.messages.discharge(*this, arrival->cost());
    arrival.reset();
    if (receiving_ != nullptr) receiving_->note_progress();
    if (status != UCS_OK && !receiving_->has_failed())
        return receiving_->fail(pipeline, status, ucd);
    conclude(pipeline);
}

void Incoming::conclude(ucd_ucx_pipeline &pipeline) {
    if (in_use_ > 0) return;
    if (receiving_ != nullptr && (is_finished() || receiving_->has_failed())) {
        Receiving &receiving = *receiving_;
        receiving_ = nullptr;
        if (!receiving.is_complete()) receiving.end(pipeline);
    }
    if (claimed_ && receiving_ == nullptr) state_.end();
    const bool unclaimable = lost_ && state_.stage() == Stage::announced;
    if (receiving_ == nullptr && ((claimed_ && (is_finished() || ended_)) || unclaimable))
        pipeline.messages.forget(*this);
    else if (is_over() && ep_ == nullptr && !std::exchange(kept_for_late_, true))
        pipeline.messages.keep_for_late(*this);
}

} // namespace ucd_ucx
