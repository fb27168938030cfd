#include "pipeline/transfer_state.h"

#include "datatype/options.h"

#include <utility>

namespace ucd_ucx {

bool TransferState::join(Family family) {
    if (family_ == Family::unknown) family_ = family;
    return family_ == family;
}

Admission TransferState::take_announcement(Family family) {
    if (announced_ || !join(family)) return Admission::refuse;
    announced_ = true;
    return Admission::accept;
}

Admission TransferState::take(const Part &part) {
    if (part.total != total_) return Admission::refuse;
    switch (part.kind) {
    case Kind::whole:
        // The data of a whole message goes to the offset in its header, which must therefore be 0.
        if (part.offset != 0 || part.bytes != total_ || !seen_.add(0, part.bytes))
            return Admission::refuse;
        return take_announcement(Family::user);
    case Kind::user_offer:
        return part.bytes != 0 ? Admission::refuse : take_announcement(Family::user);
    case Kind::offer:
        return part.bytes != 0 ? Admission::refuse : take_announcement(Family::tagged);
    case Kind::chunk:
    case Kind::ring_chunk: {
        const bool fits = part.bytes > 0 && part.bytes <= max_chunk && part.offset <= total_ &&
                          part.bytes <= total_ - part.offset;
        const bool ring = part.kind == Kind::ring_chunk;
        if (!fits || (ring && !part.rendezvous) || !seen_.add(part.offset, part.bytes))
            return Admission::refuse;
        return stage_ == Stage::done ? Admission::ignore : Admission::accept;
    }
    case Kind::ring_refuse:
    case Kind::ring_accept: {
        bool &may = part.kind == Kind::ring_refuse ? may_refuse_ring_ : may_accept_ring_;
        // Without rendezvous, UCX has already told the sender that the offer was fetched.
        if (!std::exchange(may, false) || !part.rendezvous || stage_ == Stage::done)
            return Admission::ignore;
        return Admission::accept;
    }
    case Kind::withdraw: return Admission::accept; // also if the transfer was dropped: it then ends
    case Kind::opening: break;                     // not an active message
    }
    return Admission::refuse;
}

Admission TransferState::open(uint64_t total) {
    if (total != total_ || opened_ || !join(Family::tagged)) return Admission::refuse;
    opened_ = true;
    if (stage_ == Stage::announced) stage_ = Stage::matched;
    return Admission::accept;
}

} // namespace ucd_ucx
