#include "rma/rma_window.h"

#include "common/tokens.h"
#include "datatype/options.h"
#include "pipeline/transfers.h"
#include "rma/one_sided.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ucd_ucx::rma {
namespace {

constexpr unsigned char key_begins[8] = {'U', 'C', 'D', 'W', 1};

} // namespace

ucd_ucx_window_key_t window_key(const ContentId &name) {
    ucd_ucx_window_key_t key = {};
    std::copy_n(key_begins, sizeof key_begins, key.bytes);
    std::copy_n(name.begin(), name.size(), key.bytes + sizeof key_begins);
    return key;
}

Status read_window_key(const ucd_ucx_window_key_t &key, ContentId &name) {
    std::memcpy(name.data(), key.bytes + sizeof key_begins, sizeof name);
    const ucd_ucx_window_key_t expected = window_key(name);
    if (std::memcmp(key.bytes, expected.bytes, sizeof key.bytes) == 0) return success;
    return fail(UCD_ERR__INVALID_ARG, "*key is no window's key");
}

bool is_within(int64_t displacement, int64_t low, int64_t high, uint64_t bytes) {
    int64_t first, end;
    if (__builtin_add_overflow(displacement, low, &first) ||
        __builtin_add_overflow(displacement, high, &end))
        return false;
    return first >= 0 && first <= end && static_cast<uint64_t>(end) <= bytes;
}

} // namespace ucd_ucx::rma

using namespace ucd_ucx;
using namespace ucd_ucx::rma;

Status ucd_ucx_window::set(ucd_info_t from, const TransferOptions &defaults) {
    TransferOptions options = defaults;
    UCD_TRY(read_transfer_options(from, options));
    fill_randomly(name.data(), name.size());
    BufferMemory memory;
    UCD_TRY(memory.find(base, bytes, UCD_TYPE__BYTE, from, TransferDirection::receive));
    UCD_TRY(to_read.set(memory.text(), from, TransferDirection::send));
    UCD_TRY(to_write.set(memory.text(), from, TransferDirection::receive));
    eager = direct_limit(options, to_read);
    transfer_bytes = bytes_of_transfer(options);
    return copy_transfer_options(from, info);
}

void ucd_ucx_window::enqueue(Task &task) {
    queue_.push(task);
    advance();
}

bool ucd_ucx_window::take_turn() {
    if (shared != nullptr && !has_turn_) has_turn_ = rma.access.take_turn(*shared);
    return shared == nullptr || has_turn_;
}

void ucd_ucx_window::end_turn() {
    if (std::exchange(has_turn_, false)) shared->end_turn();
}

// A loop, not recursion, because each turn may end at once. Nothing of the queue is passed over: if
// the first one's peer may cause no more work now, the others wait for the next call of progress.
void ucd_ucx_window::advance() {
    if (advancing_ || is_gone_) return;
    advancing_ = true;
    while (!queue_.empty() && !queue_.front().at_work()) {
        Task &first = queue_.front();
        if (!rma.target.begin_turn(first.peer()) || !take_turn()) {
            rma.target.advance_later(*this);
            break;
        }
        first.take_turn();
    }
    if (queue_.empty() || !queue_.front().at_work()) end_turn();
    advancing_ = false;
}

void ucd_ucx_window::be_gone() {
    LinkedList<ucd_ucx_window>::remove(*this);
    end_turn();
    shared.reset();
    is_gone_ = true;
}
