// The state of a transfer at its receiver. It alone decides whether a message may change the
// transfer. It owns no memory of UCX and starts nothing; RecvMessage acts on its answers.
#pragma once

#include "common/byte_ranges.h"
#include "pipeline/message.h"

#include <cstdint>

namespace ucd_ucx {

enum class Stage : uint8_t {
    announced, // something of it has come; no receive has it yet
    matched,   // a tagged message has opened it, and its endpoint is not known yet
    delivered, // the user's handler was told of it, or will be
    receiving, // a receive takes its chunks
    done,      // it was dropped, or has failed: what still comes of it is ignored
};

// What a message is, as far as its transfer is concerned.
struct Part {
    Kind kind = Kind::whole;
    uint64_t total = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;      // of the transfer, that this part brings
    bool rendezvous = false; // its data waits at the sender
};

enum class Admission : uint8_t {
    accept,
    ignore, // it is late or of no use
    refuse, // the sender does not keep to the protocol: the transfer fails
};

class TransferState {
public:
    explicit TransferState(uint64_t total) : total_(total) {}

    // An active message. Throws std::bad_alloc before anything has changed.
    Admission take(const Part &part);
    // A tagged message, with the total that it says. Not `accept`: the receive that it matched
    // fails, and the transfer is as before.
    Admission open(uint64_t total);

    // What the receiver does.
    void deliver() { stage_ = Stage::delivered; }
    void receive() { stage_ = Stage::receiving; }
    void end() { stage_ = Stage::done; }

    Stage stage() const { return stage_; }
    uint64_t total() const { return total_; }
    // Each byte of it has come once, or will not come.
    bool is_whole() const { return seen_.total() == total_; }
    uint64_t memory() const { return seen_.memory(); }
    // A tagged message may still open it.
    bool awaits_opening() const { return family_ != Family::user && !opened_; }

private:
    // Tagged messages are opened by a tagged message, user messages by an active message.
    enum class Family : uint8_t { unknown, tagged, user };
    bool join(Family family);
    Admission take_announcement(Family family);

    const uint64_t total_;
    Stage stage_ = Stage::announced;
    Family family_ = Family::unknown;
    bool opened_ = false, announced_ = false;
    bool may_refuse_ring_ = true, may_accept_ring_ = true; // ring offers come once
    ByteRanges seen_;
};

} // namespace ucd_ucx
