#include "incoming.h"

#include "receiving.h"

namespace ucd_ucx {

void Incoming::learn(const Arrival &arrival) {
    if (total_ == UINT64_MAX) total_ = arrival.header.total;
    if (ep_ != nullptr || arrival.reply_ep == nullptr) return;
    ep_ = arrival.reply_ep;
    since_ = arrival.since;
}

void Incoming::deliver(ucd_ucx_pipeline &pipeline, Arrival &arrival) {
    header_ = arrival.header;
    user_header_ = std::move(arrival.user_header);
    delivered_ = true;
    pipeline.deliver(*this);
}

void Incoming::add(ucd_ucx_pipeline &pipeline, std::unique_ptr<Arrival> arrival) {
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

void Incoming::lose(ucd_ucx_pipeline &pipeline, ucp_ep_h ep, ucs_status_t status, uint64_t before) {
    if (ep == ep_ && since_ < before) end(pipeline, status);
}

void Incoming::match(ucd_ucx_pipeline &pipeline, Receiving &receiving, uint64_t total) {
    matched_ = true;
    receiving_ = &receiving;
    total_ = total;
    if (ended_) return receiving.fail(pipeline, status_, UCD_SUCCESS);
    if (total > receiving.operand().bytes())
        return receiving.fail(pipeline, UCS_ERR_MESSAGE_TRUNCATED, UCD_SUCCESS);
    answer(pipeline);
    advance(pipeline);
}

void Incoming::drop(ucd_ucx_pipeline &pipeline) {
    matched_ = true;
    abandon(pipeline);
}

const void *Incoming::all_here() const {
    const bool here = !waiting_.empty() && first_waiting().header.kind == Kind::whole &&
                      first_waiting().is_here();
    return here ? first_waiting().data() : nullptr;
}

void Incoming::abandon(ucd_ucx_pipeline &pipeline) {
    if (in_use_ == 0) receiving_ = nullptr;
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

// So it is with all who keep to the protocol.
bool Incoming::fits(const Arrival &arrival) const {
    const uint64_t offset = arrival.header.offset;
    return offset <= total_ && arrival.bytes <= total_ - offset && arrival.bytes <= most_chunk;
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
    if (!matched_ && !ended_) return;
    while (receiving_ != nullptr && !receiving_->has_failed() && !waiting_.empty() &&
           in_use_ < (first_waiting().is_ring() ? receiving_->ring_depth() : receiving_->depth())) {
        Arrival &arrival = first_waiting();
        if (!fits(arrival)) return receiving_->fail(pipeline, UCS_ERR_INVALID_PARAM, UCD_SUCCESS);
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
    settled_ += arrival->bytes;
    arrival.reset();
    if (status != UCS_OK && !receiving_->has_failed())
        return receiving_->fail(pipeline, status, ucd);
    conclude(pipeline);
}

void Incoming::conclude(ucd_ucx_pipeline &pipeline) {
    if (in_use_ > 0) return;
    const bool all = settled_ >= total_;
    if (receiving_ != nullptr && (all || receiving_->has_failed())) {
        Receiving &receiving = *receiving_;
        receiving_ = nullptr;
        if (!receiving.is_complete()) receiving.end(pipeline);
    }
    if (matched_ && receiving_ == nullptr && (all || ended_)) pipeline.forget(*this);
}

} // namespace ucd_ucx
