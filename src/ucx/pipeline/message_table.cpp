#include "pipeline/message_table.h"

#include "pipeline/recv_message.h"
#include "pipeline/transfers.h"

#include <algorithm>
#include <utility>

namespace ucd_ucx {

MessageTable::MessageTable(Transfers &transfers) : transfers_(transfers) {}

MessageTable::~MessageTable() = default; // who has the table clears it before

void MessageTable::delete_forgotten() {
    Queue<Notice> kept; // the handler still reads it
    while (!forgotten_.empty()) {
        auto &message = static_cast<RecvMessage &>(forgotten_.pop());
        if (transfers_.engine.is_being_told(message))
            kept.push(message);
        else
            delete &message;
    }
    forgotten_ = std::move(kept);
}

void MessageTable::clear() {
    openable_.clear();
    messages_.clear();
    delete_forgotten();
}

RecvMessage *MessageTable::find(ucp_ep_h ep, const MessageId &id) const {
    const auto found = messages_.find({ep, id});
    return found == messages_.end() ? nullptr : found->second.get();
}

bool MessageTable::admit(ucp_ep_h ep, uint64_t stream, uint64_t since) {
    if (transfers_.engine.ledger.is_barred(ep)) return false;
    Sender &sender = senders_.try_emplace(ep, Sender{.since = since, .streams = {}}).first->second;
    const bool is_new =
        std::find(sender.streams.begin(), sender.streams.end(), stream) == sender.streams.end();
    if (is_new && sender.streams.size() < max_streams_of_sender) sender.streams.push_back(stream);
    return true;
}

RecvMessage *MessageTable::get(ucp_ep_h ep, const MessageHeader &header, uint64_t since) {
    if (RecvMessage *known = find(ep, header.id); known != nullptr) return known;
    if (ep != nullptr && !admit(ep, header.id.stream, since)) return nullptr;
    Charge charge =
        transfers_.engine.ledger.take(ep, RecvMessage::bytes_of_entry, LedgerUse::message);
    if (ep != nullptr && !charge) return nullptr;
    const bool may_be_opened =
        header.kind != MessageKind::whole && header.kind != MessageKind::user_offer;
    const auto opened = may_be_opened ? messages_.find({nullptr, header.id}) : messages_.end();
    RecvMessage *message;
    if (opened != messages_.end()) { // by a tagged message; its endpoint becomes known now
        auto entry = messages_.extract(opened);
        entry.key().ep = ep;
        message = messages_.insert(std::move(entry)).position->second.get();
    } else {
        auto made = std::make_unique<RecvMessage>(transfers_, header.id, header.total);
        message = made.get();
        std::map<MessageId, RecvMessage *>
            openable; // first, so that nothing has changed if it fails
        if (may_be_opened) openable.try_emplace(header.id, message);
        messages_.try_emplace({ep, header.id}, std::move(made));
        openable_.merge(openable);
    }
    message->bind(ep, since);
    message->charge = std::move(charge);
    return message;
}

RecvMessage *MessageTable::open(const MessageHeader &opening, ucs_status_t *status) {
    const auto found = openable_.find(opening.id);
    if (found != openable_.end()) {
        RecvMessage *message = found->second;
        if (message->open(opening.total)) return message;
        *status = UCS_ERR_INVALID_PARAM;
        return nullptr;
    }
    *status = end_of(opening.id.stream);
    if (*status != UCS_OK) return nullptr;
    // The endpoint is null as long as only the opening has arrived.
    auto made = std::make_unique<RecvMessage>(transfers_, opening.id, opening.total);
    const auto [place, is_new] = messages_.try_emplace({nullptr, opening.id});
    *status = UCS_ERR_INVALID_PARAM;
    if (!is_new || !made->open(opening.total)) return nullptr; // a second opening
    place->second = std::move(made);
    return place->second.get();
}

void MessageTable::close_to_openings(const RecvMessage &message) {
    const auto found = openable_.find(message.id());
    if (found != openable_.end() && found->second == &message) openable_.erase(found);
}

void MessageTable::forget(RecvMessage &message) {
    const auto found = messages_.find({message.ep(), message.id()});
    if (found == messages_.end() || found->second.get() != &message) return;
    close_to_openings(message);
    forgotten_.push(*found->second.release());
    messages_.erase(found);
}

void MessageTable::keep_for_late(const RecvMessage &message) {
    kept_for_late_.push_back(message.id());
    if (kept_for_late_.size() <= max_kept_for_late) return;
    RecvMessage *oldest = find(nullptr, kept_for_late_.front());
    kept_for_late_.pop_front();
    if (oldest != nullptr && oldest->is_over()) forget(*oldest);
}

RecvMessage *MessageTable::next_of(ucp_ep_h ep, const std::optional<MessageId> &last) const {
    const auto found = last ? messages_.upper_bound({ep, *last}) : messages_.lower_bound({ep, {}});
    return found == messages_.end() || found->first.ep != ep ? nullptr : found->second.get();
}

std::vector<uint64_t> MessageTable::streams_of(ucp_ep_h ep, uint64_t before) const {
    const auto found = senders_.find(ep);
    if (found == senders_.end() || found->second.since >= before) return {};
    return found->second.streams;
}

void MessageTable::remove_endpoint(ucp_ep_h ep, uint64_t before) {
    const auto found = senders_.find(ep);
    if (found == senders_.end() || found->second.since >= before) return;
    senders_.erase(found);
}

bool MessageTable::has_endpoint_of(const RecvMessage &message) const {
    const auto found = senders_.find(message.ep());
    return found != senders_.end() && found->second.since <= message.since();
}

ucs_status_t MessageTable::end_of(uint64_t stream) const {
    for (const auto &[ended, status] : ended_streams_)
        if (ended == stream) return status;
    return UCS_OK;
}

std::vector<RecvMessage *> MessageTable::end_stream(uint64_t stream, ucs_status_t status) {
    if (end_of(stream) == UCS_OK) ended_streams_.emplace_back(stream, status);
    if (ended_streams_.size() > max_ended_streams) ended_streams_.pop_front();
    std::vector<RecvMessage *> opened;
    for (auto at = messages_.lower_bound({nullptr, {stream, 0}});
         at != messages_.end() && at->first.ep == nullptr && at->first.id.stream == stream; ++at)
        opened.push_back(at->second.get());
    return opened;
}

} // namespace ucd_ucx
