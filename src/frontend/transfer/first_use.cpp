#include "transfer/first_use.h"

#include "prepared/plain_list.h"
#include "transfer/location.h"

namespace ucd {

namespace {

bool is_first_use(const Transfer &t, PlainList &plain) {
    const Type &type = *t.type;
    if (t.count != 1 || t.length != type.size) return false; // so the offset is 0
    if (!is_plain_list(type, plain)) return false;
    return !type.original().moved.exchange(true, std::memory_order_relaxed);
}

} // namespace

bool move_at_first_use(const Transfer &t, Direction direction, const Limits &limits) {
    PlainList plain;
    if (!is_first_use(t, plain)) return false;
    ListMove move = move_of(plain);
    move.typed = displaced(t.typed, static_cast<uint64_t>(plain.shift));
    move.packed = t.packed;
    move.direction = direction;
    move.threads = limits.threads;
    move_list(move);
    return true;
}

ConstTypeOwner described_for_first_use(const Transfer &t, Op op, const Limits &limits) {
    // Of short lists, the normal form takes less than the launch.
    constexpr int64_t long_list = 1024;
    PlainList plain;
    if (op != Op::replace || limits.engine == Engine::dma || t.count != 1 || t.type->unflattened ||
        !is_plain_list(*t.type, plain) || plain.list->form != Form::indexed_block ||
        plain.list->count < long_list || !is_first_use(t, plain))
        return nullptr;
    return as_described(*t.type, plain);
}

} // namespace ucd
