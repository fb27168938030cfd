// The sender's side of transfers whose data the receiver reads where it is. See
// docs/guide/ucx-ways.md.

#include "direct/attachable_memory.h"
#include "pipeline/sending.h"

namespace ucd_ucx {

// Preparation -----------------------------------------------------------------

// Returns whether there is an offer. While there is no link, the endpoint's first transfer only
// introduces this process.
bool Sending::prepare_direct(ucd_type_t type) {
    DirectPlace place;
    if (!find_memory(place)) return false;
    Link *const link = transfers_.engine.links.to_reader(ep_);
    if (link == nullptr) {
        if (const auto introduction = transfers_.engine.links.introduce(ep_))
            add_message(MessageKind::introduction).set_following(*introduction);
        return false;
    }
    const Transport transport = buffer_.on_host() ? Transport::mapped : Transport::device;
    const ucd_layout_t *layout;
    if (find_row(transport, bit_of(TransferRoute::direct), buffer_, options_, false) == nullptr ||
        !transfers_.types_to_send.find(type, type_).ok() ||
        !type_->measure(buffer_.count(), layout).ok() ||
        type_->flattened.size() > TypesOfTarget::max_sent)
        return false;
    place.low = layout->low;
    place.high = layout->high;
    place.count = buffer_.count();
    place.type = type_->id;
    // The bytes begin at `low`; so far, `base` is where they begin in the handle's memory.
    place.base -= static_cast<uint64_t>(place.low);
    if (!share(*link, place)) return false;
    add_message(MessageKind::direct_type);
    add_message(MessageKind::direct).set_following(place);
    return true;
}

// Whether other processes can read the memory, and may.
bool Sending::find_memory(DirectPlace &place) const {
    // Without the object's key, nobody would accept connections. And the messages of a transfer
    // that the peer has asked for already say how.
    if (options_.direct == Trust::none || transfers_.engine.options.direct == Trust::none ||
        terms_.owner != nullptr || buffer_.is_by_reference())
        return false;
    place.memory = buffer_.on_host() ? DirectPlace::Memory::attached : DirectPlace::Memory::ipc;
    return !buffer_.on_host() ||
           AttachableMemory::find(buffer_.lowest(), buffer_.range(), place.handle, place.base);
}

// Gives the receiver what it needs to open the memory: its descriptors, unless the receiver has had
// them. An export without descriptors tells whether that is so: the handle differs if the program
// has mapped other memory there since.
bool Sending::share(Link &to_reader, DirectPlace &place) {
    int numbers[UCD_IPC__MAX_FDS];
    int count = 1; // of host memory
    const auto export_range = [&](int *to) {
        return ucd_ipc_export_fds(reinterpret_cast<const void *>(buffer_.lowest()),
                                  static_cast<uintptr_t>(buffer_.range()), &place.handle, to,
                                  &count) == UCD_SUCCESS;
    };
    if (!buffer_.on_host() && !export_range(nullptr)) return false;
    PassedRange passed;
    if (count > 0 && !to_reader.has_passed(place.handle, passed)) {
        FileDescriptor own[UCD_IPC__MAX_FDS]; // closed here: the reader gets its own
        if (buffer_.on_host()) {
            own[0] = AttachableMemory::open_to_read(place.handle);
            numbers[0] = own[0].get();
            if (!own[0]) return false;
        } else {
            count = UCD_IPC__MAX_FDS;
            if (!export_range(numbers)) return false;
            for (int i = 0; i < count; ++i) own[i] = FileDescriptor(numbers[i]);
        }
        const std::span all(numbers, static_cast<std::size_t>(count));
        if (!to_reader.pass_memory(place.handle, all, passed)) return false;
    }
    place.descriptors = passed.count;
    place.first_descriptor = passed.first;
    return true;
}

// Messages --------------------------------------------------------------------

void Sending::offer_directly() {
    Link *const link = transfers_.engine.links.to_reader(ep_);
    if (link == nullptr) return give_up_direct(); // it has just been closed
    if (link->has_to_be_sent(type_->id))
        use(*find_message(MessageKind::direct_type))
            .send(ep_, {.data = type_->flattened.data(), .count = type_->flattened.size()});
    if (status_ != UCS_OK) return;
    state_ = SendState::asking;
    TransferMessage &offer = use(*find_message(MessageKind::direct));
    DirectPlace place = offer.following<DirectPlace>();
    place.number = link->next_number();
    offer.set_following(place);
    place.mac = link->authenticate(&offer.header, bytes_under_mac);
    offer.set_following(place);
    transfers_.trace(UCD_UCX_EVENT__SHARE, offer.header.id, 0, buffer_.bytes());
    transfers_.trace(UCD_UCX_EVENT__POST, offer.header.id, 0, buffer_.bytes());
    offer.ask(ep_, receipt_of(offer.header));
}

void Sending::give_up_direct() {
    route_ = find_message(MessageKind::route) != nullptr ? TransferRoute::ring : in_chunks_;
    ask();
}

// The receiver has read the data, or does not need it.
void Sending::on_read(ucs_status_t status) {
    if (status != UCS_OK || state_ != SendState::asking || route_ != TransferRoute::direct) return;
    transfers_.trace(UCD_UCX_EVENT__SENT, opening_.header.id, 0, buffer_.bytes());
    state_ = SendState::sending;
    drop_packed();
    next_ = buffer_.bytes();
}

void Sending::on_declined(ucp_ep_h ep, const MessageId &id, Decline reason) {
    if (ep != ep_ || id != opening_.header.id || state_ != SendState::asking ||
        route_ != TransferRoute::direct)
        return;
    if (reason > last_decline) return stop(UCS_ERR_INVALID_PARAM);
    Link *const link = transfers_.engine.links.to_reader(ep_);
    if (link != nullptr && reason == Decline::unknown_type) link->send_again(type_->id);
    if (link != nullptr && reason == Decline::unknown_memory)
        link->pass_again(find_message(MessageKind::direct)->following<DirectPlace>().handle);
    note_progress();
    give_up_direct();
}

void Sending::on_link_ended(ucp_ep_h ep) {
    if (ep != ep_ || route_ != TransferRoute::direct || next_ == buffer_.bytes() || is_complete())
        return;
    stop(UCS_ERR_CONNECTION_RESET, UCD_SUCCESS, false);
    // UCX still has the offer.
    if (!is_complete()) transfers_.engine.report_unresponsive(ep_);
}

} // namespace ucd_ucx
