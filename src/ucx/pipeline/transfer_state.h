// The state of a transfer at its receiver, which alone decides whether a message may change the
// transfer, and what may follow what. It owns none of UCX's memory and starts nothing; RecvMessage
// acts on its answers.
#pragma once

#include "common/byte_ranges.h"
#include "pipeline/message.h"

#include <cstdint>

namespace ucd_ucx {

enum class TransferStage : uint8_t {
    // More messages may come:
    announced,  // no receive has matched, and no handler has it
    delivered,  // the user's handler was called, or is going to be
    matched,    // a tagged message has opened it; its endpoint is not known yet
    receiving,  // a receive takes its chunks
    discarding, // no receive takes what still comes
    late,       // same, and nothing but its opening has come
    // No more messages may come:
    withdrawn, // of an announced transfer: the receive that takes it fails
    revoked,   // of a delivered one
    over,      // nobody will ask for it any more
};

enum class Admission : uint8_t {
    accept,
    ignore, // late or useless
    refuse, // a violation of the protocol: the transfer fails
};

class TransferState {
public:
    explicit TransferState(uint64_t total) : total_(total) {}

    // An active message that brings this many bytes of the transfer. `waits`: its data waits at the
    // sender. If it throws std::bad_alloc, nothing has changed.
    Admission take(const MessageHeader &header, uint64_t bytes, bool waits);
    // A tagged message, with the total that it announces. If the result is not `accept`, the
    // matched receive fails, and the transfer is unchanged.
    Admission open(uint64_t total);

    // What happens at the receiver. Each returns whether it may happen now; if not, nothing has
    // changed.
    bool deliver() { return go_on(&NextStages::deliver); }
    // A receive takes it, or learns its endpoint.
    bool claim(bool knows_endpoint) {
        return go_on(knows_endpoint ? &NextStages::receive : &NextStages::match);
    }
    // The receive has ended, or the user drops it.
    bool release() { return go_on(&NextStages::release); }
    bool become_late() { return go_on(&NextStages::become_late); }
    // No more messages will come.
    bool end() { return go_on(&NextStages::end); }
    // No opening can come either.
    bool lose_endpoint() { return go_on(&NextStages::lose_endpoint); }

    TransferStage stage() const { return stage_; }
    uint64_t total() const { return total_; }
    // Each byte has arrived once, or will not arrive.
    bool is_whole() const { return seen_.total() == total_; }
    uint64_t memory() const { return seen_.memory(); }
    bool takes_data() const { return stage_ <= TransferStage::receiving; }
    // A receive or the user has decided how it ends.
    bool is_claimed() const {
        return stage_ >= TransferStage::matched && stage_ <= TransferStage::late;
    }
    bool is_discarding() const {
        return stage_ == TransferStage::discarding || stage_ == TransferStage::late;
    }
    bool has_come(ChunkRoute route) const { return (routes_came_ & bit_of(route)) != 0; }
    bool all_routes_came() const { return offered_ != 0 && routes_came_ == offered_; }

private:
    // What follows a stage.
    struct NextStages {
        TransferStage deliver, match, receive, release, become_late, end, lose_endpoint;
    };
    bool go_on(TransferStage NextStages::*event);
    static constexpr unsigned bit_of_kind(MessageKind kind) {
        return 1U << (static_cast<unsigned>(kind) - static_cast<unsigned>(first_kind));
    }
    // Notes a message that comes at most once. Returns false if it, or one of `others`, which
    // exclude it, has come.
    bool note(MessageKind kind, unsigned others = 0);
    Admission take_chunk(const MessageHeader &header, uint64_t bytes, bool waits);
    Admission take_route(const MessageHeader &header, bool waits);

    const uint64_t total_;
    TransferStage stage_ = TransferStage::announced;
    uint16_t came_ = 0; // the kinds of messages that have come, of those that come once
    uint8_t offered_ = 0, routes_came_ = 0; // sets of routes
    ByteRanges seen_;
};

} // namespace ucd_ucx
