#include "pipeline/transfers.h"

#include "common/tokens.h"
#include "pipeline/framed.h"
#include "pipeline/receiving.h"
#include "pipeline/recv_message.h"
#include "pipeline/recv_part.h"
#include "pipeline/send_chunk.h"
#include "pipeline/sending.h"

#include <algorithm>
#include <utility>

namespace ucd_ucx {

Transfers::Transfers(WorkerEngine &of)
    : engine(of), mappings(of.ledger), types_to_send(of.ledger.remembered_limit()),
      types_of_peers(of.ledger), messages(*this) {
    engine.attach_transfers(*this);
}

Transfers::~Transfers() {
    messages.clear();
    (void)free_dropped(UINT64_MAX);
    while (!finished_.empty()) static_cast<ucd_ucx_request &>(finished_.pop()).let_go();
}

Status Transfers::open() {
    return framed->make(framed_callbacks);
}

// UCX's header also has ours.
std::size_t Transfers::max_user_header() const {
    return engine.max_am_header() - 64;
}

// Only the two ends of an endpoint know its stream, so that no third process can forge messages of
// its transfers.
MessageId Transfers::next_id(ucp_ep_h ep) {
    uint64_t &stream = streams_[ep];
    if (stream == 0) stream = random_token();
    return {stream, ++number_};
}

// Starting ----------------------------------------------------------------

template <class Start>
Status Transfers::start_send(ucp_ep_h ep, const Data &data, const ucd_ucx_param_t *param,
                             bool is_tagged, const TransferTerms &terms,
                             ucd_ucx_request_t *transfer, Start &&start) {
    auto started = std::make_unique<Sending>(*this);
    UCD_TRY(started->set(ep, data, param, is_tagged, terms));
    // own: the program's sends, and answers, which are charged. Now, because a transfer that UCX
    // knows must be in the table. Grows geometrically, as push_back would.
    if (sendings_.size() == sendings_.capacity()) sendings_.reserve(2 * sendings_.size() + 1);
    start(*started);
    *transfer = UCD_UCX_REQUEST__NULL;
    if (started->is_complete()) return started->start_status();
    sendings_.push_back(started.get());
    started->handed_out = true;
    *transfer = started.release();
    return success;
}

Status Transfers::send_tagged(ucp_ep_h ep, const Data &data, ucp_tag_t tag,
                              const ucd_ucx_param_t *param, ucd_ucx_request_t *transfer) {
    return start_send(ep, data, param, true, {}, transfer,
                      [tag](Sending &started) { started.start_tagged(tag); });
}

Status Transfers::send_active(ucp_ep_h ep, unsigned id, std::string_view header, const Data &data,
                              const ucd_ucx_param_t *param, const TransferTerms &terms,
                              ucd_ucx_request_t *transfer) {
    if (header.size() > max_user_header())
        return fail(UCD_ERR__INVALID_ARG, "header_length is %zu; it must be at most %zu",
                    header.size(), max_user_header());
    return start_send(ep, data, param, false, terms, transfer,
                      [&](Sending &started) { started.start_am(id, header); });
}

template <class Start>
Status Transfers::start_receive(const Data &to, ucd_op_t op, const ucd_ucx_param_t *param,
                                const TransferTerms &terms, ucd_ucx_request_t *transfer,
                                Start &&start) {
    auto started = std::make_unique<Receiving>(*this);
    UCD_TRY(started->set(to, param, op, terms));
    receivings_.push_back(started.get());
    started->handed_out = true;
    const Status status = start(*started);
    if (status.ok())
        *transfer = started.release();
    else
        receivings_.pop_back();
    return status;
}

Status Transfers::receive_tagged(const Data &to, ucp_tag_t tag, ucp_tag_t mask,
                                 const ucd_ucx_param_t *param, ucd_ucx_request_t *transfer) {
    return start_receive(to, UCD_OP__REPLACE, param, {}, transfer,
                         [=](Receiving &started) { return started.start_tagged(tag, mask); });
}

Status Transfers::receive_active(RecvMessage &message, const Data &to, ucd_op_t op,
                                 const ucd_ucx_param_t *param, const TransferTerms &terms,
                                 ucd_ucx_request_t *transfer) {
    return start_receive(to, op, param, terms, transfer, [&message](Receiving &started) {
        const Status status = without_exceptions([&] {
            started.start_am(message);
            return success;
        });
        if (!status.ok()) started.stop(ucx_status_of(status.code()), status.code());
        return success;
    });
}

// Messages ------------------------------------------------------------------

void Transfers::take(std::unique_ptr<AmData> am_data) {
    // The message may have arrived before its endpoint failed, which is only known now. In that
    // case nothing may be sent back, but the user is still told of a user's message.
    const ucs_status_t failed = engine.endpoint_failures.since(am_data->ep, am_data->since);
    RecvMessage *message = nullptr;
    Admission admission = Admission::ignore;
    std::unique_ptr<RecvPart> part;
    try {
        part = RecvPart::make(*this, am_data);
        if (part == nullptr || take_about_direct(*part, failed)) return;
        const MessageHeader &h = part->header;
        if (failed != UCS_OK) end_stream(h.id.stream, failed);
        const bool is_users = h.kind == MessageKind::whole || h.kind == MessageKind::user_offer;
        if (failed != UCS_OK && !is_users) return;
        const ucp_ep_h from = failed == UCS_OK ? part->am_data->ep : nullptr;
        message = h.kind == MessageKind::withdraw ? messages.find(from, h.id)
                                                  : messages.get(from, h, part->am_data->since);
        if (message != nullptr) admission = message->admit(*part);
    } catch (const std::bad_alloc &) { // nothing has changed
        if (part != nullptr) am_data = std::move(part->am_data);
        engine.events.put_back(*am_data.release());
        throw;
    }
    if (message == nullptr) return;
    message->take(std::move(part), admission);
    if (failed != UCS_OK) message->on_endpoint_failed(failed);
}

bool Transfers::take_about_direct(const RecvPart &part, ucs_status_t failed) {
    const MessageHeader &h = part.header;
    const bool takes =
        failed == UCS_OK && engine.options.direct != Trust::none && part.unused_are_zero();
    switch (h.kind) {
    case MessageKind::introduction:
        // Where UCX does not use rendezvous, a sender would not learn that its data was read.
        if (takes && !part.is_here())
            engine.links.connect(part.am_data->ep, part.following<Introduction>());
        return true;
    case MessageKind::direct_type:
        if (takes && !part.am_data->is_cut() && engine.links.to_owner(part.am_data->ep) != nullptr)
            types_of_peers.learn(part.am_data->ep, part.am_data->data());
        return true;
    case MessageKind::decline:
        // Each looks at all sends, so only peers that may be asked can cause it.
        if (!takes) return true;
        for (Sending *sending : sendings_)
            sending->on_declined(part.am_data->ep, h.id, static_cast<Decline>(h.detail));
        return true;
    default: return false;
    }
}

void Transfers::on_link_ended(ucp_ep_h ep, bool is_process) {
    mappings.close(ep);
    for (Sending *sending : sendings_)
        if (is_process) sending->on_link_ended(ep);
    for (RecvMessage *message = messages.next_of(ep, std::nullopt); message != nullptr;
         message = messages.next_of(ep, message->id()))
        message->on_link_ended(is_process);
}

void Transfers::deliver(RecvMessage &message) {
    delivered_.push(message);
}

void Transfers::end_stream(uint64_t stream, ucs_status_t status) {
    for (RecvMessage *message : messages.end_stream(stream, status))
        message->on_endpoint_failed(status);
}

void Transfers::on_barred(ucp_ep_h ep) {
    for (Sending *sending : sendings_) sending->on_barred(ep);
    end_messages({ep, UCS_ERR_EXCEEDS_LIMIT, UINT64_MAX});
}

void Transfers::on_endpoint_failed(const EndpointFailure &f) {
    mappings.close(f.ep);
    streams_.erase(f.ep);
    for (Sending *s : sendings_) s->on_endpoint_failed(f.ep, f.status, f.before);
    end_messages(f);
    messages.remove_endpoint(f.ep, f.before);
}

// Messages that receives have taken end at once: nothing may be sent to the endpoint, nor fetched
// from it. There may be many others.
void Transfers::end_messages(const EndpointFailure &f) {
    for (const uint64_t stream : messages.streams_of(f.ep, f.before)) end_stream(stream, f.status);
    ending_[f.ep] = {f.status, f.before, std::nullopt}; // first, since this alone may fail
    for (Receiving *receiving : receivings_) {
        RecvMessage *const message = receiving->message();
        if (message != nullptr && message->ep() == f.ep && message->since() < f.before)
            message->on_endpoint_failed(f.status);
    }
    (void)end_some();
}

ucs_status_t Transfers::failure_of(const RecvMessage &message) const {
    if (ending_.empty()) return UCS_OK;
    const auto found = ending_.find(message.ep());
    const bool ends = found != ending_.end() && message.since() < found->second.before;
    return ends ? found->second.status : UCS_OK;
}

bool Transfers::end_some() {
    const bool any = !ending_.empty();
    for (auto at = ending_.begin(); at != ending_.end() && ends_left_ > 0;) {
        Ending &ending = at->second;
        RecvMessage *message = nullptr;
        for (; ends_left_ > 0; --ends_left_) {
            message = messages.next_of(at->first, ending.last);
            if (message == nullptr) break;
            const MessageId id = message->id();
            if (message->since() < ending.before) message->on_endpoint_failed(ending.status);
            ending.last = id;
        }
        if (ends_left_ > 0) at = ending_.erase(at);
    }
    return any;
}

bool Transfers::free_dropped(uint64_t most) {
    const bool any = !dropped_.empty();
    for (; !dropped_.empty() && most > 0; --most) delete static_cast<RecvPart *>(&dropped_.pop());
    return any;
}

// Progress --------------------------------------------------------------------

std::size_t Transfers::outstanding() const {
    const auto count = [](const auto &started) {
        return std::count_if(started.begin(), started.end(),
                             [](const auto *transfer) { return !transfer->is_complete(); });
    };
    return static_cast<std::size_t>(count(sendings_) + count(receivings_));
}

// Passes on which transfers have ended, and which messages have been announced.
void Transfers::pass_on() noexcept {
    const auto complete = [](const ucd_ucx_request *r) { return r->is_complete(); };
    if (!finished_.empty()) {
        std::erase_if(sendings_, complete);
        std::erase_if(receivings_, complete);
    }
    for (Queue<Notice> finished = std::move(finished_); !finished.empty();) {
        auto &transfer = static_cast<Transfer &>(finished.pop());
        if (transfer.owner() == nullptr) {
            engine.notices.push(transfer);
            continue;
        }
        transfer.owner()->transfer_ended(transfer, transfer.result());
        delete &transfer;
    }
    for (Queue<Notice> delivered = std::move(delivered_); !delivered.empty();) {
        auto &message = static_cast<RecvMessage &>(delivered.pop());
        if (receiver_ != nullptr && message.header().user_id == own_id)
            receiver_->take_message(message);
        else if (engine.handler.callback != nullptr)
            engine.notices.push(message);
        else
            message.abandon();
    }
}

bool Transfers::advance() {
    bool any = retry_on_bad_alloc([this] {
        bool moves = false;
        // Receives first, since they free memory for sends.
        for (std::size_t i = 0; i < receivings_.size(); ++i) receivings_[i]->advance();
        for (std::size_t i = 0; i < sendings_.size(); ++i) moves |= sendings_[i]->advance();
        return moves;
    });
    any |= retry_on_bad_alloc([this] { return end_some(); });
    ends_left_ = ends_of_call;
    messages.delete_forgotten();
    any |= !finished_.empty() || !delivered_.empty();
    pass_on();
    any |= free_dropped(ends_of_call);
    return any;
}

} // namespace ucd_ucx
