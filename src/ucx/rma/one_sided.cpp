#include "rma/one_sided.h"

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
    const std::string_view data = message.data();
    if (!message.header().empty() || data.empty() ||
        read_first_byte(static_cast<uint8_t>(data[0])) == Reading::other_version)
        return false;
    if (engine.endpoint_failures.since(message.ep, message.since) != UCS_OK) return true;
    Delivery delivery = {data, message.ep, Payload(message)};
    if (message.is_cut()) delivery.readable = Verdict::no_memory;
    take(delivery, &message);
    return true;
}

// Failures are handled before what comes later, so that all that a Peer or an EndpointOrder has is
// older than a failure that is handled.
void OneSided::take(std::unique_ptr<AmData> message) {
    if (engine.endpoint_failures.any_noted()) {
        AmData &later = *message.release();
        return engine.events.put(later);
    }
    if (const auto refusal = refusal_of_version_2(message->header(), message->data());
        refusal && engine.endpoint_failures.since(message->ep, message->since) == UCS_OK)
        return target.refuse_old(message->ep, *refusal);
    (void)take_at_once(*message);
}

// Whatever happens here, the transfers must continue with the next message.
void OneSided::take_message(RecvMessage &message) {
    Delivery delivery = {message.user_header(), message.ep(), Payload(message)};
    const MessageHeader &h = message.header();
    if (h.detail != 0 || h.offset != 0) return; // mean nothing here
    (void)without_exceptions([&] {
        engine.handle_endpoint_failures(); // as above
        // Without an endpoint, no answer is possible.
        if (message.ep() != nullptr && transfers.failure_of(message) == UCS_OK)
            take(delivery, nullptr);
        return success;
    });
}

void OneSided::take(Delivery &delivery, AmData *alone) {
    const Verb &verb = delivery.preamble.verb;
    const Reading reading = decode(delivery.message, delivery.preamble);
    if (reading == Reading::malformed || reading == Reading::other_version) return;
    if (verb == Verb::several) {
        if (alone != nullptr) take_parts(*alone);
        return;
    }
    // Data is not converted, so peers of the other byte order refuse each other's requests.
    if (reading == Reading::other_byte_order) delivery.readable = Verdict::not_supported;
    if (is_request(verb)) return target.take_request(delivery);
    if (verb == Verb::type) return target.take_type(delivery);
    RmaOperation *const operation = origin.find(delivery.preamble.number, delivery.ep);
    if (is_answer(verb) && operation != nullptr) return operation->answered(delivery);
    // The rest always comes alone.
    if (alone == nullptr || delivery.readable != Verdict::done) return;
    if (verb == Verb::need_type && operation != nullptr) operation->type_asked_for();
    if (verb == Verb::introduction) access.take_introduction(delivery.ep, delivery.message);
    if (verb == Verb::grant) access.take_grant(delivery.ep, delivery.message);
}

// Of a message that is cut, those parts that have arrived completely.
void OneSided::take_parts(AmData &message) {
    std::string_view left = message.data().substr(0, max_bytes_of_several);
    left.remove_prefix(Preamble::bytes);
    for (std::string_view one; !(one = take_part(left)).empty();) {
        Delivery delivery = {one, message.ep, Payload(message, true)};
        take(delivery, nullptr);
    }
}

// Progress --------------------------------------------------------------------

void OneSided::on_endpoint_failed(const EndpointFailure &f) {
    origin.on_endpoint_failed(f.ep, f.status);
    target.on_endpoint_failed(f.ep);
    access.on_endpoint_failed(f.ep);
}

bool OneSided::advance() {
    const bool any = retry_on_bad_alloc([this] { return target.progress(); });
    return retry_on_bad_alloc([this] {
               messages.send_gathered();
               origin.check_times();
               target.reserve_answers();
               return false;
           }) ||
           any;
}

} // namespace ucd_ucx::rma
