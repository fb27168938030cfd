#include "transfer/first_use.h"

#include "prepared/plain_list.h"
#include "transfer/location.h"

namespace ucd {

namespace {

bool moves_one_object(const Transfer &t) {
    return t.count == 1 && t.length == t.type->size; // so the offset is 0
}

// Once for each type.
bool is_first_use(const Type &type) {
    return !type.original().moved.exchange(true, std::memory_order_relaxed);
}

} // namespace

bool move_at_first_use(const Transfer &t, Direction direction, const Limits &limits) {
    if (!moves_one_object(t)) return false;
    const PlainList plain(*t.type);
    if (plain.list == nullptr || !is_first_use(*t.type)) return false;
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
    if (op != Op::replace || limits.engine == Engine::dma || !moves_one_object(t) ||
        t.type->unflattened)
        return nullptr;
    const PlainList plain(*t.type);
    if (plain.list == nullptr || plain.list->form != Form::indexed_block ||
        plain.list->count < long_list || !is_first_use(*t.type))
        return nullptr;
    return as_described(*t.type, plain);
}

} // namespace ucd
