// The receiver's side of transfers whose data it reads where it is. See docs/guide/ucx-ways.md.

#include "pipeline/receiving.h"
#include "pipeline/recv_message.h"
#include "pipeline/routes.h"
#include "pipeline/transfers.h"

#include <new>
#include <utility>
#include <vector>

namespace ucd_ucx {

// The answer --------------------------------------------------------------

// The link's numbers are in the order of the offers, and not of the receives that match.
void RecvMessage::take_direct(std::unique_ptr<RecvPart> offer) {
    Link *const link = transfers_.engine.links.to_owner(ep_);
    const auto place = offer->following<DirectPlace>();
    is_genuine_ = link != nullptr &&
                  link->is_authentic(offer->am_data->header().data(), bytes_under_mac, place.mac) &&
                  link->admits(place.number);
    direct_ = std::move(offer);
    answer();
}

void RecvMessage::answer_direct() {
    if (direct_ == nullptr || decline_ != nullptr || !state_.is_claimed()) return;
    if (!is_receiving()) {
        direct_.reset(); // which ends the transfer at the sender
        settled_ = total();
        return;
    }
    Decline reason = Decline::other_route;
    bool takes = false;
    const Status status = without_exceptions([&] {
        takes = is_genuine_ && direct_->find_direct(*receiving_, &reason);
        return success;
    });
    if (!status.ok() || !takes) return decline(reason);
    reads_directly_ = true;
    start(std::move(direct_));
}

// The sender's receipt stays, since dropping it says that the data is not needed any more.
void RecvMessage::decline(Decline reason) {
    decline_.reset(new (std::nothrow)
                       TransferMessage(transfers_.engine, *this, MessageKind::decline));
    if (decline_ == nullptr) return receiving_->stop(UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    decline_->header.id = id_;
    decline_->header.total = total();
    decline_->header.detail = static_cast<uint16_t>(reason);
    ++in_use_;
    decline_->send(ep_);
}

void RecvMessage::on_sent(TransferMessage &, ucs_status_t status) {
    --in_use_;
    if (status != UCS_OK) receiving_->stop(status, UCD_SUCCESS);
    conclude();
}

void RecvMessage::on_link_ended(bool is_process) {
    if (reads_directly_ || (is_process && direct_ != nullptr)) end(UCS_ERR_CONNECTION_RESET);
}

// Whether it is possible and worth while ------------------------------------

namespace {

// Whether this is the type's layout. Displacements that are only known when data moves cannot be
// compared with an offer.
bool has_layout(const PeerType &type, const DirectPlace &place, uint64_t total) {
    const ucd_layout_t *found;
    return place.count > 0 && type.measure(place.count, found).ok() &&
           (found->flags & UCD_LAYOUT__BY_REFERENCE) == 0 && found->bytes == total &&
           found->low == place.low && found->high == place.high;
}

} // namespace

bool RecvPart::find_direct(const Receiving &receiving, Decline *reason) {
    const auto place = following<DirectPlace>();
    const TypedBuffer &to = receiving.buffer();
    const bool is_on_host = place.memory == DirectPlace::Memory::attached && to.on_host();
    const bool is_on_device = place.memory == DirectPlace::Memory::ipc && !to.on_host() &&
                              takes_direct(to, receiving.options());
    if (!receiving.goes_direct() || to.op() != UCD_OP__REPLACE || !place.unused_are_zero() ||
        (!is_on_host && !is_on_device))
        return false;
    TypePtr type = transfers_.types_of_senders.find(place.type);
    if (type == nullptr) {
        *reason = Decline::unknown_type;
        return false;
    }
    if (!has_layout(*type, place, header.total) || !open_memory(place, to.device(), reason))
        return false;
    // Nothing outside of the memory is read. Its size is what the driver reports for the mapping,
    // or what a sealed file has.
    const auto low = static_cast<uint64_t>(place.low), high = static_cast<uint64_t>(place.high);
    const uint64_t first = place.base + low, extent = high - low, all = mapping_->bytes();
    if (extent > all || first > all - extent) return false;
    const uintptr_t buffer =
        reinterpret_cast<uintptr_t>(mapping_->address()) + static_cast<uintptr_t>(place.base);
    direct_.reset(new DirectCopy{std::move(type), place.count, reinterpret_cast<char *>(buffer)});
    return true;
}

// Opens the sender's memory, by the descriptors that the sender has passed if it needs any. They
// are closed as soon as the memory is open, since the mapping holds it.
bool RecvPart::open_memory(const DirectPlace &place, const std::string &device, Decline *reason) {
    Mappings &mappings = transfers_.mappings;
    if (mappings.find(am_data->ep, place.handle, device, mapping_)) return true;
    if (place.descriptors > UCD_IPC__MAX_FDS) return false;
    Links &links = transfers_.engine.links;
    if (place.descriptors > 0) links.take_passed_by(am_data->ep);
    Link *const link = links.to_owner(am_data->ep);
    if (link == nullptr) return false;
    std::vector<int> fds;
    for (uint32_t i = 0; i < place.descriptors; ++i) {
        fds.push_back(link->passed(place.first_descriptor + i));
        if (fds.back() >= 0) continue;
        *reason = Decline::unknown_memory;
        return false;
    }
    const bool is_open = mappings.open(am_data->ep, place.handle, fds, device, mapping_).ok();
    link->close_passed(place.first_descriptor, place.descriptors);
    return is_open;
}

} // namespace ucd_ucx
