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
Admission TransferState::take(const MessageHeader &h, uint64_t bytes, bool waits) {
    using enum MessageKind;
    const unsigned user = bit_of_kind(whole) | bit_of_kind(user_offer),
                   tagged = bit_of_kind(offer) | bit_of_kind(opening);
    const bool has_data = h.kind == whole || h.kind == chunk || h.kind == ring_chunk;
    if (h.total != total_ || (!has_data && bytes != 0)) return Admission::refuse;
    switch (h.kind) {
    case whole: // goes to the offset in its header, which must therefore be 0
        return accept_if(h.offset == 0 && bytes == total_ && seen_.add(0, bytes) &&
                         note(h.kind, user | tagged));
    case user_offer: return accept_if(note(h.kind, user | tagged));
    case offer: return accept_if(note(h.kind, user));
    case chunk:
    case ring_chunk: return take_chunk(h, bytes, waits);
    case route: return take_route(h, waits);
    case direct:
        // Without rendezvous, the sender would not learn that its memory was read.
        if (!waits || !note(h.kind)) return Admission::refuse;
        return takes_data() ? Admission::accept : Admission::ignore;
    case withdraw: return Admission::accept; // also if the transfer was dropped: it then ends
    default: return Admission::refuse;       // no active message of a transfer that arrives here
    }
}

Admission TransferState::take_chunk(const MessageHeader &h, uint64_t bytes, bool waits) {
    const bool fits =
        bytes > 0 && bytes <= max_chunk && h.offset <= total_ && bytes <= total_ - h.offset;
    const bool lacks_receipt = h.kind == MessageKind::ring_chunk && !waits;
    if (!fits || lacks_receipt || !seen_.add(h.offset, bytes)) return Admission::refuse;
    return takes_data() ? Admission::accept : Admission::ignore;
}

// All routes that a sender offers come with the same set, each once.
Admission TransferState::take_route(const MessageHeader &h, bool waits) {
    const bool is_offered =
        static_cast<std::size_t>(h.route()) < max_routes && (h.offered() & bit_of(h.route())) != 0;
    if (!is_offered || (offered_ != 0 && offered_ != h.offered())) return Admission::refuse;
    offered_ = h.offered();
    if (has_come(h.route())) return Admission::ignore;
    routes_came_ = static_cast<uint8_t>(routes_came_ | bit_of(h.route()));
    // Without rendezvous, UCX has already told the sender that the offer was fetched.
    return waits && takes_data() ? Admission::accept : Admission::ignore;
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
