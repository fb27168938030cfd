#include "transfer/first_use.h"

#include "prepared/plain_list.h"
#include "transfer/location.h"

namespace ucd {

bool move_at_first_use(const Transfer &t, Direction direction, const Limits &limits) {
    const Type &type = *t.type;
    if (t.count != 1 || t.length != type.size) return false; // so the offset is 0
    PlainList plain;
    if (!is_plain_list(type, plain)) return false;
    if (type.moved.exchange(true, std::memory_order_relaxed)) return false;
    ListMove move = move_of(plain);
    move.typed = displaced(t.typed, static_cast<uint64_t>(plain.shift));
    move.packed = t.packed;
    move.direction = direction;
    move.threads = limits.threads;
    move_list(move);
    return true;
}

} // namespace ucd
