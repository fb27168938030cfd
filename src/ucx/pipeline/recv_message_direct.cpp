// The receiver's side of transfers whose data it reads where it is. See docs/guide/direct.md.

#include "pipeline/decline_message.h"
#include "pipeline/receiving.h"
#include "pipeline/recv_message.h"
#include "pipeline/transfers.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace ucd_ucx {

// The answer --------------------------------------------------------------

// The link's numbers are in the order of the offers, and not of the receives that match.
void RecvMessage::take_direct(std::unique_ptr<RecvPart> offer) {
    Link *const link = transfers_.engine.links.to_owner(ep_);
    const DirectPlace place = offer->direct_place();
    if (link != nullptr && link->is_authentic(offer->text().data(), bytes_under_mac, place.mac) &&
        link->admits(place.number))
        direct_state_ = DirectState::genuine;
    direct_ = std::move(offer);
    answer();
}

void RecvMessage::answer_direct() {
    if (direct_ == nullptr || decline_ != nullptr || !state_.is_claimed()) return;
    if (receiving_ == nullptr || receiving_->has_failed()) {
        direct_.reset(); // which ends the transfer at the sender
        settled_ = total();
        return;
    }
    Decline reason = Decline::other_route;
    bool takes = false;
    const Status status = without_exceptions([&] {
        takes = direct_state_ == DirectState::genuine && direct_->find_direct(*receiving_, &reason);
        return success;
    });
    if (!status.ok() || !takes) return decline(reason);
    ++in_use_;
    direct_state_ = DirectState::reading;
    direct_.release()->receive_directly(*this);
}

void RecvMessage::decline(Decline reason) {
    decline_.reset(new (std::nothrow) DeclineMessage(transfers_.engine, *this, reason));
    if (decline_ == nullptr) return receiving_->fail(UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    ++in_use_;
    decline_->send();
}

void RecvMessage::on_declined(ucs_status_t status) {
    --in_use_;
    if (status != UCS_OK) receiving_->fail(status, UCD_SUCCESS);
    conclude();
}

void RecvMessage::on_link_ended(bool is_process) {
    if (direct_state_ == DirectState::reading || (is_process && direct_ != nullptr))
        end(UCS_ERR_CONNECTION_RESET);
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
    const bool is_on_device = place.memory == DirectPlace::Memory::ipc && !to.device().empty();
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
    return is_attached ? find_attached(place, reason)
                       : find_direct_on_device(receiving, place, reason);
}

// Nothing outside of the mapping is read. Its size cannot change, so that reading it is safe
// whatever the sender does.
bool RecvPart::find_attached(const DirectPlace &place, Decline *reason) {
    AttachedMemories &memories = transfers_.attached_memories;
    AttachedPtr memory = memories.find(ep(), place.handle);
    if (memory == nullptr) {
        Links &links = transfers_.engine.links;
        links.take_passed_by(ep());
        Link *const link = links.to_owner(ep());
        if (link == nullptr || place.descriptors != 1) return false;
        const int descriptor = link->passed(place.first_descriptor);
        if (descriptor < 0) {
            *reason = Decline::unknown_memory;
            return false;
        }
        memory = memories.open(ep(), place.handle, descriptor);
        link->close_passed(place.first_descriptor, 1);
        if (memory == nullptr) return false;
    }
    const auto low = static_cast<uint64_t>(place.low), high = static_cast<uint64_t>(place.high);
    const uint64_t first = place.base + low, extent = high - low;
    if (extent > memory->bytes() || first > memory->bytes() - extent) return false;
    direct_->buffer = reinterpret_cast<const char *>(
        reinterpret_cast<uintptr_t>(memory->address()) + static_cast<uintptr_t>(place.base));
    direct_->attached = std::move(memory);
    return true;
}

// The descriptors are closed as soon as the memory is open, since the mapping holds it.
bool RecvPart::open_passed(const DirectPlace &place, const std::string &device, Decline *reason) {
    Mappings &mappings = transfers_.mappings;
    if (place.descriptors > UCD_IPC__MAX_FDS) return false;
    if (mappings.find(ep(), place.handle, device, mapping_)) return true;
    Links &links = transfers_.engine.links;
    links.take_passed_by(ep());
    Link *const link = links.to_owner(ep());
    if (link == nullptr) return false;
    std::vector<int> fds;
    for (uint32_t i = 0; i < place.descriptors; ++i) {
        fds.push_back(link->passed(place.first_descriptor + i));
        if (fds.back() >= 0) continue;
        *reason = Decline::unknown_memory;
        return false;
    }
    const bool is_open = mappings.open(ep(), place.handle, fds, device, mapping_).ok();
    link->close_passed(place.first_descriptor, place.descriptors);
    return is_open;
}

// The kernel reads nothing outside of the range that the driver reports for the mapping.
bool RecvPart::find_direct_on_device(const Receiving &receiving, const DirectPlace &place,
                                     Decline *reason) {
    if (!receiving.always_direct() && !receiving.buffer().is_box()) return false;
    const std::string &device = receiving.buffer().device();
    if (place.descriptors > 0
            ? !open_passed(place, device, reason)
            : !transfers_.mappings.open(ep(), place.handle, device, mapping_).ok())
        return false;
    const auto low = static_cast<uint64_t>(place.low), high = static_cast<uint64_t>(place.high);
    const uint64_t first = place.base + low, extent = high - low;
    if (extent > mapping_->bytes() || first > mapping_->bytes() - extent) return false;
    direct_->buffer = reinterpret_cast<const char *>(
        reinterpret_cast<uintptr_t>(mapping_->address()) + static_cast<uintptr_t>(place.base));
    return true;
}

// Reading ---------------------------------------------------------------------

void RecvPart::receive_directly(RecvMessage &message) {
    message_ = &message;
    bytes = header.total;
    transfers_.trace(UCD_UCX_EVENT__RECEIVED, header.id, 0, bytes);
    transfers_.trace(UCD_UCX_EVENT__UNPACK_BEGIN, header.id, 0, bytes);
    if (direct_->attached != nullptr) {
        state_ = PartState::copying_direct;
        return copy_direct();
    }
    state_ = PartState::unpacking;
    ++under_way_;
    const Status started = message.receiving()->buffer().copy_from(
        direct_->buffer, direct_->count, direct_->type->type.get(), 0, bytes, &moving);
    if (!started.ok()) return moved_directly(started);
    transfers_.engine.await(*this);
}

// One step. The next call of progress takes the next one. If the link has ended, the receive will
// be told (RecvMessage::on_link_ended).
void RecvPart::copy_direct() {
    Receiving &receiving = *message_->receiving();
    DirectCopy &copy = *direct_;
    Status moved;
    if (!receiving.has_failed() && transfers_.engine.links.to_owner(ep()) != nullptr) {
        const uint64_t step = std::min(DirectCopy::bytes_of_step, bytes - copy.done);
        moved = receiving.buffer().copy_from(copy.buffer, copy.count, copy.type->type.get(),
                                             copy.done, step, nullptr);
        copy.done += step;
        receiving.note_progress();
    }
    if (moved.ok() && !receiving.has_failed() && copy.done < bytes)
        return transfers_.engine.events.put(*this);
    ++under_way_;
    moved_directly(moved);
}

// The receipt is fetched only if all was read: the sender's memory is then not needed any more.
// After a failure, dropping the receipt is enough.
void RecvPart::moved_directly(Status status) {
    transfers_.trace(UCD_UCX_EVENT__UNPACK_END, header.id, 0, bytes);
    state_ = PartState::waiting;
    ucd_ = status.code();
    direct_.reset();
    mapping_.reset();
    if (status.ok() && status_ == UCS_OK && !message_->receiving()->has_failed() &&
        am_data_->has_handle())
        fetch_receipt();
    settle_ring();
}

} // namespace ucd_ucx
