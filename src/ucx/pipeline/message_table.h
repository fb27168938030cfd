// The transfers that arrive at a pipeline, by endpoint and id.
#pragma once

#include "common/queue.h"
#include "engine/request.h"
#include "pipeline/message.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <ucp/api/ucp.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ucd_ucx {

class RecvMessage;
class Transfers;

class MessageTable {
public:
    // Each transfer is charged to its endpoint's account.
    explicit MessageTable(Transfers &transfers);
    ~MessageTable();
    MessageTable(const MessageTable &) = delete;
    MessageTable &operator=(const MessageTable &) = delete;

    // The transfer that an active message belongs to. `get` creates it for its first message, and
    // returns null if the endpoint is or will be barred.
    RecvMessage *find(ucp_ep_h ep, const MessageId &id) const;
    RecvMessage *get(ucp_ep_h ep, const MessageHeader &header, uint64_t since);
    // The transfer that a tagged message opens, created if none of its other messages has arrived.
    // Null if the transfer cannot come any more; *status then says why.
    RecvMessage *open(const MessageHeader &opening, ucs_status_t *status);
    // Tagged messages no longer find the transfer.
    void close_to_openings(const RecvMessage &message);
    // Messages no longer find the transfer, and a later delete_forgotten deletes it: the next one,
    // unless the user's handler is being called with it.
    void forget(RecvMessage &message);
    // For a transfer whose receive has ended before anything but its opening arrived. The entry is
    // kept so that late messages are dropped; if there are too many such entries, the oldest is
    // forgotten.
    void keep_for_late(const RecvMessage &message);
    void delete_forgotten();
    void clear();

    // From now on, openings of this stream whose transfer is not known end with `status`. Returns
    // the transfers of the stream of which only the opening has arrived.
    std::vector<RecvMessage *> end_stream(uint64_t stream, ucs_status_t status);

    // The first transfer of the endpoint, or the first behind `last`, which may be forgotten by
    // now; null if there is none.
    RecvMessage *next_of(ucp_ep_h ep, const std::optional<MessageId> &last) const;
    // For an endpoint that is gone, unless it was made at or after the time `before`: its streams,
    // which the caller has to end, and the removal of its entries.
    std::vector<uint64_t> streams_of(ucp_ep_h ep, uint64_t before) const;
    void remove_endpoint(ucp_ep_h ep, uint64_t before);
    // The transfer's endpoint is known, and has not been removed since the transfer arrived.
    bool has_endpoint_of(const RecvMessage &message) const;

private:
    struct Key {
        ucp_ep_h ep;
        MessageId id;
        friend auto operator<=>(const Key &, const Key &) = default;
    };
    struct Sender {
        uint64_t since = 0;
        std::vector<uint64_t> streams; // at most max_streams_of_sender
    };
    // An honest pipeline uses one stream for each endpoint, and a new one when it is created anew.
    static constexpr std::size_t max_streams_of_sender = 8;
    static constexpr std::size_t max_ended_streams = 1024;
    static constexpr std::size_t max_kept_for_late = 1024;
    bool admit(ucp_ep_h ep, uint64_t stream, uint64_t since);
    // If the stream has ended: its status; else UCS_OK.
    ucs_status_t end_of(uint64_t stream) const;

    Transfers &transfers_;
    // Ordered maps, since peers choose the ids and could make hashes collide.
    std::map<Key, std::unique_ptr<RecvMessage>> messages_; // null endpoint: only opened so far
    std::map<MessageId, RecvMessage *> openable_;
    std::unordered_map<ucp_ep_h, Sender> senders_;
    // Streams of endpoints that are gone or barred. The oldest are forgotten first.
    std::deque<std::pair<uint64_t, ucs_status_t>> ended_streams_;
    std::deque<MessageId> kept_for_late_;
    Queue<Notice> forgotten_; // owned by this table
};

} // namespace ucd_ucx
