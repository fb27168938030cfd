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
// What comes before the first part of several; a part without others is sent like any message.
constexpr std::size_t bytes_before_part = Preamble::bytes + length_bytes;

} // namespace

// A message that UCX is sending, that waits for others, or that is kept for the next one.
class ShortMessage final : public SendOp {
public:
    // charged: charge_of, for answers. own: the program's operations.
    ShortMessage(OneSided &rma, std::size_t room)
        : SendOp(rma.engine), rma_(rma), room_(room), memory_(new char[room]) {}
    void on_complete() override {
        rma_.messages.sent(std::unique_ptr<ShortMessage>(this), status_);
    }
    void reset(ucp_ep_h to) {
        ep = to;
        bytes_ = Preamble::bytes;
        parts_ = 0;
    }
    // UCS_INPROGRESS: on_complete will be called.
    ucs_status_t start() {
        std::string_view all(memory_.get(), bytes_);
        if (parts_ == 1)
            all.remove_prefix(bytes_before_part);
        else
            Encoded(Preamble{Verb::several}).write(memory_.get());
        return start_am(ep, UCP_AM_SEND_FLAG_EAGER, {.data = all.data(), .count = all.size()});
    }
    // Progress calls on_complete, as if UCX had failed later.
    void fail_later(ucs_status_t status) {
        status_ = status;
        engine_.events.put(*this);
    }
    // Writes a part, and packs the data behind it.
    Status add(const ShortContent &content) {
        char *const to = memory_.get() + bytes_ + length_bytes;
        const std::size_t data_at = content.message.size();
        content.message.write(to);
        if (content.contiguous != nullptr) {
            std::memcpy(to + data_at, content.contiguous, content.data_bytes);
        } else if (content.data_bytes > 0) {
            const Data &data = content.data;
            uintptr_t packed;
            UCD_TRY(ucd_ok(ucd_pack(data.buf, data.count, data.type, 0, to + data_at,
                                    content.data_bytes, &packed, data.hints->info.get(),
                                    UCD_OP__REPLACE)));
        }
        write_length(content.bytes(), memory_.get() + bytes_);
        bytes_ += length_bytes + content.bytes();
        ++parts_;
        return success;
    }
    // Whether a part of this size fits.
    bool has_room_for(std::size_t part) const {
        return bytes_ + length_bytes + part <= least_bytes;
    }
    void fail_operations(ucs_status_t status) {
        std::string_view left(memory_.get() + Preamble::bytes, bytes_ - Preamble::bytes);
        for (std::string_view one; !(one = take_part(left)).empty();) {
            Preamble preamble;
            (void)decode(one, preamble);
            if (!is_request(preamble.verb) && preamble.verb != Verb::type) continue;
            RmaOperation *const operation = rma_.origin.find(preamble.number, ep);
            if (operation != nullptr) operation->fail(status, UCD_SUCCESS);
        }
    }
    std::size_t room() const { return room_; }
    bool is_empty() const { return parts_ == 0; }

    ucp_ep_h ep = nullptr;
    Charge charge; // for answers

private:
    OneSided &rma_;
    const std::size_t room_;
    const std::unique_ptr<char[]> memory_;
    std::size_t bytes_ = 0; // written so far
    std::size_t parts_ = 0;
};

// The memory that the message takes until it is sent.
uint64_t ShortMessages::charge_of(std::size_t bytes) {
    return sizeof(ShortMessage) + std::max(bytes_before_part + bytes, least_bytes);
}

ShortMessages::ShortMessages(OneSided &rma) : rma_(rma) {
    idle_.reserve(max_idle_messages);
    gathered_.reserve(max_gathered);
}

ShortMessages::~ShortMessages() = default;

// With room for a part of this size.
std::unique_ptr<ShortMessage> ShortMessages::take(ucp_ep_h ep, std::size_t bytes) {
    std::unique_ptr<ShortMessage> made;
    if (!idle_.empty() && idle_.back()->room() >= bytes_before_part + bytes) {
        made = std::move(idle_.back());
        idle_.pop_back();
    } else {
        made =
            std::make_unique<ShortMessage>(rma_, std::max(bytes_before_part + bytes, least_bytes));
    }
    made->reset(ep);
    return made;
}

void ShortMessages::give_back(std::unique_ptr<ShortMessage> message) {
    message->charge.give_back();
    // performance only: what is not kept is allocated again
    if (idle_.size() < max_idle_messages && message->room() <= max_idle_bytes)
        idle_.push_back(std::move(message));
}

Status ShortMessages::send(ucp_ep_h ep, const ShortContent &content, Charge charge) {
    std::unique_ptr<ShortMessage> made = take(ep, content.bytes());
    made->charge = std::move(charge);
    UCD_TRY(made->add(content));
    return start(made, false);
}

Status ShortMessages::send_request(ucp_ep_h ep, const ShortContent &content) {
    ShortMessage *const gathered = gathered_for(ep, content.bytes(), false);
    return gathered != nullptr ? gathered->add(content) : send(ep, content, {});
}

Status ShortMessages::send_answer(ucp_ep_h ep, const ShortContent &content, LedgerUse use,
                                  bool *refused, bool alone) {
    *refused = false;
    ShortMessage *const gathered = alone ? nullptr : gathered_for(ep, content.bytes(), true);
    if (gathered != nullptr) return gathered->add(content);
    Charge charge = rma_.engine.ledger.take(ep, charge_of(content.bytes()), use);
    *refused = !charge;
    return *refused ? success : send(ep, content, std::move(charge));
}

// Messages to one endpoint ---------------------------------------------------

// Returns the endpoint's gathered messages, with room for `bytes` more. Null if the message has to
// be sent alone: it is the first one or too long, its account has no room, or too many endpoints
// have gathered messages.
ShortMessage *ShortMessages::gathered_for(ucp_ep_h ep, std::size_t bytes, bool is_charged) {
    if (!std::exchange(gathers_, true) || bytes_before_part + bytes > least_bytes) return nullptr;
    auto found = std::find_if(gathered_.begin(), gathered_.end(),
                              [ep](const auto &gathered) { return gathered->ep == ep; });
    const bool is_first = found == gathered_.end();
    if (is_first || !(*found)->has_room_for(bytes)) {
        if (is_first && gathered_.size() == max_gathered) return nullptr;
        std::unique_ptr<ShortMessage> next = take(ep, 0);
        if (is_first) found = gathered_.insert(found, nullptr);
        if (!is_first && start(*found, true).code() == UCD_ERR__OUT_OF_MEM) return nullptr;
        *found = std::move(next);
    }
    Charge &charge = (*found)->charge;
    if (is_charged && !charge)
        charge = rma_.engine.ledger.take(ep, charge_of(0), LedgerUse::message);
    return !is_charged || charge ? found->get() : nullptr;
}

void ShortMessages::send_all_gathered() {
    for (std::unique_ptr<ShortMessage> &gathered : gathered_) {
        if (gathered->is_empty()) // the data could not be packed, or the charge was refused
            give_back(std::move(gathered));
        else
            (void)start(gathered, true);
    }
    // The rest could not be sent for lack of memory; the next call tries again.
    std::erase(gathered_, nullptr);
}

void ShortMessages::forget_gathered(ucp_ep_h ep) {
    for (std::unique_ptr<ShortMessage> &gathered : gathered_)
        if (gathered->ep == ep) give_back(std::move(gathered));
    std::erase(gathered_, nullptr);
}

// Leaves `message` set only if there was no memory; the call may then be repeated. `has_begun`: the
// operations of its parts have begun, so they fail later.
Status ShortMessages::start(std::unique_ptr<ShortMessage> &message, bool has_begun) {
    const ucs_status_t started = message->start();
    const bool is_under_way = started == UCS_INPROGRESS;
    const Status status = is_under_way ? success : ucx_ok(started, "ucp_am_send_nbx");
    if (status.code() == UCD_ERR__OUT_OF_MEM) return status;
    if (!is_under_way && (status.ok() || !has_begun)) return give_back(std::move(message)), status;
    ++unsent_;
    ShortMessage &sending = *message.release();
    if (!is_under_way) sending.fail_later(started);
    return status;
}

void ShortMessages::sent(std::unique_ptr<ShortMessage> message, ucs_status_t status) {
    --unsent_;
    if (status != UCS_OK) message->fail_operations(status);
    give_back(std::move(message));
}

} // namespace ucd_ucx::rma
