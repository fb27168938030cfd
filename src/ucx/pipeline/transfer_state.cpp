#include "pipeline/transfer_state.h"

#include "datatype/options.h"

namespace ucd_ucx {

bool TransferState::note(MessageKind kind, unsigned others) {
    const unsigned bit = bit_of_kind(kind);
    if ((came_ & (bit | others)) != 0) return false;
    came_ = static_cast<uint16_t>(came_ | bit);
    return true;
}

// Messages -----------------------------------------------------------------

static Admission accept_if(bool is_right) {
    return is_right ? Admission::accept : Admission::refuse;
}

// Tagged transfers are opened by a tagged message, those of users by an active message.
Admission TransferState::take(const MessagePart &part) {
    using enum MessageKind;
    const unsigned user = bit_of_kind(whole) | bit_of_kind(user_offer),
                   tagged = bit_of_kind(offer) | bit_of_kind(opening);
    const bool has_data = part.kind == whole || part.kind == chunk || part.kind == ring_chunk;
    if (part.total != total_ || (!has_data && part.bytes != 0)) return Admission::refuse;
    switch (part.kind) {
    case whole: // goes to the offset in its header, which must therefore be 0
        return accept_if(part.offset == 0 && part.bytes == total_ && seen_.add(0, part.bytes) &&
                         note(part.kind, user | tagged));
    case user_offer: return accept_if(note(part.kind, user | tagged));
    case offer: return accept_if(note(part.kind, user));
    case chunk:
    case ring_chunk: return take_chunk(part);
    case route: return take_route(part);
    case direct:
        // Without rendezvous, the sender would not learn that its memory was read.
        if (!part.rendezvous || !note(part.kind)) return Admission::refuse;
        return takes_data() ? Admission::accept : Admission::ignore;
    case withdraw: return Admission::accept; // also if the transfer was dropped: it then ends
    default: return Admission::refuse;       // no active message of a transfer that arrives here
    }
}

Admission TransferState::take_chunk(const MessagePart &part) {
    const bool fits = part.bytes > 0 && part.bytes <= max_chunk && part.offset <= total_ &&
                      part.bytes <= total_ - part.offset;
    const bool lacks_receipt = part.kind == MessageKind::ring_chunk && !part.rendezvous;
    if (!fits || lacks_receipt || !seen_.add(part.offset, part.bytes)) return Admission::refuse;
    return takes_data() ? Admission::accept : Admission::ignore;
}

// All routes that a sender offers come with the same set, each once.
Admission TransferState::take_route(const MessagePart &part) {
    const bool is_offered = static_cast<std::size_t>(part.route) < max_routes &&
                            (part.offered & bit_of(part.route)) != 0;
    if (!is_offered || (offered_ != 0 && offered_ != part.offered)) return Admission::refuse;
    offered_ = part.offered;
    if (has_come(part.route)) return Admission::ignore;
    routes_came_ = static_cast<uint8_t>(routes_came_ | bit_of(part.route));
    // Without rendezvous, UCX has already told the sender that the offer was fetched.
    return part.rendezvous && takes_data() ? Admission::accept : Admission::ignore;
}

Admission TransferState::open(uint64_t total) {
    const unsigned user = bit_of_kind(MessageKind::whole) | bit_of_kind(MessageKind::user_offer);
    return accept_if(total == total_ && note(MessageKind::opening, user));
}

// Stages -------------------------------------------------------------------

bool TransferState::go_on(TransferStage NextStages::*event) {
    using enum TransferStage;
    constexpr auto none = static_cast<TransferStage>(255); // it may not happen
    constexpr NextStages next[] = {
        {delivered, matched, receiving, discarding, none, withdrawn, none}, // announced
        {none, matched, receiving, discarding, none, revoked, none},        // delivered
        {none, matched, receiving, discarding, none, over, none},           // matched
        {none, none, none, discarding, none, over, none},                   // receiving
        {none, none, none, none, late, over, none},                         // discarding
        {none, none, none, none, none, over, none},                         // late
        {none, none, none, over, none, none, over},                         // withdrawn
        {none, none, none, over, none, none, none},                         // revoked
        {none, none, none, none, none, none, none},                         // over
    };
    const TransferStage found = next[static_cast<std::size_t>(stage_)].*event;
    if (found == none) return false;
    stage_ = found;
    return true;
}

} // namespace ucd_ucx
