// What pipelines say to each other. UCX connects machines of one byte order only, so these travel
// as they are.
#pragma once

#include <cstdint>

namespace ucd_ucx {

// Names a transfer at both sides.
struct MessageId {
    uint64_t sender = 0; // the pipeline
    uint64_t number = 0; // counted by it
    friend bool operator==(const MessageId &, const MessageId &) = default;
};

enum class Kind : uint16_t {
    whole,      // all bytes follow
    offer,      // the chunks of a tagged message will come; said by active message
    opening,    // the tagged message that takes part in the matching for it
    user_offer, // chunks of a user's active message will come; the user's header follows
    chunk,
    withdraw, // no more chunks will come
};

// Begins every tagged message, and is the header of every active message.
struct Header {
    static constexpr uint32_t expected_magic = 0x55434431; // "UCD1"
    uint32_t magic = expected_magic;
    Kind kind = Kind::whole;
    uint16_t status = 0; // of withdraw: the ucs_status_t with its sign taken off
    MessageId id;
    uint64_t total = 0;  // bytes of the transfer
    uint64_t offset = 0; // of the chunk
    uint32_t user_id = 0;
    uint32_t user_header = 0; // bytes
};
static_assert(sizeof(Header) == 48);

} // namespace ucd_ucx
