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
    const DirectPlace place = offer->direct_place();
    is_genuine_ = link != nullptr &&
                  link->is_authentic(offer->text().data(), bytes_under_mac, place.mac) &&
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
    ++in_use_;
    reads_directly_ = true;
    direct_.release()->receive_directly(*this);
}

// The sender's receipt stays, since dropping it says that the data is not needed any more.
void RecvMessage::decline(Decline reason) {
    decline_.reset(new (std::nothrow)
                       TransferMessage(transfers_.engine, *this, MessageKind::decline));
    if (decline_ == nullptr) return receiving_->fail(UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    decline_->header.id = id_;
    decline_->header.total = total();
    decline_->header.detail = static_cast<uint16_t>(reason);
    ++in_use_;
    decline_->send(ep_);
}

void RecvMessage::on_sent(TransferMessage &, ucs_status_t status) {
    --in_use_;
    if (status != UCS_OK) receiving_->fail(status, UCD_SUCCESS);
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
    const DirectPlace place = direct_place();
    const TypedBuffer &to = receiving.buffer();
    const bool is_attached = place.memory == DirectPlace::Memory::attached && to.on_host();
    const bool is_on_device = place.memory == DirectPlace::Memory::ipc && !to.on_host() &&
                              takes_direct(to, receiving.options());
    if (!receiving.goes_direct() || to.op() != UCD_OP__REPLACE || !place.unused_are_zero() ||
        (!is_attached && !is_on_device))
        return false;
    TypePtr type = transfers_.direct.find(place.type);
    if (type == nullptr) {
        *reason = Decline::unknown_type;
        return false;
    }
    if (!has_layout(*type, place, header.total)) return false;
    direct_ = std::make_unique<DirectCopy>();
    direct_->type = std::move(type);
    direct_->count = place.count;
    return is_attached ? find_attached(place, reason) : find_on_device(place, to.device(), reason);
}

// Finds the buffer in memory that is open here, of which nothing outside is read.
bool RecvPart::find_buffer(const DirectPlace &place, const char *address, uint64_t open_bytes) {
    const auto low = static_cast<uint64_t>(place.low), high = static_cast<uint64_t>(place.high);
    const uint64_t first = place.base + low, extent = high - low;
    if (extent > open_bytes || first > open_bytes - extent) return false;
    direct_->buffer = reinterpret_cast<const char *>(reinterpret_cast<uintptr_t>(address) +
                                                     static_cast<uintptr_t>(place.base));
    return true;
}

// Finds the descriptors of the memory that the sender has passed. They are closed as soon as the
// memory is open, since the mapping holds it. Null if there is no link, or if they are not here.
Link *RecvPart::find_passed(const DirectPlace &place, std::vector<int> &fds, Decline *reason) {
    Links &links = transfers_.engine.links;
    links.take_passed_by(ep());
    Link *const link = links.to_owner(ep());
    if (link == nullptr) return nullptr;
    for (uint32_t i = 0; i < place.descriptors; ++i) {
        fds.push_back(link->passed(place.first_descriptor + i));
        if (fds.back() >= 0) continue;
        *reason = Decline::unknown_memory;
        return nullptr;
    }
    return link;
}

// The size of the memory cannot change, so that reading it is safe whatever the sender does.
bool RecvPart::find_attached(const DirectPlace &place, Decline *reason) {
    AttachedMemories &memories = transfers_.attached_memories;
    AttachedPtr &memory = direct_->attached;
    memory = memories.find(ep(), place.handle);
    if (memory == nullptr) {
        if (place.descriptors != 1) return false;
        std::vector<int> fds;
        Link *const link = find_passed(place, fds, reason);
        if (link == nullptr) return false;
        memory = memories.open(ep(), place.handle, fds.front());
        link->close_passed(place.first_descriptor, 1);
    }
    return memory != nullptr && find_buffer(place, memory->address(), memory->bytes());
}

// The size is what the driver reports for the mapping.
bool RecvPart::find_on_device(const DirectPlace &place, const std::string &device,
                              Decline *reason) {
    Mappings &mappings = transfers_.mappings;
    if (place.descriptors > UCD_IPC__MAX_FDS) return false;
    if (place.descriptors == 0) {
        if (!mappings.open(ep(), place.handle, {}, device, mapping_).ok()) return false;
    } else if (!mappings.find(ep(), place.handle, device, mapping_)) {
        std::vector<int> fds;
        Link *const link = find_passed(place, fds, reason);
        if (link == nullptr) return false;
        const bool is_open = mappings.open(ep(), place.handle, fds, device, mapping_).ok();
        link->close_passed(place.first_descriptor, place.descriptors);
        if (!is_open) return false;
    }
    return find_buffer(place, mapping_->address(), mapping_->bytes());
}

} // namespace ucd_ucx
