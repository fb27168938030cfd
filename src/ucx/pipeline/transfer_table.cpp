#include "pipeline/transfer_table.h"

#include "pipeline/receiving.h"
#include "pipeline/sending.h"

#include <utility>

namespace ucd_ucx {

void TransferTable::reserve_sending() {
    // Grows geometrically, as push_back would.
    if (sendings_.size() == sendings_.capacity()) sendings_.reserve(2 * sendings_.size() + 1);
}

void TransferTable::add(Sending &sending) {
    sendings_.push_back(&sending);
    sending.handed_out = true;
    ++outstanding_;
}

void TransferTable::add(Receiving &receiving) {
    receivings_.push_back(&receiving);
    receiving.handed_out = true;
    ++outstanding_;
}

void TransferTable::remove(Receiving &receiving) {
    std::erase(receivings_, &receiving);
    --outstanding_;
}

bool TransferTable::advance(ucd_ucx_pipeline &pipeline) {
    bool any = false;
    // Receives first, since they free memory for sends.
    for (std::size_t i = 0; i < receivings_.size(); ++i) receivings_[i]->advance(pipeline);
    for (std::size_t i = 0; i < sendings_.size(); ++i) any |= sendings_[i]->advance(pipeline);
    return any;
}

void TransferTable::on_endpoint_failed(ucd_ucx_pipeline &pipeline, const EndpointFailure &failure) {
    for (Sending *s : sendings_)
        s->on_endpoint_failed(pipeline, failure.ep, failure.status, failure.before);
}

Queue<ucd_ucx_request> TransferTable::take_finished() {
    const auto complete = [](const ucd_ucx_request *r) { return r->is_complete(); };
    std::erase_if(sendings_, complete);
    std::erase_if(receivings_, complete);
    return std::move(finished_);
}

} // namespace ucd_ucx
