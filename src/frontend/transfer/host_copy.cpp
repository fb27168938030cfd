#include "transfer/host_copy.h"

#include "element_runs.h"
#include "transfer/host_submission.h"

#include <algorithm>

namespace ucd {

Status copy_on_host(Context &context, const Transfer &from, const Transfer &to, Op op,
                    const Limits &limits) {
    const Layout &source = layout_of(*from.type);
    const Layout &target = layout_of(*to.type);
    const auto contiguous = [](const Layout &layout, const Transfer &t) {
        return repeat(layout.top(), layout.root, t.count, t.type->extent()).kind == NodeKind::block;
    };
    const auto at = [](const Transfer &t, int64_t displ) {
        return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(t.typed) +
                                        static_cast<uintptr_t>(displ));
    };
    // A side that is one block is itself the packed buffer of the other.
    if (contiguous(source, from)) {
        Transfer t = to;
        t.packed = at(from, source.start);
        return run_on_host(context, t, Direction::unpack, op, limits);
    }
    if (contiguous(target, to)) {
        Transfer t = from;
        t.packed = at(to, target.start);
        return run_on_host(context, t, Direction::pack, op, limits);
    }
    alignas(64) char chunk[16384];
    Transfer in = from, out = to;
    in.packed = out.packed = chunk;
    const uint64_t total = from.type->size * from.count;
    for (uint64_t done = 0; done < from.length;) {
        uint64_t end = std::min<uint64_t>(done + sizeof chunk, from.length);
        if (op != Op::replace) end = element_floor(elements_of(*from.type), from.count, total, end);
        in.offset = out.offset = done;
        in.length = out.length = end - done;
        UCD_TRY(run_on_host(context, in, Direction::pack, Op::replace, limits));
        UCD_TRY(run_on_host(context, out, Direction::unpack, op, limits));
        done = end;
    }
    return success;
}

} // namespace ucd
