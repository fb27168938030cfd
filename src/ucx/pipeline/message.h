// The messages of pipelines. They are sent in the byte order of the sender: a peer of the other
// byte order is refused, because it reads the magic number backwards.
#pragma once

#include <compare>
#include <cstdint>
#include <ucd_memory.h>

namespace ucd_ucx {

// Identifies a transfer at both sides. The stream is an unpredictable number that the sender draws
// for each endpoint, so that only the two ends of an endpoint know it.
struct MessageId {
    uint64_t stream = 0;
    uint64_t number = 0; // counted by the sending pipeline
    friend auto operator<=>(const MessageId &, const MessageId &) = default;
};

enum class Kind : uint16_t {
    whole,      // all data follows
    offer,      // announces the chunks of a tagged message; an active message
    opening,    // the tagged message of that transfer, which takes part in matching
    user_offer, // announces the chunks of a user's active message; the user's header follows
    chunk,
    withdraw, // no more chunks will come
    // For data in device memory (docs/guide/gpu-ring.md). All carry a Receipt, by rendezvous.
    ring_refuse, // the receiver fetches it to ask for chunks of Kind::chunk
    ring_accept, // or fetches this one, if it can open device memory; a RingPlace follows
    ring_chunk,  // fetched when the memory has been read; a RingPlace follows
};
inline constexpr auto last_kind = Kind::ring_chunk;

// The first bytes of every tagged message and of every active message of a pipeline.
struct Header {
    static constexpr uint32_t version_1 = 0x55434431;      // "UCD1", which is refused
    static constexpr uint32_t expected_magic = 0x55434432; // "UCD2"
    uint32_t magic = expected_magic;
    Kind kind = Kind::whole;
    uint16_t status = 0; // for withdraw: the negated ucs_status_t
    MessageId id;
    uint64_t total = 0;  // bytes of the transfer
    uint64_t offset = 0; // of the chunk, in the packed stream
    uint32_t user_id = 0;
    uint32_t user_header = 0; // bytes of the header that follows this one
};
static_assert(sizeof(Header) == 48);

// Whether the magic number is that of a peer that is refused: one of version 1, or one of the other
// byte order.
constexpr bool is_of_refused_peer(uint32_t magic) {
    const uint32_t other_order = __builtin_bswap32(magic);
    return magic == Header::version_1 || other_order == Header::version_1 ||
           other_order == Header::expected_magic;
}

// Where a chunk lies in the sender's device memory.
struct RingPlace {
    ucd_ipc_handle_t handle = {};
    uint64_t offset = 0; // from the beginning of the handle's memory
    uint64_t bytes = 0;
};
struct RingHeader {
    Header header;
    RingPlace place;
};
static_assert(sizeof(RingHeader) == sizeof(Header) + sizeof(RingPlace));

// The data that a receiver fetches so that UCX reports the completion to the sender.
using Receipt = uint64_t;
// The receipt of a chunk, which is valid while the sender keeps the chunk's memory. UCX may fetch
// the receipt after the endpoint has failed at the sender, which then reuses the memory.
inline Receipt receipt_of(const Header &chunk) {
    return (chunk.id.stream ^ chunk.id.number * 0x9e3779b97f4a7c15u ^ chunk.offset) | 1;
}

} // namespace ucd_ucx
