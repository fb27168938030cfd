#include "pipeline/transfer_state.h"

#include "datatype/options.h"

#include <initializer_list>

namespace ucd_ucx {

bool TransferState::note(MessageKind kind, unsigned others) {
    const unsigned bit = bit_of_kind(kind);
    if ((came_ & (bit | others)) != 0) return false;
    came_ = static_cast<uint16_t>(came_ | bit);
    return true;
}

// Messages -----------------------------------------------------------------

// Tagged transfers are opened by a tagged message, those of users by an active message.
Admission TransferState::take(const MessagePart &part) {
    const unsigned user = bit_of_kind(MessageKind::whole) | bit_of_kind(MessageKind::user_offer);
    const unsigned tagged = bit_of_kind(MessageKind::offer) | bit_of_kind(MessageKind::opening);
    if (part.total != total_) return Admission::refuse;
    switch (part.kind) {
    case MessageKind::whole:
        // The data of a whole message goes to the offset in its header, which must therefore be 0.
        if (part.offset != 0 || part.bytes != total_ || !seen_.add(0, part.bytes))
            return Admission::refuse;
        return note(part.kind, user | tagged) ? Admission::accept : Admission::refuse;
    case MessageKind::user_offer:
        return part.bytes == 0 && note(part.kind, user | tagged) ? Admission::accept
                                                                 : Admission::refuse;
    case MessageKind::offer:
        return part.bytes == 0 && note(part.kind, user) ? Admission::accept : Admission::refuse;
    case MessageKind::chunk:
    case MessageKind::ring_chunk: {
        const bool fits = part.bytes > 0 && part.bytes <= max_chunk && part.offset <= total_ &&
                          part.bytes <= total_ - part.offset;
        const bool ring = part.kind == MessageKind::ring_chunk;
        if (!fits || (ring && !part.rendezvous) || !seen_.add(part.offset, part.bytes))
            return Admission::refuse;
        return takes_data() ? Admission::accept : Admission::ignore;
    }
    case MessageKind::route: return take_route(part);
    case MessageKind::direct:
        // Without rendezvous, the sender would not learn that its memory was read.
        if (part.bytes != 0 || !part.rendezvous || !note(part.kind)) return Admission::refuse;
        return takes_data() ? Admission::accept : Admission::ignore;
    case MessageKind::introduction:
    case MessageKind::direct_type:
    case MessageKind::decline: break; // of no transfer here
    case MessageKind::withdraw:       // also if the transfer was dropped: it then ends
        return part.bytes == 0 ? Admission::accept : Admission::refuse;
    case MessageKind::opening: break; // not an active message
    }
    return Admission::refuse;
}

// All routes that a sender offers come with the same set, each once.
Admission TransferState::take_route(const MessagePart &part) {
    const bool is_offered = static_cast<std::size_t>(part.route) < max_routes &&
                            (part.offered & bit_of(part.route)) != 0;
    if (!is_offered || part.bytes != 0 || (offered_ != 0 && offered_ != part.offered))
        return Admission::refuse;
    offered_ = part.offered;
    if (has_come(part.route)) return Admission::ignore;
    routes_came_ = static_cast<uint8_t>(routes_came_ | bit_of(part.route));
    // Without rendezvous, UCX has already told the sender that the offer was fetched.
    return part.rendezvous && takes_data() ? Admission::accept : Admission::ignore;
}

Admission TransferState::open(uint64_t total) {
    if (total != total_ || !note(MessageKind::opening, bit_of_kind(MessageKind::whole) |
                                                           bit_of_kind(MessageKind::user_offer)))
        return Admission::refuse;
    return Admission::accept;
}

// Stages -------------------------------------------------------------------

bool TransferState::deliver() {
    if (stage_ != TransferStage::announced) return false;
    stage_ = TransferStage::delivered;
    return true;
}

bool TransferState::claim(bool knows_endpoint) {
    if (!takes_data() || stage_ == TransferStage::receiving) return false;
    stage_ = knows_endpoint ? TransferStage::receiving : TransferStage::matched;
    return true;
}

bool TransferState::release() {
    switch (stage_) {
    case TransferStage::announced:
    case TransferStage::delivered:
    case TransferStage::matched:
    case TransferStage::receiving: stage_ = TransferStage::discarding; return true;
    case TransferStage::withdrawn:
    case TransferStage::revoked: stage_ = TransferStage::over; return true;
    case TransferStage::discarding:
    case TransferStage::late:
    case TransferStage::over: break;
    }
    return false;
}

bool TransferState::become_late() {
    if (stage_ != TransferStage::discarding) return false;
    stage_ = TransferStage::late;
    return true;
}

bool TransferState::end() {
    switch (stage_) {
    case TransferStage::announced: stage_ = TransferStage::withdrawn; return true;
    case TransferStage::delivered: stage_ = TransferStage::revoked; return true;
    case TransferStage::matched:
    case TransferStage::receiving:
    case TransferStage::discarding:
    case TransferStage::late: stage_ = TransferStage::over; return true;
    case TransferStage::withdrawn:
    case TransferStage::revoked:
    case TransferStage::over: break;
    }
    return false;
}

bool TransferState::lose_endpoint() {
    if (stage_ != TransferStage::withdrawn) return false;
    stage_ = TransferStage::over;
    return true;
}

} // namespace ucd_ucx
