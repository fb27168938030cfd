// The sender's side of transfers whose data the receiver reads where it is. See
// docs/guide/direct.md.

#include "pipeline/sending_direct.h"

#include "direct/host_copy.h"

namespace ucd_ucx {
namespace {

// By measurement (docs/guide/direct.md): for shorter segments of device memory, the ring is faster.
constexpr uint64_t min_device_segment = 128;

bool is_worth_offering_on_device(const ucd_layout_t &layout) {
    return layout.segments > 0 && layout.bytes / layout.segments >= min_device_segment;
}

} // namespace

void Sending::prepare_direct() {
    // The peer has asked for other transfers: then its messages already say how.
    if (options_.direct == Trust::none || terms_.owner != nullptr) return;
    Links &links = transfers_.engine.links;
    if (const Link *link = links.to_reader(ep_); link == nullptr) {
        const std::optional<Introduction> introduction = links.introduce(ep_);
        if (!introduction) return;
        direct_ = std::make_unique<SendingDirect>(*this);
        direct_->introduction = introduction;
        return;
    }
    const bool always = options_.direct == Trust::always;
    if (buffer_.is_by_reference() || (!always && buffer_.bytes() < options_.direct_bytes)) return;
    TypePtr type;
    const ucd_layout_t *layout;
    if (!transfers_.direct.find(buffer_.type(), type).ok() ||
        !type->measure(buffer_.count(), layout).ok() ||
        type->flattened.size() > DirectTypes::max_flattened)
        return;
    const bool on_device = !buffer_.device().empty();
    if (!on_device && !buffer_.on_host()) return;
    if (!always && !(on_device ? is_worth_offering_on_device(*layout) : has_long_segments(*layout)))
        return;
    DirectPlace place;
    place.base = reinterpret_cast<uintptr_t>(buffer_.buf());
    place.low = layout->low;
    place.high = layout->high;
    place.count = buffer_.count();
    place.type = type->id;
    if (on_device) {
        const void *first = reinterpret_cast<const void *>(
            static_cast<uintptr_t>(place.base + static_cast<uint64_t>(place.low)));
        if (ucd_ipc_export(first, static_cast<uintptr_t>(place.high - place.low), &place.handle) !=
            UCD_SUCCESS)
            return;
        place.memory = DirectPlace::Memory::ipc;
        place.base = -static_cast<uint64_t>(place.low); // the handle's memory begins at `low`
    }
    direct_ = std::make_unique<SendingDirect>(*this);
    direct_->type = std::move(type);
    direct_->header.place = place;
    route_.reset();
}

// The first message tells the peer who this is. Returns whether the transfer has to wait for the
// answer to an offer.
bool Sending::ask_directly() {
    if (direct_ == nullptr || status_ != UCS_OK) return false;
    SendingDirect &d = *direct_;
    if (d.introduction) {
        d.introduction_header = {frame_.header, *d.introduction};
        Header &h = d.introduction_header.header;
        h.kind = Kind::introduction;
        h.total = 0;
        h.user_header = sizeof(Introduction);
        ++under_way_;
        d.introducing.send(ep_, &d.introduction_header, sizeof d.introduction_header, 1);
    }
    Link *const link = transfers_.engine.links.to_reader(ep_);
    if (d.type == nullptr || status_ != UCS_OK) return false;
    if (link == nullptr) { // it has just been closed
        give_up_direct();
        return false;
    }
    if (transfers_.direct.has_to_be_sent(ep_, d.type->id)) {
        d.type_header = frame_.header;
        d.type_header.kind = Kind::direct_type;
        d.type_header.user_header = 0;
        ++under_way_;
        d.sending_type.send_am(ep_, UCP_AM_SEND_FLAG_EAGER,
                               {.header = &d.type_header,
                                .header_bytes = sizeof d.type_header,
                                .data = d.type->flattened.data(),
                                .count = d.type->flattened.size()});
        if (status_ != UCS_OK) return false;
    }
    Header &h = d.header.header;
    h = frame_.header;
    h.kind = Kind::direct;
    h.user_header = sizeof d.header.place;
    d.header.place.number = link->next_number();
    d.header.place.mac = link->authenticate(&d.header, bytes_under_mac);
    transfers_.trace(UCD_UCX_EVENT__SHARE, h.id, 0, buffer_.bytes());
    transfers_.trace(UCD_UCX_EVENT__POST, h.id, 0, buffer_.bytes());
    ++under_way_;
    is_asking_directly_ = true;
    d.offering.send(ep_, &d.header, sizeof d.header, receipt_of(h));
    return true;
}

void Sending::give_up_direct() {
    is_asking_directly_ = false;
    if (routes_.empty()) route_ = Route::host;
}

void Sending::on_direct_message(const DirectMessage &message, ucs_status_t status) {
    // The receiver has read the data, or does not need it.
    if (&message == &direct_->offering && is_asking_directly_ && status == UCS_OK &&
        status_ == UCS_OK) {
        transfers_.trace(UCD_UCX_EVENT__SENT, frame_.header.id, 0, buffer_.bytes());
        is_asking_directly_ = false;
        route_ = Route::direct;
        drop_packed();
        next_ = buffer_.bytes();
    }
    on_sent(status);
}

void Sending::on_declined(Decline reason) {
    if (!is_asking_directly_ || status_ != UCS_OK) return;
    if (reason == Decline::unknown_type) transfers_.direct.send_again(ep_, direct_->type->id);
    note_progress();
    give_up_direct();
    ask_for_route();
}

void Sending::on_link_ended() {
    if (!is_asking_directly_ || is_complete()) return;
    stop(UCS_ERR_CONNECTION_RESET, UCD_SUCCESS, false);
    // UCX still has the offer.
    if (!is_complete()) transfers_.engine.report_unresponsive(ep_);
}

} // namespace ucd_ucx
