// The messages of transfers. What follows the first byte is in the byte order of the sender, and is
// read only if that is this one's.
#pragma once

#include "common/tokens.h"
#include "direct/links.h"
#include "engine/version.h"

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <ucd_memory.h>

namespace ucd_ucx {

// Identifies a transfer at both sides. The stream is an unpredictable number that the sender draws
// for each endpoint, so that only the two ends of an endpoint know it.
struct MessageId {
    uint64_t stream = 0;
    uint64_t number = 0; // counted by the sender
    friend auto operator<=>(const MessageId &, const MessageId &) = default;
};

// One-sided messages have kinds from 1 on.
enum class MessageKind : uint8_t {
    whole = 16, // all data follows
    offer,      // announces the chunks of a tagged message; an active message
    opening,    // the tagged message of that transfer, which takes part in matching
    user_offer, // announces the chunks of a user's active message; the user's header follows
    chunk,
    withdraw, // no more chunks will come
    // These carry a Receipt, by rendezvous:
    route,      // offers a route; the receiver fetches the one that it chooses
    ring_chunk, // fetched when the memory has been read; a RingPlace follows
    // For direct transfers (docs/internals/ucx-engine.md). The first two carry a Receipt, too:
    introduction, // of the sender's process; an Introduction follows
    direct,       // offers to read the data where it is; a DirectPlace follows
    direct_type,  // a flattened type that such offers name
    decline,      // by the receiver of such an offer: it waits for the data by another route
};
inline constexpr auto first_kind = MessageKind::whole, last_kind = MessageKind::decline;

// How the chunks of a transfer may reach the receiver. A sender that has more than one route offers
// them all, and the receiver chooses.
enum class ChunkRoute : uint8_t {
    host, // in messages of Kind::chunk
    // In device memory that the receiver opens (docs/internals/ucx-engine.md). A RingPlace follows.
    ring,
    // The same memory and messages, for two processes on one device: the sender packs all chunks
    // that it may have under way, and then sends them all.
    ring_in_turns,
};
inline constexpr std::size_t max_routes = 8; // with those of later versions
constexpr uint8_t bit_of(ChunkRoute route) {
    return static_cast<uint8_t>(1U << static_cast<unsigned>(route));
}

// The first bytes of every tagged message and of every active message of a transfer.
struct MessageHeader {
    // By these letters, a receive tells a transfer from another library's tagged message.
    static constexpr std::array<char, 4> expected_letters = {'U', 'C', 'D', 'T'};
    uint8_t first_byte = own_first_byte;
    MessageKind kind = MessageKind::whole;
    // For withdraw, the negated ucs_status_t; for route, which one, and above that the set of all
    // that the sender offers.
    uint16_t detail = 0;
    std::array<char, 4> letters = expected_letters;
    MessageId id;
    uint64_t total = 0;  // bytes of the transfer
    uint64_t offset = 0; // of the chunk, in the packed stream
    uint32_t user_id = 0;
    uint32_t user_header = 0; // bytes of the header that follows this one

    ChunkRoute route() const { return static_cast<ChunkRoute>(detail & 255); }
    uint8_t offered() const { return static_cast<uint8_t>(detail >> 8); }
    // The bytes that follow.
    std::size_t following() const;
    // Whether the numbers are 0 that have no meaning in a message of this kind. Others are refused,
    // so that a later version can give them a meaning.
    bool unused_are_zero(bool is_tagged) const;
    bool has_place() const {
        return kind == MessageKind::ring_chunk ||
               (kind == MessageKind::route && route() == ChunkRoute::ring);
    }
    // performance only: as numbers, since compilers call a function to compare arrays
    bool has_letters() const {
        return std::bit_cast<uint32_t>(letters) == std::bit_cast<uint32_t>(expected_letters);
    }
    bool is_good() const {
        return first_byte == own_first_byte && has_letters() && kind >= first_kind &&
               kind <= last_kind;
    }
};
static_assert(sizeof(MessageHeader) == 48);

// Whether the first bytes are those of a peer that is refused: one of version 1 or 2, which began
// with a number that stands for the letters "UCD1" or "UCD2"; one of a later version; or one of the
// other byte order.
bool is_of_refused_peer(const MessageHeader &header);

// Where a chunk lies in the sender's device memory.
struct RingPlace {
    ucd_ipc_handle_t handle = {};
    uint64_t offset = 0; // from the beginning of the handle's memory
    uint64_t bytes = 0;

    // As in Header. An offer of the route names the memory only.
    bool unused_are_zero(MessageKind kind) const {
        return kind == MessageKind::ring_chunk || (offset == 0 && bytes == 0);
    }
};

// Why an offer was declined: the detail of the message.
enum class Decline : uint16_t {
    other_route,  // this one is not faster, or not possible
    unknown_type, // and the type has to be sent again
    // The descriptors of the data's memory have not come, or were closed: they have to be passed
    // again.
    unknown_memory,
};
inline constexpr auto last_decline = Decline::unknown_memory;

// Where the sender's data lies, for a receiver that reads it there.
struct DirectPlace {
    enum class Memory : uint32_t {
        host, // of version 0.3.0, which read it by system calls; declined
        ipc,
        attached, // host memory that the receiver can map by a descriptor
    };
    uint64_t number = 0;       // of the link, so that it cannot be used twice
    uint64_t base = 0;         // the buffer: its address, or its distance from the handle's memory
    int64_t low = 0, high = 0; // the bytes of the layout, from the buffer
    uint64_t count = 0;
    ContentId type = {};
    Memory memory = Memory::host;
    uint32_t descriptors = 0;      // that the handle needs, of those that were passed on the link
    uint64_t first_descriptor = 0; // its number
    ucd_ipc_handle_t handle = {};
    Mac mac = {}; // of all before it

    bool unused_are_zero() const; // as in Header
};
inline constexpr std::size_t bytes_under_mac = sizeof(MessageHeader) + offsetof(DirectPlace, mac);

// The data that a receiver fetches so that UCX reports the completion to the sender.
using Receipt = uint64_t;
// The receipt of a chunk, which is valid while the sender keeps the chunk's memory. UCX may fetch
// the receipt after the endpoint has failed at the sender, which then reuses the memory.
inline Receipt receipt_of(const MessageHeader &chunk) {
    return (chunk.id.stream ^ chunk.id.number * 0x9e3779b97f4a7c15u ^ chunk.offset) | 1;
}

} // namespace ucd_ucx
