#include "transfer/host.h"

#include "element_runs.h"
#include "host_functions.h"
#include "prepared/plain_list.h"
#include "transfer/conversion.h"
#include "transfer/route.h"

#include <algorithm>

namespace ucd {

Status complete(CheckedMove &m, const Executor &from, const Executor &to) {
    if (m.from_type != nullptr)
        UCD_TRY(plan_of(*m.from_type, *from.backend, from.index, m.from.count > 1, m.from.plan));
    if (m.to_type != nullptr)
        UCD_TRY(plan_of(*m.to_type, *to.backend, to.index, m.to.count > 1, m.to.plan));
    if (m.op != Op::replace)
        m.elements = &elements_of(m.to_type != nullptr ? *m.to_type : *m.from_type);
    return success;
}

namespace {

bool moves_one_object(const CheckedMove &m) {
    // The length says that the offset is 0.
    return !m.is_copy() && m.op == Op::replace && m.typed().count == 1 && m.length == m.type().size;
}

// Returns true only once for each type.
bool is_first_use(const Type &type) {
    return !type.original().state.moved.exchange(true, std::memory_order_relaxed);
}

} // namespace

bool move_at_first_use(const CheckedMove &m) {
    if (!moves_one_object(m)) return false;
    const PlainList plain(m.type());
    if (plain.list == nullptr || !is_first_use(m.type())) return false;
    move_list(plain.blocks,
              {m.direction(), {m.from.address, m.to.address}, m.length, m.limits.threads});
    return true;
}

ConstTypeOwner described_for_first_use(const CheckedMove &m) {
    // For short lists, normalising takes less time than the launch.
    constexpr int64_t long_list = 1024;
    if (m.limits.engine == Engine::dma || !moves_one_object(m) || m.type().unflattened)
        return nullptr;
    const PlainList plain(m.type());
    if (plain.list == nullptr || plain.list->form != Form::indexed_block ||
        plain.list->count() < long_list || !is_first_use(m.type()))
        return nullptr;
    return as_described(m.type(), plain);
}

namespace {

// Whether all bytes of a side are one block. If so, `address` is where the range begins.
bool is_one_block(const Type &type, const Side &side, char *&address) {
    const Layout &layout = layout_of(type);
    if (repeat(layout.top(), layout.root, side.count, type.extent()).kind != NodeKind::block)
        return false;
    address = displaced(side.address, static_cast<uint64_t>(layout.start) + side.offset);
    return true;
}

} // namespace

HostStream stream_of(const Type &type, const Side &side) {
    return {&layout_of(type), type.extent(), side.address, side.count};
}

Status copy_on_host(Context &context, const CheckedMove &m) {
    if (is_conversion(m.op)) return convert_on_host(context, m);
    // If one side is a single block, it serves as the packed side of the other.
    char *block;
    if (is_one_block(*m.from_type, m.from, block)) {
        CheckedMove unpack = m.output_half(block);
        return run_on_host(context, Direction::unpack, unpack);
    }
    if (is_one_block(*m.to_type, m.to, block)) {
        CheckedMove pack = m.input_half(block);
        pack.op = m.op;
        return run_on_host(context, Direction::pack, pack);
    }
    alignas(64) char chunk[16384];
    if (m.op == Op::replace && m.length > sizeof chunk / 2 && m.from.offset == m.to.offset &&
        copy_in_one_pass(stream_of(*m.from_type, m.from), stream_of(*m.to_type, m.to),
                         m.from.offset, m.from.offset + m.length))
        return success;
    CheckedMove in = m.input_half(chunk), out = m.output_half(chunk);
    const uint64_t total = m.from_type->size * m.from.count;
    for (uint64_t done = 0; done < m.length; done += in.length) {
        uint64_t end = m.from.offset + std::min<uint64_t>(done + sizeof chunk, m.length);
        if (m.op != Op::replace)
            end = element_floor(elements_of(*m.from_type), m.from.count, total, end);
        in.from.offset = m.from.offset + done;
        out.to.offset = m.to.offset + done;
        in.length = out.length = end - in.from.offset;
        UCD_TRY(run_on_host(context, Direction::pack, in));
        UCD_TRY(run_on_host(context, Direction::unpack, out));
    }
    return success;
}

} // namespace ucd
