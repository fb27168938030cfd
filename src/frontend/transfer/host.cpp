#include "transfer/host.h"

#include "element_runs.h"
#include "host_lists.h"
#include "prepared/plain_list.h"
#include "transfer/conversion.h"
#include "transfer/route.h"

#include <algorithm>

namespace ucd {

namespace {

bool moves_one_object(const CheckedMove &m) {
    return m.op == Op::replace && m.count == 1 && m.length == m.type->size; // so the offset is 0
}

// Returns true only once for each type.
bool is_first_use(const Type &type) {
    return !type.original().moved.exchange(true, std::memory_order_relaxed);
}

} // namespace

bool move_at_first_use(const CheckedMove &m) {
    if (!moves_one_object(m)) return false;
    const PlainList plain(*m.type);
    if (plain.list == nullptr || !is_first_use(*m.type)) return false;
    move_list(blocks_of(plain), m);
    return true;
}

ConstTypeOwner described_for_first_use(const CheckedMove &m) {
    // For short lists, normalising takes less time than the launch.
    constexpr int64_t long_list = 1024;
    if (m.limits.engine == Engine::dma || !moves_one_object(m) || m.type->unflattened)
        return nullptr;
    const PlainList plain(*m.type);
    if (plain.list == nullptr || plain.list->form != Form::indexed_block ||
        plain.list->count < long_list || !is_first_use(*m.type))
        return nullptr;
    return as_described(*m.type, plain);
}

namespace {

// Whether all bytes of a side are one block. If so, `address` is where the range begins.
bool is_one_block(const Type &type, const CopyMove::Side &side, char *&address) {
    const Layout &layout = layout_of(type);
    if (repeat(layout.top(), layout.root, side.count, type.extent()).kind != NodeKind::block)
        return false;
    address = displaced(side.typed, static_cast<uint64_t>(layout.start) + side.offset);
    return true;
}

} // namespace

HostStream stream_of(const Type &type, const CopyMove::Side &side) {
    return {&layout_of(type), type.extent(), side.typed, side.count};
}

CheckedMove move_of_side(const Type &type, const CopyMove::Side &side, uint64_t length,
                         Direction direction, Op op, const Limits &limits) {
    CheckedMove m;
    m.direction = direction;
    m.op = op;
    m.limits = limits;
    m.type = &type;
    m.typed = side.typed;
    m.count = side.count;
    m.offset = side.offset;
    m.length = length;
    return m;
}

Status copy_on_host(Context &context, const CheckedCopy &c, Op op, const Limits &limits) {
    if (is_conversion(op)) return convert_on_host(context, c, limits);
    CheckedMove in =
        move_of_side(*c.from_type, c.from, c.length, Direction::pack, Op::replace, limits);
    CheckedMove out = move_of_side(*c.to_type, c.to, c.length, Direction::unpack, op, limits);
    // If one side is a single block, it serves as the packed buffer of the other.
    if (is_one_block(*c.from_type, c.from, out.packed)) return run_on_host(context, out);
    if (is_one_block(*c.to_type, c.to, in.packed)) {
        in.op = op;
        return run_on_host(context, in);
    }
    alignas(64) char chunk[16384];
    if (op == Op::replace && c.length > sizeof chunk / 2 && c.from.offset == c.to.offset &&
        copy_in_one_pass(stream_of(*c.from_type, c.from), stream_of(*c.to_type, c.to),
                         c.from.offset, c.from.offset + c.length))
        return success;
    in.packed = out.packed = chunk;
    const uint64_t total = c.from_type->size * c.from.count;
    for (uint64_t done = 0; done < c.length;) {
        uint64_t end = c.from.offset + std::min<uint64_t>(done + sizeof chunk, c.length);
        if (op != Op::replace)
            end = element_floor(elements_of(*c.from_type), c.from.count, total, end);
        in.offset = c.from.offset + done;
        out.offset = c.to.offset + done;
        in.length = out.length = end - in.offset;
        UCD_TRY(run_on_host(context, in));
        UCD_TRY(run_on_host(context, out));
        done += in.length;
    }
    return success;
}

} // namespace ucd
