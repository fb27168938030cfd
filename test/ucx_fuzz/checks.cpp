// What must be so when something of an honest peer's is complete.

#include "node.hpp"

#include <algorithm>

namespace ucdfuzz {

std::string look_for_others(std::string_view bytes, Writers writers, bool may_be_untouched,
                            const char *&what) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if (is_by(byte, writers) || (may_be_untouched && byte == untouched)) continue;
        what = byte == untouched                           ? finding::undelivered
               : is_by(byte, anyone_public | private_ones) ? finding::of_others
                                                           : finding::from_heap;
        char text[80];
        std::snprintf(text, sizeof text, "byte %zu of %zu is %#x", i, bytes.size(), byte);
        return text;
    }
    return "";
}

namespace {

void check_bytes(const std::string &where, std::string_view bytes, Writers writers,
                 bool may_be_untouched) {
    const char *what = nullptr;
    const std::string wrong = look_for_others(bytes, writers, may_be_untouched, what);
    if (!wrong.empty()) found(what, where + ": " + wrong);
}

} // namespace

void Node::poll() {
    for (std::size_t i = 0; i < items_.size();) {
        ucd_ucx_result_t result = {};
        result.struct_size = sizeof result;
        Item &item = *items_[i];
        if (item.request != UCD_UCX_REQUEST__NULL &&
            ucd_ucx_request_check(item.request, &result) == UCS_INPROGRESS) {
            ++i;
            continue;
        }
        ucd_ucx_request_free(item.request);
        const std::unique_ptr<Item> done = std::move(items_[i]);
        items_[i] = std::move(items_.back());
        items_.pop_back();
        check_item(*done, result);
    }
}

void Node::check_item(Item &item, const ucd_ucx_result_t &result) {
    check_edges(item);
    switch (item.check) {
    case Item::Check::contents: return check_contents(item, result);
    case Item::Check::exact: return check_exact(item, result);
    case Item::Check::put: return check_put(item, result);
    case Item::Check::nothing: break;
    }
    if (item.peer == 1 - self_ && !item.excused && result.status != UCS_OK)
        found(finding::honest_wrong,
              std::string(item.what) + " ended with " + ucs_status_string(result.status));
}

// Nothing but what the type describes is written.
void Node::check_edges(Item &item) {
    if (!item.buffer.guards_are_whole() || !item.result.guards_are_whole())
        return found(finding::outside, std::string(item.what) + ": beside its buffer");
    if (item.layout.bytes == 0) return;
    Guarded rest = item.result;
    unpack(std::string(item.layout.bytes, static_cast<char>(untouched)),
           rest.data() - item.layout.low, item.layout);
    const std::string_view bytes = rest.view();
    if (std::any_of(bytes.begin(), bytes.end(),
                    [](char c) { return static_cast<unsigned char>(c) != untouched; }))
        found(finding::outside, std::string(item.what) + ": in a gap of its type");
}

void Node::check_contents(Item &item, const ucd_ucx_result_t &result) {
    const std::string stream = pack(item.result_at(), item.layout);
    const bool good = result.status == UCS_OK;
    if (good && result.bytes > stream.size())
        return found(finding::outside, std::string(item.what) + " says it has more than fits");
    if (settings_.opaque) return;
    const std::size_t received = good ? static_cast<std::size_t>(result.bytes) : 0;
    const std::string_view all = stream;
    check_bytes(item.what, all.substr(0, received), item.writers, false);
    if (!good) return check_bytes(std::string(item.what) + ", failed", all, item.writers, true);
    const char *what = nullptr;
    const std::string wrong = look_for_others(all.substr(received), 0, true, what);
    if (!wrong.empty())
        found(finding::behind, std::string(item.what) + " of " + std::to_string(received) +
                                   " bytes, behind them: " + wrong);
}

void Node::check_exact(Item &item, const ucd_ucx_result_t &result) {
    const bool operation = item.what[0] == 'o';
    if (operation) slots_[item.slot].busy = item.excused;
    if (item.excused) return;
    if (result.status != UCS_OK)
        return found(finding::honest_wrong,
                     std::string(item.what) + " ended with " + ucs_status_string(result.status));
    if (pack(item.result_at(), item.layout) != item.expected)
        found(finding::honest_wrong, std::string(item.what) + " has other bytes");
}

void Node::check_put(Item &item, const ucd_ucx_result_t &result) {
    slots_[item.slot].busy = item.excused;
    if (item.excused) return;
    if (result.status != UCS_OK)
        return found(finding::honest_wrong,
                     std::string(item.what) + " ended with " + ucs_status_string(result.status));
    const std::size_t at = item.slot * slot_bytes;
    if (other_->vault_.view().substr(at, slot_bytes) !=
        other_->vault_model_.view().substr(at, slot_bytes))
        found(finding::honest_wrong, std::string(item.what) + " wrote other bytes");
}

// When nobody is at work on them any more.
void Node::check_windows() {
    if (!vault_.guards_are_whole() || !public_.guards_are_whole())
        found(finding::outside, "beside a window");
    if (rma_ == nullptr) return;
    if (!settings_.opaque)
        check_bytes("the public window",
                    {reinterpret_cast<const char *>(public_memory_), public_.size()}, anyone_public,
                    false);
    for (std::size_t slot = 0; slot < slots; ++slot) {
        const std::size_t at = slot * slot_bytes;
        // Of one that ended with its endpoint it is not known what was done.
        if (other_->slots_[slot].busy) continue;
        if (vault_.view().substr(at, slot_bytes) != vault_model_.view().substr(at, slot_bytes))
            found(finding::honest_wrong, "a window that hostile peers have no key of has changed");
    }
}

} // namespace ucdfuzz
