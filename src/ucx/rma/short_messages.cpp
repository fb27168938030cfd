#include "rma/short_messages.h"

#include "rma/one_sided.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ucd_ucx::rma {
namespace {

// Limits on the messages that are kept for reuse: their number, and the size of each.
constexpr std::size_t max_idle_messages = 64;
constexpr std::size_t max_idle_bytes = 16 << 10;
constexpr std::size_t least_bytes = max_bytes_of_several;
// The limit on endpoints for which messages are gathered at a time.
constexpr std::size_t max_gathered = 16;

} // namespace

// The memory of a message, which UCX is sending or which is kept for the next one.
class ShortMessage final : public SendOp {
public:
    // charged: bytes_of_message, for answers. own: the program's operations.
    ShortMessage(OneSided &rma, std::size_t room)
        : SendOp(rma.engine), rma_(rma), room_(room), memory_(new char[room]) {}
    void on_complete() override {
        rma_.messages.sent(std::unique_ptr<ShortMessage>(this), status_);
    }
    // UCS_INPROGRESS: on_complete will be called.
    ucs_status_t start(std::string_view data) {
        return start_am(ep, UCP_AM_SEND_FLAG_EAGER, {.data = data.data(), .count = data.size()});
    }
    // Progress calls on_complete, as if UCX had failed later.
    void fail_later(ucs_status_t status) {
        status_ = status;
        engine_.events.put(*this);
    }
    char *memory() const { return memory_.get(); }
    std::size_t room() const { return room_; }

    ucp_ep_h ep = nullptr;
    uint32_t number = no_operation;
    std::string_view parts; // of gathered messages; empty for a single one
    Charge charge;          // for answers

private:
    OneSided &rma_;
    const std::size_t room_;
    const std::unique_ptr<char[]> memory_;
};

ShortMessages::ShortMessages(OneSided &rma) : rma_(rma) {
    idle_.reserve(max_idle_messages);
}

ShortMessages::~ShortMessages() = default;

std::unique_ptr<ShortMessage> ShortMessages::take(std::size_t bytes) {
    if (!idle_.empty() && idle_.back()->room() >= bytes) {
        std::unique_ptr<ShortMessage> made = std::move(idle_.back());
        idle_.pop_back();
        return made;
    }
    return std::make_unique<ShortMessage>(rma_, std::max(bytes, least_bytes));
}

void ShortMessages::give_back(std::unique_ptr<ShortMessage> message) {
    message->charge.give_back();
    message->parts = {};
    message->number = no_operation;
    // performance only: what is not kept is allocated again
    if (idle_.size() < max_idle_messages && message->room() <= max_idle_bytes)
        idle_.push_back(std::move(message));
}

// Writes the message, and packs the data behind it.
Status ShortMessages::fill(char *memory, const Encoded &message, const Data &data,
                           uint64_t data_bytes, const char *contiguous) {
    message.write(memory);
    memory += message.size();
    if (contiguous != nullptr) {
        std::memcpy(memory, contiguous, data_bytes);
    } else if (data_bytes > 0) {
        uintptr_t packed;
        UCD_TRY(ucd_ok(ucd_pack(data.buf, data.count, data.type, 0, memory, data_bytes, &packed,
                                data.hints->info.get(), UCD_OP__REPLACE)));
    }
    return success;
}

uint64_t ShortMessages::bytes_of_message(std::size_t bytes) {
    return sizeof(ShortMessage) + std::max(bytes, least_bytes);
}

Status ShortMessages::send(ucp_ep_h ep, const Encoded &message, const Data &data,
                           uint64_t data_bytes, uint32_t number, Charge &charge,
                           const char *contiguous) {
    const std::size_t bytes = message.size() + data_bytes;
    std::unique_ptr<ShortMessage> made = take(bytes);
    UCD_TRY(fill(made->memory(), message, data, data_bytes, contiguous));
    made->number = number;
    if (charge) made->charge = std::move(charge);
    const Status status = this->send(made, ep, {made->memory(), bytes});
    if (status.code() == UCD_ERR__OUT_OF_MEM) [[unlikely]]
        charge = std::move(made->charge);
    return status;
}

// Messages to one endpoint ---------------------------------------------------

bool ShortMessages::charge(ShortMessage &message) {
    if (!message.charge)
        message.charge =
            rma_.engine.ledger.take(message.ep, bytes_of_message(least_bytes), LedgerUse::message);
    return static_cast<bool>(message.charge);
}

std::string_view ShortMessages::parts_of(const Gathered &gathered) {
    return std::string_view(gathered.message->memory(), gathered.bytes).substr(Preamble::bytes);
}

bool ShortMessages::start_gathering(ucp_ep_h ep, bool is_charged, Gathered &gathered) {
    gathered = {take(least_bytes), Preamble::bytes, 0};
    gathered.message->ep = ep;
    if (!is_charged || charge(*gathered.message)) return true;
    give_back(std::move(gathered.message));
    return false;
}

// Returns the endpoint's gathered messages, with room for `bytes` more. Null if the message has to
// be sent alone, because it is too long, its account has no room, or too many endpoints have
// gathered messages.
ShortMessages::Gathered *ShortMessages::gathered_for(ucp_ep_h ep, std::size_t bytes,
                                                     bool is_charged) {
    if (Preamble::bytes + length_bytes + bytes > least_bytes) return nullptr;
    Gathered next = {nullptr, 0, 0};
    for (Gathered &gathered : gathered_) {
        if (gathered.message->ep != ep) continue;
        if (gathered.bytes + length_bytes + bytes <= least_bytes)
            return !is_charged || charge(*gathered.message) ? &gathered : nullptr;
        if (!start_gathering(ep, is_charged, next)) return nullptr;
        (void)send(gathered);
        if (gathered.message != nullptr) return nullptr; // there is no memory
        gathered = std::move(next);
        return &gathered;
    }
    if (gathered_.size() == max_gathered || !start_gathering(ep, is_charged, next)) return nullptr;
    gathered_.push_back(std::move(next));
    return &gathered_.back();
}

Status ShortMessages::add(Gathered &gathered, const Encoded &part, const Data &data,
                          uint64_t data_bytes, const char *contiguous) {
    char *const at = gathered.message->memory() + gathered.bytes;
    UCD_TRY(fill(at + length_bytes, part, data, data_bytes, contiguous));
    const std::size_t bytes = part.size() + data_bytes;
    write_length(bytes, at);
    gathered.bytes += length_bytes + bytes;
    ++gathered.parts;
    return success;
}

Status ShortMessages::gather_request(ucp_ep_h ep, const Encoded &message, const Data &data,
                                     uint64_t data_bytes, uint32_t number, const char *contiguous) {
    Gathered *const gathered = std::exchange(gathers_, true)
                                   ? gathered_for(ep, message.size() + data_bytes, false)
                                   : nullptr;
    if (gathered != nullptr) return add(*gathered, message, data, data_bytes, contiguous);
    Charge nobodys;
    return send(ep, message, data, data_bytes, number, nobodys, contiguous);
}

Status ShortMessages::gather_answer(ucp_ep_h ep, const Encoded &answer, const Data &data,
                                    uint64_t data_bytes, LedgerUse use, bool *refused) {
    *refused = false;
    const std::size_t bytes = answer.size() + data_bytes;
    Gathered *const gathered =
        std::exchange(gathers_, true) ? gathered_for(ep, bytes, true) : nullptr;
    if (gathered != nullptr) return add(*gathered, answer, data, data_bytes, nullptr);
    Charge charge = rma_.engine.ledger.take(ep, bytes_of_message(bytes), use);
    *refused = !charge;
    return *refused ? success : send(ep, answer, data, data_bytes, no_operation, charge);
}

// A single one is sent like any other message.
Status ShortMessages::send(Gathered &gathered) {
    ShortMessage &one = *gathered.message;
    std::string_view message(one.memory(), gathered.bytes);
    one.parts = parts_of(gathered);
    if (gathered.parts > 1)
        Encoded(Preamble{Verb::several}).write(one.memory());
    else
        message.remove_prefix(Preamble::bytes + length_bytes);
    return this->send(gathered.message, one.ep, message);
}

void ShortMessages::send_all_gathered() {
    for (Gathered &gathered : gathered_) {
        if (gathered.parts > 0)
            (void)send(gathered);
        else // the data could not be packed
            give_back(std::move(gathered.message));
    }
    // The rest could not be sent for lack of memory; the next call tries again.
    std::erase_if(gathered_, [](const Gathered &g) { return g.message == nullptr; });
}

void ShortMessages::forget_gathered(ucp_ep_h ep) {
    for (Gathered &gathered : gathered_)
        if (gathered.message->ep == ep) give_back(std::move(gathered.message));
    std::erase_if(gathered_, [](const Gathered &g) { return g.message == nullptr; });
}

void ShortMessages::fail_operations(std::string_view parts, ucp_ep_h ep, ucs_status_t status) {
    for (std::string_view one; !(one = take_part(parts)).empty();) {
        Preamble preamble;
        (void)decode(one, preamble);
        if (!is_answer(preamble.verb))
            rma_.origin.take_failure(preamble.number, ep, status, UCD_SUCCESS);
    }
}

// Leaves `message` set only if there was no memory; the call may then be repeated.
Status ShortMessages::send(std::unique_ptr<ShortMessage> &message, ucp_ep_h ep,
                           std::string_view data) {
    message->ep = ep;
    const ucs_status_t started = message->start(data);
    if (started == UCS_INPROGRESS) {
        ++unsent_;
        (void)message.release();
        return success;
    }
    const Status status = ucx_ok(started, "ucp_am_send_nbx");
    if (status.ok() || (status.code() != UCD_ERR__OUT_OF_MEM && message->parts.empty())) {
        give_back(std::move(message));
    } else if (status.code() != UCD_ERR__OUT_OF_MEM) { // their operations have begun
        ++unsent_;
        message.release()->fail_later(started);
    }
    return status;
}

void ShortMessages::sent(std::unique_ptr<ShortMessage> message, ucs_status_t status) {
    --unsent_;
    if (status != UCS_OK && message->number != no_operation)
        rma_.origin.take_failure(message->number, message->ep, status, UCD_SUCCESS);
    if (status != UCS_OK) fail_operations(message->parts, message->ep, status);
    give_back(std::move(message));
}

} // namespace ucd_ucx::rma
