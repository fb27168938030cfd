#include "pipeline/recv_part.h"

#include "common/byte_ranges.h"
#include "pipeline/receiving.h"
#include "pipeline/recv_message.h"
#include "pipeline/routes.h"
#include "pipeline/transfers.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace ucd_ucx {

// What the charge of an active message has to cover: this object, and the range that may have to be
// remembered once the data is here.
static_assert(sizeof(RecvPart) + ByteRanges::bytes_of_range <= AmData::bytes_for_family);

std::unique_ptr<RecvPart> RecvPart::make(Transfers &transfers, std::unique_ptr<AmData> &am_data) {
    const std::string_view text = am_data->header();
    MessageHeader h;
    if (text.size() < sizeof h) return nullptr;
    std::memcpy(&h, text.data(), sizeof h);
    if (!h.is_good() || h.user_header != text.size() - sizeof h || h.user_header != h.following())
        return nullptr;
    return std::make_unique<RecvPart>(transfers, h, std::move(am_data));
}

RecvPart::RecvPart(Transfers &transfers, const MessageHeader &h, std::unique_ptr<AmData> message)
    : header(h), am_data(std::move(message)), transfers_(transfers) {
    if (!has_receipt()) {
        bytes = am_data->data_bytes();
        return;
    }
    bytes = is_ring() ? following<RingPlace>().bytes : 0;
    if (am_data->data_bytes() != sizeof(Receipt)) am_data->drop_data();
}

// Of an operation that goes on in steps, or that UCX has ended.
void RecvPart::on_complete() {
    if (direct_ != nullptr)
        copy_direct();
    else if (unpacking_ != nullptr)
        unpack_for_peer();
    else
        arrived();
}

// Direct transfers (docs/guide/ucx-ways.md) ----------------------------------------

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
    TypePtr type = transfers_.types_of_peers.find(place.type);
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

// Arrival -----------------------------------------------------------------------

void RecvPart::receive(RecvMessage &message, StagingBlock block) {
    message_ = &message;
    block_ = std::move(block);
    ++under_way_;
    if (is_route())
        fetch_receipt();
    else if (is_direct())
        read_directly();
    else if (is_ring())
        read_ring();
    else if (is_here())
        unpack(am_data->data().data());
    else if (range_.buffer != nullptr)
        fetch(&range_, 1, transfers_.framed->handle(), 0);
    else
        fetch(block_ ? block_.memory() : message.receiving()->buffer().in_place() + header.offset,
              bytes, ucp_dt_make_contig(1), 0);
    end_operation();
}

void RecvPart::fetch_receipt() {
    fetch(&receipt_, sizeof receipt_, ucp_dt_make_contig(1), UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
}

void RecvPart::fetch(void *to, std::size_t count, ucp_datatype_t datatype, uint32_t flags) {
    ++under_way_;
    ucp_request_param_t p = {};
    p.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                     UCP_OP_ATTR_FIELD_DATATYPE | flags;
    p.datatype = datatype;
    p.cb.recv_am = on_received;
    p.user_data = this;
    const ucs_status_ptr_t request =
        ucp_am_recv_data_nbx(transfers_.engine.worker(), am_data->take_handle(), to, count, &p);
    if (UCS_PTR_IS_PTR(request)) return;
    status_ = UCS_PTR_STATUS(request);
    arrived();
}

void RecvPart::on_received(void *request, ucs_status_t status, std::size_t length, void *argument) {
    auto *part = static_cast<RecvPart *>(argument);
    ucp_request_free(request);
    const std::size_t expected = part->has_receipt() ? sizeof part->receipt_ : part->bytes;
    part->status_ = status == UCS_OK && length != expected ? UCS_ERR_INVALID_PARAM : status;
    part->transfers_.engine.events.put(*part);
}

// UCX has received the data or the receipt.
void RecvPart::arrived() {
    if (!has_receipt()) {
        transfers_.trace(UCD_UCX_EVENT__RECEIVED, header.id, header.offset, bytes);
        if (status_ == UCS_OK) ucd_ = range_.failure;
        if (status_ == UCS_OK && block_) unpack(block_.memory());
    }
    end_operation();
}

// Unpacks the chunk where it is, in memory that is open here.
void RecvPart::read_ring() {
    const TypedBuffer &buffer = message_->receiving()->buffer();
    const auto place = following<RingPlace>();
    status_ = UCS_ERR_INVALID_PARAM;
    if (buffer.device().empty()) return; // the ring was not offered
    ucd_ = without_exceptions([&] {
               return transfers_.mappings.open(am_data->ep, place.handle, {}, buffer.device(),
                                               mapping_);
           }).code();
    if (ucd_ != UCD_SUCCESS || place.offset > mapping_->bytes() ||
        place.bytes > mapping_->bytes() - place.offset)
        return;
    status_ = UCS_OK;
    transfers_.trace(UCD_UCX_EVENT__RECEIVED, header.id, header.offset, bytes);
    unpack(mapping_->address() + place.offset);
}

// Moving ------------------------------------------------------------------------

void RecvPart::unpack(const void *from) {
    const Receiving &receiving = *message_->receiving();
    const TypedBuffer &buffer = receiving.buffer();
    transfers_.trace(UCD_UCX_EVENT__UNPACK_BEGIN, header.id, header.offset, bytes);
    ++under_way_;
    if (receiving.account() != nullptr && buffer.on_host()) {
        unpacking_ = static_cast<const char *>(from);
        return unpack_for_peer();
    }
    const PackedPlace place = is_ring() ? PackedPlace::own_device : PackedPlace::host;
    transfers_.engine.await(*this, buffer.unpack(header.offset, from, bytes, &moving, place));
}

// Unpacks in pieces, as long as the peer may cause work in this call of progress.
void RecvPart::unpack_for_peer() {
    const Receiving &receiving = *message_->receiving();
    const TypedBuffer &buffer = receiving.buffer();
    Ledger &ledger = transfers_.engine.ledger;
    while (moved_ < bytes && !receiving.has_failed()) {
        if (!ledger.may_work(receiving.account())) return transfers_.engine.events.put(*this);
        const uint64_t piece =
            piece_of(bytes - moved_, buffer.steps(bytes - moved_), receiving.granule());
        const Status status =
            buffer.unpack(header.offset + moved_, unpacking_ + moved_, piece, nullptr);
        if (!status.ok()) return moved(status);
        ledger.note_work(receiving.account(), buffer.steps(piece));
        moved_ += piece;
    }
    moved(success);
}

void RecvPart::read_directly() {
    const TypedBuffer &buffer = message_->receiving()->buffer();
    bytes = header.total;
    transfers_.trace(UCD_UCX_EVENT__RECEIVED, header.id, 0, bytes);
    transfers_.trace(UCD_UCX_EVENT__UNPACK_BEGIN, header.id, 0, bytes);
    ++under_way_;
    if (buffer.on_host()) return copy_direct();
    const ucd_type_t type = direct_->type->type.get();
    transfers_.engine.await(
        *this, buffer.copy_from(direct_->buffer, direct_->count, type, 0, bytes, &moving));
}

// The next call of progress takes the next step. If the link has ended, the receive will be told
// (RecvMessage::on_link_ended).
void RecvPart::copy_direct() {
    constexpr uint64_t bytes_of_step = 2 << 20; // which take less than a millisecond
    Receiving &receiving = *message_->receiving();
    Status copied;
    if (!receiving.has_failed() && transfers_.engine.links.to_owner(am_data->ep) != nullptr) {
        const uint64_t step = std::min(bytes_of_step, bytes - moved_);
        copied = receiving.buffer().copy_from(direct_->buffer, direct_->count,
                                              direct_->type->type.get(), moved_, step, nullptr);
        moved_ += step;
        receiving.note_progress();
    }
    if (copied.ok() && !receiving.has_failed() && moved_ < bytes)
        return transfers_.engine.events.put(*this);
    moved(copied);
}

// The receipt is fetched if the data was read: the sender's memory is then not needed any more.
// After a failure, dropping the receipt is enough.
void RecvPart::moved(Status status) {
    transfers_.trace(UCD_UCX_EVENT__UNPACK_END, header.id, header.offset, bytes);
    ucd_ = status.code();
    const bool was_read = is_ring() || (is_direct() && !message_->receiving()->has_failed());
    direct_.reset();
    mapping_.reset();
    unpacking_ = nullptr;
    if (status.ok() && was_read && am_data->has_handle()) fetch_receipt();
    end_operation();
}

void RecvPart::end_operation() {
    if (--under_way_ > 0) return;
    const Receipt expected = has_receipt() && !is_route() ? receipt_of(header) : 0;
    if (ucd_ == UCD_SUCCESS && status_ == UCS_OK && receipt_ != expected)
        status_ = UCS_ERR_CONNECTION_RESET; // the memory may have been reused while it was read
    message_->settle(std::unique_ptr<RecvPart>(this),
                     ucd_ == UCD_SUCCESS ? status_ : ucx_status_of(ucd_), ucd_);
}

} // namespace ucd_ucx
