// The state of a transfer at its receiver, which alone decides whether a message may change the
// transfer. It owns none of UCX's memory and starts nothing; RecvMessage acts on its answers.
#pragma once

#include "common/byte_ranges.h"
#include "pipeline/message.h"

#include <cstdint>

namespace ucd_ucx {

enum class Stage : uint8_t {
    announced, // an active message has arrived; no receive has matched yet
    matched,   // a tagged message has opened it; its endpoint is not known yet
    delivered, // the user's handler was called, or is going to be
    receiving, // a receive takes its chunks
    done,      // dropped or failed: further messages are ignored
};

// The properties of a message that matter to its transfer.
struct Part {
    Kind kind = Kind::whole;
    uint64_t total = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;      // bytes of the transfer that this message brings
    bool rendezvous = false; // the data waits at the sender
};

enum class Admission : uint8_t {
    accept,
    ignore, // late or useless
    refuse, // a violation of the protocol: the transfer fails
};

class TransferState {
public:
    explicit TransferState(uint64_t total) : total_(total) {}

    // An active message. If it throws std::bad_alloc, nothing has changed.
    Admission take(const Part &part);
    // A tagged message, with the total that it announces. If the result is not `accept`, the
    // matched receive fails, and the transfer is unchanged.
    Admission open(uint64_t total);

    // The receiver's decisions:
    void deliver() { stage_ = Stage::delivered; }
    void receive() { stage_ = Stage::receiving; }
    void end() { stage_ = Stage::done; }

    Stage stage() const { return stage_; }
    uint64_t total() const { return total_; }
    // Each byte has arrived once, or will not arrive.
    bool is_whole() const { return seen_.total() == total_; }
    uint64_t memory() const { return seen_.memory(); }
    // A tagged message may still open the transfer.
    bool awaits_opening() const { return family_ != Family::user && !opened_; }

private:
    // Tagged transfers are opened by a tagged message, those of users by an active message.
    enum class Family : uint8_t { unknown, tagged, user };
    bool join(Family family);
    Admission take_announcement(Family family);

    const uint64_t total_;
    Stage stage_ = Stage::announced;
    Family family_ = Family::unknown;
    bool opened_ = false, announced_ = false;
    bool may_refuse_ring_ = true, may_accept_ring_ = true; // each ring offer is accepted once
    ByteRanges seen_;
};

} // namespace ucd_ucx
