#include "rma/direct_messages.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace ucd_ucx::rma {
namespace {

// Limits on the send operations that are kept for reuse: their number, and the size of each.
constexpr std::size_t max_idle_send_ops = 64;
constexpr std::size_t max_idle_bytes = 16 << 10;
constexpr std::size_t least_bytes = 2048;
// The limit on endpoints for which answers are gathered at a time.
constexpr std::size_t max_gathered = 16;

// UCX 1.13 with UCX_PROTO_ENABLE=y omits the reply header when it compares the length of contiguous
// data with the transport's limit for short messages, and refuses those that are too long then. It
// tells of that at once, or later, if the message had to wait for its endpoint. A list of one
// segment takes another code path.
bool refuses_short_messages() {
    unsigned major = 0, minor = 0, release = 0;
    ucp_get_version(&major, &minor, &release);
    const char *enabled = std::getenv("UCX_PROTO_ENABLE");
    if (major != 1 || minor > 13 || enabled == nullptr || *enabled == '\0') return false;
    return std::strchr("yY1", *enabled) != nullptr || std::strcmp(enabled, "on") == 0;
}

} // namespace

// A message that UCX is sending.
class DirectMessages::SendOp final : public Event {
public:
    explicit SendOp(DirectMessages &owner, std::size_t room)
        : owner_(owner), room_(room), memory_(new char[room]) {}
    void on_complete(ucd_ucx_pipeline &) override {
        std::unique_ptr<SendOp> self(this);
        --owner_.unsent_;
        if (status != UCS_OK && number != no_operation)
            owner_.handler.take_failure(ep, number, status);
        owner_.give_back(std::move(self));
    }
    static void on_sent(void *request, ucs_status_t status, void *argument) {
        auto *send_op = static_cast<SendOp *>(argument);
        ucp_request_free(request);
        send_op->status = status;
        send_op->owner_.events.put(*send_op);
    }
    char *memory() const { return memory_.get(); }
    std::size_t room() const { return room_; }

    ucp_ep_h ep = nullptr;
    uint32_t number = 0;
    ucs_status_t status = UCS_OK;
    ucp_dt_iov_t segment = {};
    Charge charge; // for an answer

private:
    DirectMessages &owner_;
    const std::size_t room_;
    const std::unique_ptr<char[]> memory_;
};

DirectMessage::~DirectMessage() {
    if (held_ != nullptr) ucp_am_data_release(owner_.worker(), held_);
}

std::string_view DirectMessage::text() const {
    const void *text = lent_ != nullptr ? lent_ : held_ != nullptr ? held_ : copy_.get();
    return {static_cast<const char *>(text), bytes_};
}

std::unique_ptr<DirectMessage> DirectMessage::take_over(bool hold) {
    auto other = std::make_unique<DirectMessage>(owner_, ep);
    other->since = since;
    other->bytes_ = bytes_;
    if (lent_ != nullptr && hold) {
        other->held_ = lent_;
    } else if (lent_ != nullptr) {
        other->copy_.reset(new char[bytes_]);
        std::memcpy(other->copy_.get(), lent_, bytes_);
    } else {
        other->held_ = std::exchange(held_, nullptr);
        other->copy_ = std::move(copy_);
    }
    lent_ = nullptr;
    return other;
}

DirectMessage::DirectMessage(DirectMessages &owner, std::size_t room)
    : ep(nullptr), owner_(owner), copy_(new char[room]), bytes_(room) {}

void DirectMessage::take_from(DirectMessage &other, bool hold) {
    ep = other.ep;
    if (hold) {
        held_ = std::exchange(other.lent_, nullptr);
        bytes_ = other.bytes_;
        return;
    }
    is_cut_ = bytes_ < other.bytes_;
    bytes_ = std::min(bytes_, other.bytes_);
    std::memcpy(copy_.get(), std::exchange(other.lent_, nullptr), bytes_);
}

std::unique_ptr<DirectMessage> DirectMessage::copy_of(std::string_view part) const {
    auto other = std::make_unique<DirectMessage>(owner_, ep);
    other->since = since;
    other->bytes_ = part.size();
    other->copy_.reset(new char[part.size()]);
    std::memcpy(other->copy_.get(), part.data(), part.size());
    return other;
}

void DirectMessage::on_complete(ucd_ucx_pipeline &) {
    const std::unique_ptr<DirectMessage> self(this);
    if (!refusal.empty())
        owner_.handler.take_old_request(ep, refusal);
    else if (is_cut_)
        owner_.handler.take_beginning(*this);
    else
        owner_.handler.take_message(*this);
}

DirectMessages::DirectMessages(DirectHandler &of, EventQueue &put_to, Ledger &ledger)
    : handler(of), events(put_to), ledger_(ledger) {
    idle_.reserve(max_idle_send_ops);
}

DirectMessages::~DirectMessages() {
    delete spare_.load();
}

// Has room for gathered answers and for the beginning of any other message.
void DirectMessages::make_spare() {
    if (spare_.load(std::memory_order_relaxed) == nullptr)
        spare_ = std::make_unique<DirectMessage>(*this, least_bytes).release();
}

std::optional<ucs_status_t> DirectMessages::take(std::string_view header, void *data,
                                                 std::size_t bytes,
                                                 const ucp_am_recv_param_t &param) {
    try {
        if (header.empty()) {
            // Rejects rendezvous: this side would have to fetch data that the peer may never
            // provide.
            if (bytes == 0 || (param.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return UCS_OK;
            DirectMessage message(*this, param.reply_ep, data, bytes);
            const bool may_be_held = (param.recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
            return take(message, may_be_held);
        }
        std::string refusal = refusal_of_version_1(header);
        if (refusal.empty()) return std::nullopt;
        Charge charge =
            ledger_.take(param.reply_ep, sizeof(DirectMessage) + refusal.size(), Use::message);
        if (!charge) return UCS_OK;
        auto message = std::make_unique<DirectMessage>(*this, param.reply_ep);
        message->charge = std::move(charge);
        message->refusal = std::move(refusal);
        DirectMessage &put = *message.release();
        events.put(put, put.since);
        return UCS_OK;
    } catch (const std::bad_alloc &) {
        // Same as for messages of the pipeline.
        return (param.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
}

ucs_status_t DirectMessages::take(DirectMessage &message, bool may_be_held) {
    if (!handler.may_handle_now()) {
        std::unique_ptr<DirectMessage> other = kept(message, may_be_held);
        if (other == nullptr) return UCS_OK;
        DirectMessage &put = *other.release();
        events.put(put, put.since);
        return may_be_held ? UCS_INPROGRESS : UCS_OK;
    }
    message.since = events.now();
    try {
        handler.take_message(message);
    } catch (const std::bad_alloc &) { // the same as for messages that are handled later
    }
    return UCS_OK;
}

// Returns null if the peer has no budget for it, or if there is no memory and the spare message is
// in use.
std::unique_ptr<DirectMessage> DirectMessages::kept(DirectMessage &message, bool may_be_held) {
    std::unique_ptr<DirectMessage> other;
    try {
        Charge charge =
            ledger_.take(message.ep, sizeof message + message.text().size(), Use::message);
        if (!charge) return nullptr;
        other = message.take_over(may_be_held);
        other->charge = std::move(charge);
    } catch (const std::bad_alloc &) {
        other.reset(spare_.exchange(nullptr));
        if (other != nullptr) other->take_from(message, may_be_held);
    }
    return other;
}

std::unique_ptr<DirectMessages::SendOp> DirectMessages::take_send_op(std::size_t bytes) {
    if (!idle_.empty() && idle_.back()->room() >= bytes) {
        std::unique_ptr<SendOp> send_op = std::move(idle_.back());
        idle_.pop_back();
        return send_op;
    }
    return std::make_unique<SendOp>(*this, std::max(bytes, least_bytes));
}

void DirectMessages::give_back(std::unique_ptr<SendOp> send_op) {
    send_op->charge.give_back();
    // performance only: what is not kept is allocated again
    if (idle_.size() < max_idle_send_ops && send_op->room() <= max_idle_bytes)
        idle_.push_back(std::move(send_op));
}

// Writes the message, and packs the data behind it.
Status DirectMessages::fill(char *memory, const Encoded &message, const Data &data,
                            uint64_t data_bytes, const char *contiguous) {
    message.write(memory);
    memory += message.size();
    if (contiguous != nullptr) {
        std::memcpy(memory, contiguous, data_bytes);
    } else if (data_bytes > 0) {
        uintptr_t packed;
        UCD_UCX_TRY(ucd_ok(ucd_pack(data.buf, data.count, data.type, 0, memory, data_bytes, &packed,
                                    data.hints->info.get(), UCD_OP__REPLACE)));
    }
    return success;
}

uint64_t DirectMessages::bytes_of_message(std::size_t bytes) {
    return sizeof(SendOp) + std::max(bytes, least_bytes);
}

Status DirectMessages::send(ucp_ep_h ep, const Encoded &message, const Data &data,
                            uint64_t data_bytes, uint32_t number, Charge &charge,
                            const char *contiguous) {
    const std::size_t bytes = message.size() + data_bytes;
    std::unique_ptr<SendOp> send_op = take_send_op(bytes);
    UCD_UCX_TRY(fill(send_op->memory(), message, data, data_bytes, contiguous));
    send_op->number = number;
    if (charge) send_op->charge = std::move(charge);
    const Status status = this->send(send_op, ep, {}, {send_op->memory(), bytes});
    if (status.code() == UCD_ERR__OUT_OF_MEM) [[unlikely]]
        charge = std::move(send_op->charge);
    return status;
}

Status DirectMessages::send_as_header(ucp_ep_h ep, std::string_view message) {
    Charge charge = ledger_.take(ep, bytes_of_message(message.size()), Use::message);
    if (!charge) return success;
    std::unique_ptr<SendOp> send_op = take_send_op(message.size());
    std::memcpy(send_op->memory(), message.data(), message.size());
    send_op->number = no_operation;
    send_op->charge = std::move(charge);
    return this->send(send_op, ep, {send_op->memory(), message.size()}, {});
}

// Answers to one endpoint ----------------------------------------------------

bool DirectMessages::start_gathering(ucp_ep_h ep, Gathered &gathered) {
    Charge charge = ledger_.take(ep, bytes_of_message(least_bytes), Use::message);
    if (!charge) return false;
    gathered = {take_send_op(least_bytes), Preamble::bytes, 0};
    gathered.send_op->ep = ep;
    gathered.send_op->charge = std::move(charge);
    return true;
}

// Returns the endpoint's gathered answers, with room for `bytes` more. Null if the answer has to be
// sent alone, because it is too long or too many endpoints have gathered answers.
DirectMessages::Gathered *DirectMessages::gathered_for(ucp_ep_h ep, std::size_t bytes) {
    if (Preamble::bytes + length_bytes + bytes > least_bytes) return nullptr;
    Gathered next = {nullptr, 0, 0};
    for (Gathered &gathered : gathered_) {
        if (gathered.send_op->ep != ep) continue;
        if (gathered.bytes + length_bytes + bytes <= least_bytes) return &gathered;
        if (!start_gathering(ep, next)) return nullptr;
        (void)send(gathered);
        if (gathered.send_op != nullptr) return nullptr; // there is no memory
        gathered = std::move(next);
        return &gathered;
    }
    if (gathered_.size() == max_gathered || !start_gathering(ep, next)) return nullptr;
    gathered_.push_back(std::move(next));
    return &gathered_.back();
}

Status DirectMessages::gather(ucp_ep_h ep, const Encoded &answer, const Data &data,
                              uint64_t data_bytes, Use use, bool *refused) {
    *refused = false;
    const std::size_t bytes = answer.size() + data_bytes;
    Gathered *const gathered = std::exchange(gathers_, true) ? gathered_for(ep, bytes) : nullptr;
    if (gathered == nullptr) {
        Charge charge = ledger_.take(ep, bytes_of_message(bytes), use);
        *refused = !charge;
        return *refused ? success : send(ep, answer, data, data_bytes, no_operation, charge);
    }
    char *const at = gathered->send_op->memory() + gathered->bytes;
    UCD_UCX_TRY(fill(at + length_bytes, answer, data, data_bytes, nullptr));
    write_length(bytes, at);
    gathered->bytes += length_bytes + bytes;
    ++gathered->answers;
    return success;
}

// A single answer is sent like any other message.
Status DirectMessages::send(Gathered &gathered) {
    SendOp &send_op = *gathered.send_op;
    std::string_view message(send_op.memory(), gathered.bytes);
    if (gathered.answers > 1)
        Encoded(Preamble{Verb::answers}).write(send_op.memory());
    else
        message.remove_prefix(Preamble::bytes + length_bytes);
    send_op.number = no_operation;
    return this->send(gathered.send_op, send_op.ep, {}, message);
}

void DirectMessages::send_gathered() {
    gathers_ = false;
    if (gathered_.empty()) return;
    for (Gathered &gathered : gathered_) {
        if (gathered.answers > 0)
            (void)send(gathered);
        else // the data of the answers could not be packed
            give_back(std::move(gathered.send_op));
    }
    // The rest could not be sent for lack of memory; the next call tries again.
    std::erase_if(gathered_, [](const Gathered &g) { return g.send_op == nullptr; });
}

void DirectMessages::forget_gathered(ucp_ep_h ep) {
    std::erase_if(gathered_, [ep](const Gathered &g) { return g.send_op->ep == ep; });
}

// Leaves *send_op set only if there was no memory; the call may then be repeated.
Status DirectMessages::send(std::unique_ptr<SendOp> &send_op, ucp_ep_h ep, std::string_view header,
                            std::string_view data) {
    send_op->ep = ep;
    send_op->status = UCS_OK;
    ucp_request_param_t p = {};
    p.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
    p.cb.send = SendOp::on_sent;
    p.user_data = send_op.get();
    p.flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY;
    const auto as_list = [&] {
        send_op->segment = {const_cast<char *>(data.data()), data.size()};
        p.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        p.datatype = ucp_dt_make_iov();
        return ucp_am_send_nbx(ep, am_id_, header.data(), header.size(), &send_op->segment, 1, &p);
    };
    static const bool lists_only = refuses_short_messages();
    ucs_status_ptr_t request = lists_only
                                   ? as_list()
                                   : ucp_am_send_nbx(ep, am_id_, header.data(), header.size(),
                                                     data.data(), data.size(), &p);
    if (UCS_PTR_STATUS(request) == UCS_ERR_INVALID_PARAM && !lists_only) request = as_list();
    if (UCS_PTR_IS_PTR(request)) {
        ++unsent_;
        (void)send_op.release();
        return success;
    }
    const Status status = ucx_ok(UCS_PTR_STATUS(request), "ucp_am_send_nbx");
    if (status.code() != UCD_ERR__OUT_OF_MEM) give_back(std::move(send_op));
    return status;
}

} // namespace ucd_ucx::rma
