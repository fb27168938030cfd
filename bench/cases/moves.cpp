#include "cases/moves.hpp"

namespace bench {

void Moves::add(std::string name, Work work) {
    add_unchecked(std::move(name), std::move(work));
    bench_.check(contenders_.back(), pack_);
}

void Moves::add_hand(std::span<const HandMove> ways, const Lists &lists) {
    for (const HandMove &way : ways) {
        const MoveFunction move = pack_ ? way.pack : way.unpack;
        if (move == nullptr) continue;
        const auto once = [move, lists, typed = bench_.typed(), packed = bench_.packed()] {
            move(lists, typed, packed);
        };
        add(std::string("hand, ") + way.way,
            bench_.device().is_gpu() ? blocking(bench_.device(), once) : repeated(once));
    }
}

void Moves::add_mpi(const MpiType *type) {
    if (type == nullptr) return;
    const auto work = [type, typed = bench_.typed(), packed = bench_.packed(),
                       bytes = bench_.bytes()](auto move) {
        return repeated([=] { (type->*move)(typed, packed, bytes); });
    };
    add("MPI", work(pack_ ? &MpiType::pack : &MpiType::unpack));
}

void Moves::add_boxes(const Layout &layout) {
    if (!layout.boxes) return;
    add("copies",
        blocking(bench_.device(), [this_bench = &bench_, boxes = *layout.boxes, pack = pack_] {
            this_bench->device().start_boxes(boxes, this_bench->typed(), this_bench->packed(),
                                             pack);
        }));
}

} // namespace bench
