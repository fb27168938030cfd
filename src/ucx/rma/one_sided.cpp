#include "rma/one_sided.h"

#include "pipeline/recv_message.h"

namespace ucd_ucx::rma {

OneSided::OneSided(WorkerEngine &of, Transfers &data, uint64_t peer_operations)
    : engine(of), transfers(data), messages(*this), access(*this),
      origin(*this, of.ledger.remembered_limit()), target(*this, peer_operations) {
    engine.attach_one_sided(*this);
    transfers.pass_messages_to(*this);
}

Status OneSided::check_idle() const {
    if (!origin.is_idle())
        return fail(UCD_ERR__INVALID_ARG, "*ucx has an operation that is not complete");
    if (target.has_windows()) return fail(UCD_ERR__INVALID_ARG, "*ucx has a window");
    if (messages.unsent() > 0 || target.has_gone_windows())
        return fail(UCD_ERR__INVALID_ARG, "*ucx has an answer that is not sent yet");
    return success;
}

Status OneSided::send(ucp_ep_h ep, const Encoded &message, const Data &data, ucd_info_t info,
                      const TransferTerms &terms, ucd_ucx_request_t *transfer) {
    const ucd_ucx_param_t param = {sizeof param, info, nullptr, nullptr};
    return transfers.send_active(ep, Transfers::own_id, message.text(), data, &param, terms,
                                 transfer);
}

// Messages ------------------------------------------------------------------

// Messages of version 2 are refused later, because few of them come.
bool OneSided::take_at_once(AmData &message) {
    if (!message.header().empty() ||
        read_first_byte(static_cast<uint8_t>(message.data()[0])) == Reading::other_version)
        return false;
    if (engine.endpoint_failures.since(message.ep, message.since) == UCS_OK) take_whole(message);
    return true;
}

void OneSided::take(std::unique_ptr<AmData> message) {
    if (engine.endpoint_failures.since(message->ep, message->since) != UCS_OK) return;
    if (const auto refusal = refusal_of_version_2(message->header(), message->data()))
        target.refuse_old(message->ep, *refusal);
    else if (!message->is_cut())
        take_whole(*message);
    else
        take_beginning(*message);
}

void OneSided::take_whole(AmData &message) {
    Delivery delivery = {message.data(), message.ep, message.since, Payload(message)};
    take(delivery, &message);
}

// Whatever happens here, the transfers must continue with the next message.
void OneSided::take_message(RecvMessage &message) {
    Delivery delivery = {message.user_header(), message.ep(), engine.events.now(),
                         Payload(transfers, message)};
    if (message.ep() == nullptr) return; // no answer is possible
    const MessageHeader &h = message.header();
    if (h.detail != 0 || h.offset != 0) return; // mean nothing here
    (void)without_exceptions([&] {
        take(delivery, nullptr);
        return success;
    });
}

// There was no memory for all of the message.
void OneSided::take_beginning(AmData &message) {
    const Delivery delivery = {message.data(), message.ep, message.since, Payload()};
    Preamble preamble;
    const Reading reading = decode(delivery.message, preamble);
    if (reading != Reading::good) return;
    if (is_request(preamble.verb)) target.refuse(preamble, delivery, Verdict::no_memory);
    if (preamble.verb == Verb::type) target.lose_type(preamble.number, message.ep);
    if (is_answer(preamble.verb))
        origin.take_failure(preamble.number, message.ep, UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    if (preamble.verb == Verb::several) take_parts(message); // those that have arrived completely
}

// What else comes this way is ignored.
void OneSided::take_parts(AmData &message) {
    std::string_view left = message.data().substr(0, max_bytes_of_several);
    left.remove_prefix(Preamble::bytes);
    for (std::string_view one; !(one = take_part(left)).empty();) {
        Delivery delivery = {one, message.ep, message.since, Payload(message, true)};
        Preamble preamble;
        const Reading reading = decode(one, preamble);
        if (reading == Reading::other_byte_order)
            take_foreign(preamble, delivery);
        else if (reading != Reading::good)
            continue;
        else if (is_answer(preamble.verb))
            take_answer(preamble, delivery);
        else if (is_request(preamble.verb))
            target.take_request(preamble, delivery);
        else if (preamble.verb == Verb::type)
            take_type(preamble, delivery);
    }
}

void OneSided::take_answer(const Preamble &preamble, Delivery &delivery) {
    Answer answer;
    std::string_view data;
    if (!decode(delivery.message, preamble, answer, data))
        return origin.take_failure(preamble.number, delivery.ep, UCS_ERR_INVALID_PARAM,
                                   UCD_SUCCESS);
    delivery.set_data(data);
    origin.take_answer(answer, delivery);
}

void OneSided::take_type(const Preamble &preamble, Delivery &delivery) {
    delivery.set_data(delivery.message.substr(Preamble::bytes));
    target.take_type(preamble.number, delivery);
}

void OneSided::take(Delivery &delivery, AmData *am_data) {
    Preamble preamble;
    const Reading reading = decode(delivery.message, preamble);
    if (reading == Reading::other_byte_order && preamble.verb != Verb::several)
        return take_foreign(preamble, delivery);
    if (reading != Reading::good && reading != Reading::other_byte_order) return;
    switch (preamble.verb) {
    case Verb::put:
    case Verb::get:
    case Verb::accumulate:
    case Verb::get_accumulate: return target.take_request(preamble, delivery);
    case Verb::type: return take_type(preamble, delivery);
    case Verb::answer:
    case Verb::answer_with_handle: return take_answer(preamble, delivery);
    case Verb::need_type: return origin.take_question(preamble.number, delivery.ep);
    case Verb::introduction: return access.take_introduction(delivery.ep, delivery.message);
    case Verb::grant: return access.take_grant(delivery.ep, delivery.message);
    case Verb::several:
        if (am_data != nullptr) take_parts(*am_data);
        return;
    }
}

// A message from a peer of the other byte order. Data is not converted, so such peers refuse each
// other's requests.
void OneSided::take_foreign(const Preamble &preamble, Delivery &delivery) {
    if (is_request(preamble.verb)) target.refuse(preamble, delivery, Verdict::not_supported);
    if (is_answer(preamble.verb)) take_refusal(preamble, delivery);
}

void OneSided::take_refusal(const Preamble &preamble, Delivery &delivery) {
    origin.take_answer({Verdict::not_supported, UCD_SUCCESS, preamble.number, 0}, delivery);
}

// Progress --------------------------------------------------------------------

void OneSided::on_endpoint_failed(const EndpointFailure &f) {
    origin.on_endpoint_failed(f.ep, f.status);
    target.on_endpoint_failed(f.ep, f.before);
    access.on_endpoint_failed(f.ep);
}

bool OneSided::advance() {
    bool any = false;
    const auto part = [&any](auto &&body) { any |= retry_on_bad_alloc(body); };
    part([this] { return target.progress(); });
    part([this] {
        messages.send_gathered();
        return false;
    });
    part([this] {
        origin.check_times();
        return false;
    });
    part([this] {
        target.reserve_answers();
        return false;
    });
    return any;
}

} // namespace ucd_ucx::rma
