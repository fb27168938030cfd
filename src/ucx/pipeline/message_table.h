// The transfers that come to a pipeline, by the endpoint that they come from and their id.
#pragma once

#include "common/ledger.h"
#include "common/queue.h"
#include "pipeline/message.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <ucp/api/ucp.h>
#include <unordered_map>
#include <vector>

namespace ucd_ucx {

class RecvMessage;

class MessageTable {
public:
    // Each transfer is charged to its endpoint.
    explicit MessageTable(Ledger &ledger);
    ~MessageTable();
    MessageTable(const MessageTable &) = delete;
    MessageTable &operator=(const MessageTable &) = delete;

    // The transfer that an active message belongs to. `get` makes it if this is the first message
    // of it; null: the endpoint is barred, or is going to be.
    RecvMessage *find(ucp_ep_h ep, const MessageId &id) const;
    RecvMessage *get(ucp_ep_h ep, const Header &header, uint64_t since);
    // The transfer that a tagged message opens, made if nothing has come of it yet. Null: it will
    // not come, and *status says why.
    RecvMessage *open(const Header &opening, ucs_status_t *status);
    // It is no longer to be found by a tagged message.
    void close_to_openings(const RecvMessage &message);
    // It is no longer to be found, and is deleted by the next delete_forgotten.
    void forget(RecvMessage &message);
    // Nothing but an opening has come of it, and its receive has ended: it is kept, so that what
    // comes late is dropped; the oldest of too many of them is forgotten.
    void keep_for_late(const RecvMessage &message);
    void delete_forgotten();
    void clear();

    // What opens a transfer of this stream later, of which nothing else has come, ends with this.
    // The transfers of it of which nothing but the opening has come.
    std::vector<RecvMessage *> end_stream(uint64_t stream, ucs_status_t status);

    // The transfers of an endpoint.
    std::vector<RecvMessage *> of_endpoint(ucp_ep_h ep) const;
    // Of an endpoint that is gone, unless it was made after that time: its streams, which are to be
    // ended; and what is kept of it is removed.
    std::vector<uint64_t> streams_of(ucp_ep_h ep, uint64_t before) const;
    void remove_endpoint(ucp_ep_h ep, uint64_t before);

private:
    struct Key {
        ucp_ep_h ep;
        MessageId id;
        friend auto operator<=>(const Key &, const Key &) = default;
    };
    struct Peer {
        uint64_t since = 0;
        std::vector<uint64_t> streams; // the first ones
    };
    // An honest pipeline has one stream for each endpoint, another one after it was made anew.
    static constexpr std::size_t max_streams_of_peer = 8;
    static constexpr std::size_t max_ended_streams = 1024;
    static constexpr std::size_t max_kept_for_late = 1024;
    bool admit(ucp_ep_h ep, uint64_t stream, uint64_t since);

    Ledger &ledger_;
    // Ordered, since peers choose the ids.
    std::map<Key, std::unique_ptr<RecvMessage>> messages_; // of a null endpoint: only opened so far
    std::map<MessageId, RecvMessage *> openable_;
    std::unordered_map<ucp_ep_h, Peer> peers_;
    // Streams of endpoints that are gone or barred; the oldest are forgotten first.
    std::map<uint64_t, ucs_status_t> ended_streams_;
    std::deque<uint64_t> ended_order_;
    std::deque<MessageId> kept_for_late_;
    Queue<RecvMessage> forgotten_; // owned
};

} // namespace ucd_ucx
