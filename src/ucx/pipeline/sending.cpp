#include "pipeline/sending.h"

#include "pipeline/receiving.h"
#include "pipeline/send_chunk.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ucd_ucx {
namespace {

// bytes_of_transfer includes these.
static_assert(sizeof(Sending) <= 1536 && sizeof(Receiving) <= 1536);
// performance only: glibc keeps freed blocks of up to so many bytes at hand in each thread
static_assert(sizeof(Sending) <= 1032);

} // namespace

Sending::Sending(Transfers &transfers)
    : Transfer(transfers), opening_(transfers.engine, *this, MessageKind::whole) {}
Sending::~Sending() = default;

// Preparation -----------------------------------------------------------------

Status Sending::set(ucp_ep_h ep, const Data &data, const ucd_ucx_param_t *param, bool is_tagged,
                    const TransferTerms &terms) {
    ucd_info_t info;
    UCD_TRY(ucd_ucx_request::set(transfers_.engine.options, param, info));
    UCD_TRY(buffer_.set(data, info, TransferDirection::send, transfers_.engine.for_host));
    terms_ = terms;
    ep_ = ep;
    since_ = transfers_.engine.events.now();
    opening_.header.total = buffer_.bytes();
    bool is_packed = false;
    choose_route(is_tagged, data.type, &is_packed);
    return route_ == TransferRoute::whole ? set_whole(is_packed) : set_window();
}

// performance only: all this decides how a message is sent, and not its content
void Sending::choose_route(bool is_tagged, ucd_type_t type, bool *is_packed) {
    // Shorter messages are sent in the same way by all transports.
    constexpr uint64_t least_for_transport = 8 << 10;
    const uint64_t bytes = buffer_.bytes();
    Transport transport = Transport::device;
    if (buffer_.on_host()) {
        const bool may_be_streamed =
            buffer_.in_place() == nullptr && terms_.owner == nullptr && terms_.account == nullptr;
        transport = bytes < least_for_transport && options_.packing != Packing::ucx
                        ? Transport::network
                        : host_transport(ep_, options_, may_be_streamed);
    }
    const auto find = [&](auto... possible) {
        return find_row(transport, (bit_of(possible) | ...), buffer_, options_, is_tagged);
    };
    // What a peer has asked for goes in chunks, which are charged.
    const bool may_be_whole = terms_.account == nullptr || bytes == 0;
    const RouteRow *const whole = may_be_whole ? find(TransferRoute::whole) : nullptr;
    *is_packed = whole != nullptr && whole->terms.packed;
    if (whole != nullptr && bytes <= direct_limit(options_, buffer_.hints())) return;
    const RouteRow &chunked = *find(TransferRoute::pieces, TransferRoute::streamed);
    in_chunks_ = chunked.route;
    set_chunks(options_.chunk_or(chunked.terms.chunk));
    options_.depth = options_.depth_or(terms_.account == nullptr ? chunked.terms.depth
                                                                 : TransferOptions::usual_depth);
    const bool is_offered = prepare_direct(type);
    const bool has_ring =
        !buffer_.on_host() && find(TransferRoute::ring) != nullptr && prepare_ring();
    if (is_offered)
        route_ = TransferRoute::direct;
    else if (has_ring)
        route_ = TransferRoute::ring;
    else
        route_ = whole != nullptr ? TransferRoute::whole : in_chunks_;
}

// If a peer asked for the data, chunks must fit the peer's budget, and it must be possible to pack
// each within one call of progress.
void Sending::set_chunks(uint64_t bytes) {
    const Ledger &ledger = transfers_.engine.ledger;
    if (terms_.account != nullptr && buffer_.in_place() == nullptr) {
        while (bytes > 1 && !ledger.is_possible(bytes, LedgerUse::chunk)) bytes /= 2;
        if (buffer_.on_host())
            while (bytes > 1 && buffer_.steps(bytes) > Ledger::steps_of_call) bytes /= 2;
    }
    options_.chunk = bytes;
    for (uint64_t *chunk : {&options_.chunk, &options_.ring_chunk})
        *chunk = std::max(terms_.granule, *chunk - *chunk % terms_.granule);
}

// Packs a message in advance where this pays or is needed: on a device packing may fail, and
// nothing may be sent before.
Status Sending::set_whole(bool is_packed) {
    next_ = buffer_.bytes();
    frame_.buffer = &buffer_;
    frame_.bytes = buffer_.bytes();
    frame_.header = &opening_.header;
    if (!is_packed) {
        frame_.read_ahead();
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

// As many slots as the route needs that needs most. Fails now, before the transfer starts, if there
// is no memory for the first chunk.
Status Sending::set_window() {
    const auto slots = [this](uint64_t chunk, uint64_t depth) {
        return std::min((buffer_.bytes() - 1) / chunk + 1, depth);
    };
    const bool has_ring = find_message(MessageKind::route) != nullptr;
    uint64_t window = slots(options_.chunk, options_.depth);
    if (has_ring) window = std::max(window, slots(options_.ring_chunk, options_.ring_depth));
    while (chunks_.size() < window) chunks_.emplace_back(*this);
    add_message(MessageKind::offer);
    add_message(MessageKind::withdraw);
    const bool takes_chunks = in_chunks_ == TransferRoute::pieces &&
                              buffer_.in_place() == nullptr && terms_.account == nullptr &&
                              !has_ring;
    const uint64_t bytes = std::min(options_.chunk, buffer_.bytes());
    if (takes_chunks && !transfers_.engine.take_chunk(buffer_, bytes, true))
        return fail(UCD_ERR__OUT_OF_MEM, "no memory for a chunk of %ju bytes", uintmax_t{bytes});
    return success;
}

// Messages --------------------------------------------------------------------

TransferMessage &Sending::add_message(MessageKind kind) {
    return messages_.emplace_back(transfers_.engine, *this, kind);
}

TransferMessage *Sending::find_message(MessageKind kind) {
    const auto found =
        std::find_if(messages_.begin(), messages_.end(),
                     [kind](const TransferMessage &m) { return m.header.kind == kind; });
    return found == messages_.end() ? nullptr : &*found;
}

TransferMessage &Sending::use(TransferMessage &message) {
    message.header.id = opening_.header.id;
    message.header.total = opening_.header.total;
    message.header.user_id = opening_.header.user_id;
    ++under_way_;
    return message;
}

void Sending::on_sent(TransferMessage &message, ucs_status_t status) {
    switch (message.header.kind) {
    case MessageKind::chunk:
    case MessageKind::ring_chunk: static_cast<SendChunk &>(message).end(); break;
    case MessageKind::route: on_answer(message.header.route(), status); break;
    case MessageKind::direct: on_read(status); break;
    default: break;
    }
    end_message(status);
}

// Starting --------------------------------------------------------------------

// The transfer cannot end before all are sent: UCX may complete one message before the next one is
// sent.
template <class Send>
void Sending::start(MessageKind kind, Send &&send) {
    opening_.header.kind = kind;
    opening_.header.id = transfers_.next_id(ep_);
    note_progress();
    // First, because starting a kernel takes longer than sending a message.
    if (route_ == TransferRoute::ring && exposed_ == nullptr) (void)advance();
    if (status_ == UCS_OK) send();
    TransferMessage *const introduction = find_message(MessageKind::introduction);
    if (status_ == UCS_OK && introduction != nullptr) {
        use(*introduction).header.total = 0;
        introduction->ask(ep_, 1);
    }
    ask();
    if (state_ == SendState::starting) state_ = SendState::stopping;
    conclude();
}

void Sending::ask() {
    if (status_ != UCS_OK) return;
    if (route_ == TransferRoute::direct) return offer_directly();
    if (route_ == TransferRoute::ring) return offer_routes();
    state_ = SendState::sending;
}

// The message is packed by UCX while it sends, unless it was packed in advance.
SendArgs Sending::whole_message() {
    if (!packed_) return {.data = &frame_, .count = 1, .datatype = transfers_.framed->handle()};
    std::memcpy(packed_.memory(), &opening_.header, sizeof(MessageHeader));
    const std::size_t skipped = sizeof(MessageHeader) - frame_.prefix;
    return {.data = packed_.memory() + skipped, .count = frame_.prefix + buffer_.bytes()};
}

void Sending::start_tagged(ucp_tag_t tag) {
    const bool is_whole = route_ == TransferRoute::whole;
    frame_.prefix = sizeof(MessageHeader);
    start(is_whole ? MessageKind::whole : MessageKind::opening, [&] {
        // The offer is sent first: from it, the receiver learns the endpoint that the chunks will
        // come from.
        if (!is_whole) use(*find_message(MessageKind::offer)).send(ep_);
        if (status_ != UCS_OK) return;
        const SendArgs only_header = {.data = &opening_.header, .count = sizeof(MessageHeader)};
        ++under_way_;
        opening_.send_tagged(ep_, tag, is_whole ? whole_message() : only_header);
    });
}

void Sending::start_am(unsigned id, std::string_view user_header) {
    const bool is_whole = route_ == TransferRoute::whole;
    MessageHeader &header = opening_.header;
    header.user_id = id;
    header.user_header = static_cast<uint32_t>(user_header.size());
    // own: the program's header. Now, because later steps must not fail.
    am_header_.reserve(sizeof header + user_header.size());
    start(is_whole ? MessageKind::whole : MessageKind::user_offer, [&] {
        // own: same
        am_header_.assign(reinterpret_cast<const char *>(&header), sizeof header);
        // own: same
        am_header_.append(user_header);
        SendArgs args;
        if (is_whole && buffer_.bytes() > 0) args = whole_message();
        args.header = am_header_.data();
        args.header_bytes = am_header_.size();
        ++under_way_;
        opening_.send_am(ep_, UCP_AM_SEND_FLAG_EAGER, args);
    });
}

// Chunks ----------------------------------------------------------------------

uint64_t Sending::chunk_bytes(uint64_t offset) const {
    const uint64_t chunk = route_ == TransferRoute::ring ? options_.ring_chunk : options_.chunk;
    return std::min(chunk, buffer_.bytes() - offset);
}

// Null if as many chunks are under way as may be.
SendChunk *Sending::find_free_chunk() {
    const uint64_t depth = route_ == TransferRoute::ring ? options_.ring_depth : options_.depth;
    uint64_t used = 0;
    SendChunk *found = nullptr;
    for (SendChunk &chunk : chunks_) {
        if (takes_turns_ && chunk.state() == ChunkState::posted)
            return nullptr; // it is the receiver's turn
        if (chunk.state() != ChunkState::free)
            ++used;
        else if (found == nullptr)
            found = &chunk;
    }
    return used < depth ? found : nullptr;
}

// Takes memory for the next chunk, if its route needs any. Returns false if it has to wait, or if
// the transfer has failed.
bool Sending::take_block(StagingBlock &block) {
    const bool in_ring = route_ == TransferRoute::ring;
    const bool is_in_place = in_ring ? exposed_ != nullptr : buffer_.in_place() != nullptr;
    if (is_in_place || route_ == TransferRoute::streamed) return true;
    if (in_ring && first_block_) {
        block = std::move(first_block_);
        return true;
    }
    const bool urgent = std::none_of(chunks_.begin(), chunks_.end(),
                                     [](const SendChunk &c) { return c.holds_memory(); });
    const uint64_t bytes = in_ring ? ring_block_bytes() : chunk_bytes(next_);
    const bool goes_on =
        transfers_.engine.take_chunk_for(terms_.account, buffer_, bytes, urgent, &block, in_ring);
    if (goes_on && !block) stop(UCS_ERR_NO_MEMORY, UCD_ERR__OUT_OF_MEM);
    return static_cast<bool>(block);
}

// Chunks for the ring are packed already while the receiver is being asked.
bool Sending::advance() {
    check_time(ep_);
    if (status_ != UCS_OK || route_ == TransferRoute::direct) return false;
    SendChunk *const chunk = next_ < buffer_.bytes() ? find_free_chunk() : nullptr;
    if (chunk == nullptr) {
        end_turn();
        return false;
    }
    Ledger &ledger = transfers_.engine.ledger;
    const bool counts = terms_.account != nullptr && route_ != TransferRoute::ring;
    if (counts && !ledger.may_work(terms_.account)) return true; // in the next call of progress
    StagingBlock block;
    if (!take_block(block)) {
        end_turn();
        return false;
    }
    const uint64_t offset = next_;
    next_ += chunk_bytes(offset);
    ++under_way_;
    if (counts && buffer_.on_host())
        ledger.note_work(terms_.account, buffer_.steps(next_ - offset));
    chunk->start(std::move(block), offset, next_ - offset);
    return true;
}

// The end ---------------------------------------------------------------------

void Sending::end_message(ucs_status_t status) {
    --under_way_;
    note_progress();
    if (status != UCS_OK) stop(status);
    conclude();
}

void Sending::stop(ucs_status_t status, int ucd, bool withdraws) {
    if (status_ != UCS_OK) return;
    status_ = status;
    ucd_ = ucd;
    drop_packed();
    if (state_ == SendState::starting) return; // `start` ends the transfer
    state_ = SendState::stopping;
    if (withdraws && route_ != TransferRoute::whole) {
        TransferMessage &withdrawal = use(*find_message(MessageKind::withdraw));
        withdrawal.header.detail = static_cast<uint16_t>(-status_);
        withdrawal.send(ep_);
    }
    conclude();
}

void Sending::cancel() {
    if (!is_complete() && route_ != TransferRoute::whole) stop(UCS_ERR_CANCELED);
}

void Sending::on_endpoint_failed(ucp_ep_h ep, ucs_status_t status, uint64_t before) {
    if (is_complete() || ep != ep_ || since_ >= before) return;
    stop(status, UCD_SUCCESS, false);
}

void Sending::on_barred(ucp_ep_h ep) {
    if (is_complete() || terms_.account != ep) return;
    stop(UCS_ERR_EXCEEDS_LIMIT, UCD_SUCCESS, false);
}

void Sending::conclude() {
    if (is_complete() || state_ == SendState::starting || under_way_ > 0) return;
    if (status_ == UCS_OK && next_ < buffer_.bytes()) return;
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
