#include "pipeline/sending.h"

#include "pipeline/receiving.h"
#include "pipeline/route_offer.h"
#include "pipeline/send_chunk.h"
#include "pipeline/sending_direct.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ucd_ucx {
namespace {

// bytes_of_transfer includes these.
static_assert(sizeof(Sending) <= 1536 && sizeof(Receiving) <= 1536);

} // namespace

ControlMessage::ControlMessage(Sending &owner) : SendOp(owner.transfers_.engine), owner_(owner) {}

void ControlMessage::on_complete() {
    owner_.on_sent(status_);
}

Sending::Sending(Transfers &transfers) : Transfer(transfers) {}
Sending::~Sending() = default;

Status Sending::set(ucp_ep_h ep, const Data &data, const ucd_ucx_param_t *param, Matching matching,
                    const TransferTerms &terms) {
    ucd_info_t info;
    UCD_TRY(ucd_ucx_request::set(transfers_.engine.options, param, info));
    UCD_TRY(buffer_.set(data, info, TransferDirection::send, transfers_.engine.for_host));
    terms_ = terms;
    ep_ = ep;
    since_ = transfers_.engine.events.now();
    frame_.buffer = &buffer_;
    frame_.header.total = buffer_.bytes();
    set_limits(matching);
    // The receiver may read what is long enough for chunks.
    if (buffer_.bytes() > direct_limit(options_, buffer_.hints())) prepare_direct(data.type);
    // All goes in chunks, which are charged.
    if (terms_.account != nullptr || route_ == SendRoute::asking_directly)
        eager_ = terms_.account != nullptr ? 0 : direct_limit(options_, buffer_.hints());
    if (is_whole()) return set_whole();
    const uint64_t chunks = (buffer_.bytes() - 1) / options_.chunk + 1;
    for (uint64_t i = std::min(chunks, options_.depth); i > 0; --i) chunks_.emplace_back(*this);
    prepare_ring();
    // Fail now, before the transfer starts, if there is no memory for the first chunk.
    if (routes_.empty() && !is_streamed_ && terms_.account == nullptr &&
        buffer_.in_place() == nullptr &&
        !transfers_.engine.take_chunk(buffer_, chunk_bytes(0), true))
        return fail(UCD_ERR__OUT_OF_MEM, "no memory for a chunk of %ju bytes",
                    static_cast<uintmax_t>(chunk_bytes(0)));
    return success;
}

// performance only: all this decides how a message is sent, and not its content
void Sending::set_limits(Matching matching) {
    // Shorter messages are sent in the same way by all transports.
    constexpr uint64_t least_for_transport = 8 << 10;
    const bool may_be_streamed = buffer_.on_host() && buffer_.in_place() == nullptr &&
                                 terms_.owner == nullptr && terms_.account == nullptr;
    const Packing packing = may_be_streamed ? options_.packing : Packing::chunks;
    const TransportRow &row = buffer_.bytes() < least_for_transport && packing != Packing::ucx
                                  ? usual_transport
                                  : row_for(ep_, packing);
    is_streamed_ = row.is_streamed;
    packed_from_ = row.packed;
    // UCX stores an active message at the receiver, but leaves a long tagged message at the sender.
    eager_ = buffer_.on_host() && matching == Matching::tag
                 ? options_.eager_or(row.tagged)
                 : direct_limit(options_, buffer_.hints());
    options_.chunk = options_.chunk_or(row.chunk);
    set_chunks();
}

// If a peer asked for the data, chunks must fit the peer's budget, and it must be possible to pack
// each within one call of progress.
void Sending::set_chunks() {
    const Ledger &ledger = transfers_.engine.ledger;
    uint64_t &bytes = options_.chunk;
    if (terms_.account != nullptr && buffer_.in_place() == nullptr) {
        while (bytes > 1 && !ledger.is_possible(bytes, LedgerUse::chunk)) bytes /= 2;
        if (buffer_.on_host())
            while (bytes > 1 && buffer_.steps(bytes) > Ledger::steps_of_call) bytes /= 2;
    }
    for (uint64_t *chunk : {&options_.chunk, &options_.ring_chunk})
        *chunk = std::max(terms_.granule, *chunk - *chunk % terms_.granule);
}

// Packs a message in advance where this pays or is needed: on a device packing may fail, and
// nothing may be sent before. And where UCX copies, it sends contiguous data in larger fragments
// than it packs, which helps on networks that are too slow for zero-copy to pay.
Status Sending::set_whole() {
    if (buffer_.on_host() && buffer_.bytes() < packed_from_) {
        // performance only: without a cursor, each fragment's place is looked for
        if (buffer_.bytes() >= least_for_cursor) frame_.cursor = SegmentCursor::make(buffer_);
        return success;
    }
    // Rounded to few sizes, so that blocks are reused: drivers take long to allocate.
    const std::size_t bytes = std::bit_ceil(sizeof(MessageHeader) + buffer_.bytes());
    packed_ = transfers_.engine.take_chunk(buffer_, bytes, true);
    if (!packed_)
        return buffer_.on_host() ? success
                                 : fail(UCD_ERR__OUT_OF_MEM, "no memory for a message of %ju bytes",
                                        static_cast<uintmax_t>(buffer_.bytes()));
    return buffer_.pack(0, packed_.memory() + sizeof(MessageHeader), buffer_.bytes(), nullptr);
}

uint64_t Sending::chunk_bytes(uint64_t offset) const {
    return std::min(options_.chunk, buffer_.bytes() - offset);
}

// The transfer cannot end before end_of_start: UCX may complete one message before the next one is
// sent.
void Sending::begin(MessageKind kind) {
    frame_.header.kind = kind;
    frame_.header.id = transfers_.next_id(ep_);
    state_ = SendState::starting;
    note_progress();
}

void Sending::end_of_start() {
    state_ = status_ == UCS_OK ? SendState::sending : SendState::stopping;
    conclude();
}

// The message is packed by UCX while it sends, unless it was packed in advance.
SendArgs Sending::whole_message() {
    if (!packed_) return {.data = &frame_, .count = 1, .datatype = transfers_.framed->handle()};
    std::memcpy(packed_.memory(), &frame_.header, sizeof(MessageHeader));
    const std::size_t skipped = sizeof(MessageHeader) - frame_.prefix;
    return {.data = packed_.memory() + skipped, .count = frame_.prefix + buffer_.bytes()};
}

void Sending::start_tagged(ucp_tag_t tag) {
    begin(is_whole() ? MessageKind::whole : MessageKind::opening);
    if (!is_whole())
        am_header_.reserve(sizeof frame_.header); // now, because later steps must not
                                                  // fail
    if (!start_packing()) return end_of_start();
    if (is_whole()) {
        ++under_way_;
        opening_.send_tagged(ep_, tag, whole_message());
        introduce();
    } else {
        // The offer is sent first: from it, the receiver learns the endpoint that the chunks will
        // come from.
        MessageHeader offer = frame_.header;
        offer.kind = MessageKind::offer;
        // own: a header of this side
        am_header_.assign(reinterpret_cast<const char *>(&offer), sizeof offer);
        under_way_ += 2;
        offer_.send_am(ep_, UCP_AM_SEND_FLAG_EAGER,
                       {.header = am_header_.data(), .header_bytes = am_header_.size()});
        if (status_ == UCS_OK)
            opening_.send_tagged(ep_, tag, {.data = &frame_.header, .count = sizeof frame_.header});
        else
            --under_way_;
        ask();
    }
    end_of_start();
}

void Sending::start_am(unsigned id, std::string_view header) {
    begin(is_whole() ? MessageKind::whole : MessageKind::user_offer);
    frame_.header.user_id = id;
    frame_.header.user_header = static_cast<uint32_t>(header.size());
    frame_.prefix = 0;
    // own: the program's header
    am_header_.reserve(sizeof frame_.header +
                       header.size()); // now, because later steps must not fail
    if (!start_packing()) return end_of_start();
    // own: same
    am_header_.assign(reinterpret_cast<const char *>(&frame_.header), sizeof frame_.header);
    // own: same
    am_header_.append(header);
    SendArgs args = {.header = am_header_.data(), .header_bytes = am_header_.size()};
    if (is_whole() && buffer_.bytes() > 0) {
        const SendArgs whole = whole_message();
        args.data = whole.data;
        args.count = whole.count;
        args.datatype = whole.datatype;
    }
    ++under_way_;
    opening_.send_am(ep_, UCP_AM_SEND_FLAG_EAGER, args);
    ask();
    end_of_start();
}

bool Sending::holds_memory() const {
    return std::any_of(chunks_.begin(), chunks_.end(),
                       [](const SendChunk &c) { return c.holds_memory(); });
}

bool Sending::advance() {
    check_time();
    if (status_ != UCS_OK || next_ == buffer_.bytes()) return false;
    if (route_ == SendRoute::asking_directly) return false;
    if (route_ != SendRoute::host) return advance_in_ring();
    const auto chunk = std::find_if(chunks_.begin(), chunks_.end(),
                                    [](const SendChunk &c) { return c.is_free(); });
    if (chunk == chunks_.end()) return false;
    if (terms_.account != nullptr && !transfers_.engine.ledger.may_work(terms_.account))
        return true; // may work in the next call of progress
    StagingBlock block;
    if (buffer_.in_place() == nullptr && !is_streamed_) {
        if (!transfers_.engine.take_chunk_for(terms_.account, buffer_, chunk_bytes(next_),
                                              !holds_memory(), &block))
            return false;
        if (!block) {
            stop(UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
            return true;
        }
    }
    const uint64_t offset = next_;
    next_ += chunk_bytes(offset);
    ++under_way_;
    if (terms_.account != nullptr && buffer_.on_host())
        transfers_.engine.ledger.note_work(terms_.account, buffer_.steps(next_ - offset));
    chunk->start(std::move(block), offset, next_ - offset);
    return true;
}

void Sending::on_sent(ucs_status_t status) {
    --under_way_;
    note_progress();
    if (status != UCS_OK) stop(status);
    conclude();
}

void Sending::check_time() {
    if (state_ == SendState::overdue || !has_timed_out()) return;
    stop(UCS_ERR_TIMED_OUT);
    state_ = SendState::overdue;
    // UCX cannot cancel messages that it is sending, so the buffer is still in use.
    if (!is_complete()) transfers_.engine.report_unresponsive(ep_);
}

void Sending::stop(ucs_status_t status, int ucd, bool withdraws) {
    if (status_ != UCS_OK) return;
    status_ = status;
    ucd_ = ucd;
    drop_packed();
    if (state_ == SendState::starting) return; // end_of_start ends the transfer
    state_ = SendState::stopping;
    if (withdraws && !is_whole()) withdraw();
    conclude();
}

void Sending::withdraw() {
    withdrawal_ = frame_.header;
    withdrawal_.kind = MessageKind::withdraw;
    withdrawal_.user_header = 0;
    withdrawal_.detail = static_cast<uint16_t>(-status_);
    ++under_way_;
    withdrawal_message_.send_am(ep_, UCP_AM_SEND_FLAG_EAGER,
                                {.header = &withdrawal_, .header_bytes = sizeof withdrawal_});
}

void Sending::cancel() {
    if (!is_complete() && !is_whole()) stop(UCS_ERR_CANCELED);
}

void Sending::on_endpoint_failed(ucp_ep_h ep, ucs_status_t status, uint64_t before) {
    if (is_complete() || ep != ep_ || since_ >= before) return;
    stop(status, UCD_SUCCESS, false);
}

void Sending::conclude() {
    if (is_complete() || state_ == SendState::starting || under_way_ > 0) return;
    const bool all = is_whole() || next_ == buffer_.bytes();
    if (status_ == UCS_OK && !all) return;
    if (status_ == UCS_OK && frame_.failure != UCD_SUCCESS) {
        status_ = ucx_status_of(frame_.failure);
        ucd_ = frame_.failure;
    }
    packed_ = StagingBlock();
    transfers_.finish(*this, {status_, ucd_, status_ == UCS_OK ? buffer_.bytes() : 0, 0});
}

Status Sending::start_status() const {
    const Result &r = result();
    if (r.ucd != UCD_SUCCESS)
        return fail(r.ucd, "packing failed: %s", ucd_base::without_function(ucd_last_error()));
    return ucx_ok(r.status, "sending");
}

} // namespace ucd_ucx
