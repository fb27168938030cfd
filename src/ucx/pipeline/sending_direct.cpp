// The sender's side of transfers whose data the receiver reads where it is. See
// docs/guide/direct.md.

#include "pipeline/sending_direct.h"

#include "direct/attachable_memory.h"
#include "direct/limits.h"

#include <algorithm>
#include <span>

namespace ucd_ucx {
namespace {

bool is_worth_offering(const TypedBuffer &buffer, const TransferOptions &options,
                       std::span<const DirectLimits> limits) {
    return std::any_of(limits.begin(), limits.end(), [&](const DirectLimits &least) {
        return buffer.bytes() >= options.direct_or(least.bytes) &&
               buffer.mean_segment() >= least.row && buffer.range() <= least.max_range;
    });
}

} // namespace

void Sending::prepare_direct(ucd_type_t handle) {
    // The peer has asked for other transfers: then its messages already say how.
    if (options_.direct == Trust::none || terms_.owner != nullptr) return;
    if (transfers_.engine.options.direct == Trust::none) return; // nobody would accept connections
    const bool on_device = !buffer_.device().empty();
    DirectPlace place;
    uint64_t offset = 0;
    if (buffer_.is_by_reference()) return;
    if (!on_device &&
        !(buffer_.on_host() &&
          AttachableMemory::find(buffer_.lowest(), buffer_.range(), place.handle, offset)))
        return; // other processes cannot open it
    Links &links = transfers_.engine.links;
    Link *const link = links.to_reader(ep_);
    if (link == nullptr) {
        const std::optional<Introduction> introduction = links.introduce(ep_);
        if (!introduction) return;
        direct_ = std::make_unique<SendingDirect>(*this);
        direct_->introduction = introduction;
        return;
    }
    const bool always = options_.direct == Trust::always;
    const std::span<const DirectLimits> limits =
        on_device ? std::span<const DirectLimits>(limits_on_devices) : limits_if_attached;
    // The kernel needs rows at regular distances at both sides: to move lists, it has to find which
    // parts of both lists meet, for each transfer again.
    if (!always &&
        ((on_device && !buffer_.is_box()) || !is_worth_offering(buffer_, options_, limits)))
        return;
    TypePtr type;
    const ucd_layout_t *layout;
    if (!transfers_.direct.find(handle, type).ok() ||
        !type->measure(buffer_.count(), layout).ok() ||
        type->flattened.size() > DirectTypes::max_flattened)
        return;
    place.low = layout->low;
    place.high = layout->high;
    place.count = buffer_.count();
    place.type = type->id;
    PassedRange passed;
    if (!on_device) {
        if (!transfers_.passed_memory.offer_attachable(*link, place.handle, passed)) return;
        place.memory = DirectPlace::Memory::attached;
        place.base = offset - static_cast<uint64_t>(place.low);
    } else {
        const void *first = reinterpret_cast<const void *>(
            reinterpret_cast<uintptr_t>(buffer_.buf()) + static_cast<uintptr_t>(place.low));
        if (!transfers_.passed_memory.offer(
                *link, first, static_cast<uint64_t>(place.high - place.low), place.handle, passed))
            return;
        place.memory = DirectPlace::Memory::ipc;
        place.base = -static_cast<uint64_t>(place.low); // the handle's memory begins at `low`
    }
    place.descriptors = passed.count;
    place.first_descriptor = passed.first;
    direct_ = std::make_unique<SendingDirect>(*this);
    direct_->type = std::move(type);
    direct_->header.place = place;
    route_ = SendRoute::asking_directly;
}

// Tells the peer who this is.
void Sending::introduce() {
    if (direct_ == nullptr || !direct_->introduction || status_ != UCS_OK) return;
    direct_->introduction_header = {frame_.header, *direct_->introduction};
    MessageHeader &h = direct_->introduction_header.header;
    h.kind = MessageKind::introduction;
    h.total = 0;
    h.user_header = sizeof(Introduction);
    ++under_way_;
    direct_->introducing.send(ep_, &direct_->introduction_header,
                              sizeof direct_->introduction_header, 1);
}

// Returns whether the transfer has to wait for the answer to an offer.
bool Sending::ask_directly() {
    introduce();
    if (route_ != SendRoute::asking_directly) return false;
    SendingDirect &d = *direct_;
    Link *const link = transfers_.engine.links.to_reader(ep_);
    if (link == nullptr || status_ != UCS_OK) { // the link has just been closed
        give_up_direct();
        return false;
    }
    if (transfers_.direct.has_to_be_sent(ep_, d.type->id)) {
        d.type_header = frame_.header;
        d.type_header.kind = MessageKind::direct_type;
        d.type_header.user_header = 0;
        ++under_way_;
        d.sending_type.send_am(ep_, UCP_AM_SEND_FLAG_EAGER,
                               {.header = &d.type_header,
                                .header_bytes = sizeof d.type_header,
                                .data = d.type->flattened.data(),
                                .count = d.type->flattened.size()});
        if (status_ != UCS_OK) {
            give_up_direct();
            return false;
        }
    }
    MessageHeader &h = d.header.header;
    h = frame_.header;
    h.kind = MessageKind::direct;
    h.user_header = sizeof d.header.place;
    d.header.place.number = link->next_number();
    d.header.place.mac = link->authenticate(&d.header, bytes_under_mac);
    transfers_.trace(UCD_UCX_EVENT__SHARE, h.id, 0, buffer_.bytes());
    transfers_.trace(UCD_UCX_EVENT__POST, h.id, 0, buffer_.bytes());
    ++under_way_;
    d.offering.send(ep_, &d.header, sizeof d.header, receipt_of(h));
    return true;
}

void Sending::give_up_direct() {
    route_ = routes_.empty() ? SendRoute::host : SendRoute::asking;
}

void Sending::on_direct_message(const DirectMessage &message, ucs_status_t status) {
    // The receiver has read the data, or does not need it.
    if (&message == &direct_->offering && route_ == SendRoute::asking_directly &&
        status == UCS_OK && status_ == UCS_OK) {
        transfers_.trace(UCD_UCX_EVENT__SENT, frame_.header.id, 0, buffer_.bytes());
        route_ = SendRoute::direct;
        drop_packed();
        next_ = buffer_.bytes();
    }
    on_sent(status);
}

void Sending::on_declined(Decline reason) {
    if (route_ != SendRoute::asking_directly || status_ != UCS_OK) return;
    if (reason > last_decline) return stop(UCS_ERR_INVALID_PARAM);
    if (reason == Decline::unknown_type) transfers_.direct.send_again(ep_, direct_->type->id);
    if (reason == Decline::unknown_memory)
        transfers_.passed_memory.pass_again(ep_, direct_->header.place.handle);
    note_progress();
    give_up_direct();
    ask_for_route();
}

void Sending::on_link_ended() {
    if (route_ != SendRoute::asking_directly || is_complete()) return;
    stop(UCS_ERR_CONNECTION_RESET, UCD_SUCCESS, false);
    // UCX still has the offer.
    if (!is_complete()) transfers_.engine.report_unresponsive(ep_);
}

} // namespace ucd_ucx
