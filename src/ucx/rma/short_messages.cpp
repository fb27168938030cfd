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

// A message that UCX is sending, that waits for others, or that is kept for the next one.
class ShortMessage final : public SendOp {
public:
    // charged: bytes_of_message, for answers. own: the program's operations.
    ShortMessage(OneSided &rma, std::size_t room)
        : SendOp(rma.engine), rma_(rma), room_(room), memory_(new char[room]) {}
    void on_complete() override {
        rma_.messages.sent(std::unique_ptr<ShortMessage>(this), status_);
    }
    // UCS_INPROGRESS: on_complete will be called.
    ucs_status_t start() {
        std::string_view all(memory_.get(), bytes);
        // A part without others is sent like any other message.
        if (parts == 1) all.remove_prefix(Preamble::bytes + length_bytes);
        if (parts > 1) Encoded(Preamble{Verb::several}).write(memory_.get());
        return start_am(ep, UCP_AM_SEND_FLAG_EAGER, {.data = all.data(), .count = all.size()});
    }
    // Progress calls on_complete, as if UCX had failed later.
    void fail_later(ucs_status_t status) {
        status_ = status;
        engine_.events.put(*this);
    }
    // Writes the message, and packs the data behind it.
    Status append(const Encoded &message, const Data &data, uint64_t data_bytes,
                  const char *contiguous) {
        char *const to = memory_.get() + bytes;
        message.write(to);
        if (contiguous != nullptr) {
            std::memcpy(to + message.size(), contiguous, data_bytes);
        } else if (data_bytes > 0) {
            uintptr_t packed;
            UCD_TRY(ucd_ok(ucd_pack(data.buf, data.count, data.type, 0, to + message.size(),
                                    data_bytes, &packed, data.hints->info.get(), UCD_OP__REPLACE)));
        }
        bytes += message.size() + data_bytes;
        return success;
    }
    // Same, as a part.
    Status append_part(const Encoded &message, const Data &data, uint64_t data_bytes,
                       const char *contiguous) {
        const std::size_t before = bytes;
        bytes += length_bytes;
        const Status status = append(message, data, data_bytes, contiguous);
        if (!status.ok()) bytes = before;
        if (!status.ok()) return status;
        write_length(bytes - before - length_bytes, memory_.get() + before);
        ++parts;
        return success;
    }
    // Whether a part of this size fits.
    bool has_room_for(std::size_t part) const { return bytes + length_bytes + part <= least_bytes; }
    void fail_operations(ucs_status_t status) {
        if (number != no_operation) rma_.origin.take_failure(number, ep, status, UCD_SUCCESS);
        if (parts == 0) return;
        std::string_view left(memory_.get(), bytes);
        left.remove_prefix(Preamble::bytes);
        for (std::string_view one; !(one = take_part(left)).empty();) {
            Preamble preamble;
            (void)decode(one, preamble);
            if (!is_answer(preamble.verb))
                rma_.origin.take_failure(preamble.number, ep, status, UCD_SUCCESS);
        }
    }
    std::size_t room() const { return room_; }

    ucp_ep_h ep = nullptr;
    uint32_t number = no_operation;
    std::size_t bytes = 0; // written so far
    std::size_t parts = 0; // gathered messages; 0 in others
    Charge charge;         // for answers

private:
    OneSided &rma_;
    const std::size_t room_;
    const std::unique_ptr<char[]> memory_;
};

ShortMessages::ShortMessages(OneSided &rma) : rma_(rma) {
    idle_.reserve(max_idle_messages);
}

ShortMessages::~ShortMessages() = default;

std::unique_ptr<ShortMessage> ShortMessages::take(ucp_ep_h ep, std::size_t bytes) {
    std::unique_ptr<ShortMessage> made;
    if (!idle_.empty() && idle_.back()->room() >= bytes) {
        made = std::move(idle_.back());
        idle_.pop_back();
    } else {
        made = std::make_unique<ShortMessage>(rma_, std::max(bytes, least_bytes));
    }
    made->ep = ep;
    made->number = no_operation;
    made->bytes = made->parts = 0;
    return made;
}

void ShortMessages::give_back(std::unique_ptr<ShortMessage> message) {
    message->charge.give_back();
    // performance only: what is not kept is allocated again
    if (idle_.size() < max_idle_messages && message->room() <= max_idle_bytes)
        idle_.push_back(std::move(message));
}

uint64_t ShortMessages::bytes_of_message(std::size_t bytes) {
    return sizeof(ShortMessage) + std::max(bytes, least_bytes);
}

Status ShortMessages::send(ucp_ep_h ep, const Encoded &message, const Data &data,
                           uint64_t data_bytes, uint32_t number, Charge &charge,
                           const char *contiguous) {
    std::unique_ptr<ShortMessage> made = take(ep, message.size() + data_bytes);
    // bounded: the message has been taken with room for it
    UCD_TRY(made->append(message, data, data_bytes, contiguous));
    made->number = number;
    if (charge) made->charge = std::move(charge);
    const Status status = start(made);
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

// Returns the endpoint's gathered messages, with room for `bytes` more. Null if the message has to
// be sent alone: it is the first one or too long, its account has no room, or too many endpoints
// have gathered messages.
ShortMessage *ShortMessages::gathered_for(ucp_ep_h ep, std::size_t bytes, bool is_charged) {
    if (!std::exchange(gathers_, true) || Preamble::bytes + length_bytes + bytes > least_bytes)
        return nullptr;
    const auto found = std::find_if(gathered_.begin(), gathered_.end(),
                                    [ep](const auto &gathered) { return gathered->ep == ep; });
    const bool is_first = found == gathered_.end();
    if (!is_first && (*found)->has_room_for(bytes))
        return !is_charged || charge(**found) ? found->get() : nullptr;
    if (is_first && gathered_.size() == max_gathered) return nullptr;
    std::unique_ptr<ShortMessage> next = take(ep, least_bytes);
    next->bytes = Preamble::bytes;
    if (is_charged && !charge(*next)) return give_back(std::move(next)), nullptr;
    if (is_first) return gathered_.emplace_back(std::move(next)).get();
    if (start(*found).code() == UCD_ERR__OUT_OF_MEM) return nullptr;
    *found = std::move(next);
    return found->get();
}

Status ShortMessages::send_request(ucp_ep_h ep, const Encoded &message, const Data &data,
                                   uint64_t data_bytes, uint32_t number, const char *contiguous) {
    ShortMessage *const gathered = gathered_for(ep, message.size() + data_bytes, false);
    if (gathered != nullptr) return gathered->append_part(message, data, data_bytes, contiguous);
    Charge nobodys;
    return send(ep, message, data, data_bytes, number, nobodys, contiguous);
}

Status ShortMessages::send_answer(ucp_ep_h ep, const Encoded &message, const Data &data,
                                  uint64_t data_bytes, LedgerUse use, bool *refused, bool alone) {
    *refused = false;
    const std::size_t bytes = message.size() + data_bytes;
    ShortMessage *const gathered = alone ? nullptr : gathered_for(ep, bytes, true);
    if (gathered != nullptr) return gathered->append_part(message, data, data_bytes, nullptr);
    Charge charge = rma_.engine.ledger.take(ep, bytes_of_message(bytes), use);
    *refused = !charge;
    return *refused ? success : send(ep, message, data, data_bytes, no_operation, charge);
}

void ShortMessages::send_all_gathered() {
    for (std::unique_ptr<ShortMessage> &gathered : gathered_) {
        if (gathered->parts > 0)
            (void)start(gathered);
        else // the data could not be packed
            give_back(std::move(gathered));
    }
    // The rest could not be sent for lack of memory; the next call tries again.
    std::erase(gathered_, nullptr);
}

void ShortMessages::forget_gathered(ucp_ep_h ep) {
    for (std::unique_ptr<ShortMessage> &gathered : gathered_)
        if (gathered->ep == ep) give_back(std::move(gathered));
    std::erase(gathered_, nullptr);
}

// Leaves `message` set only if there was no memory; the call may then be repeated.
Status ShortMessages::start(std::unique_ptr<ShortMessage> &message) {
    const ucs_status_t started = message->start();
    if (started == UCS_INPROGRESS) {
        ++unsent_;
        (void)message.release();
        return success;
    }
    const Status status = ucx_ok(started, "ucp_am_send_nbx");
    if (status.code() == UCD_ERR__OUT_OF_MEM) return status;
    if (status.ok() || message->parts == 0) return give_back(std::move(message)), status;
    ++unsent_; // the operations of its parts have begun
    message.release()->fail_later(started);
    return status;
}

void ShortMessages::sent(std::unique_ptr<ShortMessage> message, ucs_status_t status) {
    --unsent_;
    if (status != UCS_OK) message->fail_operations(status);
    give_back(std::move(message));
}

} // namespace ucd_ucx::rma
