#include "cases/moves.hpp"

#include <algorithm>

namespace bench {
namespace {

// Room for the list, if it is not used where it is.
std::size_t list_bytes(const Layout &layout, const Device &device) {
    const std::size_t entries = device.is_gpu() ? layout.lists.displs.size() : 0;
    return std::max<std::size_t>(entries, 1) * sizeof(std::int32_t);
}

} // namespace

LayoutOnDevice::LayoutOnDevice(Layout l, Device &device, MemoryKind typed, MemoryKind packed,
                               const MpiPeer *peer)
    : layout(std::move(l)), bench(*layout.type, device, typed, packed), type(*layout.type),
      mpi(peer != nullptr ? peer->build(*layout.type) : nullptr),
      device_displs_(device, list_bytes(layout, device)) {
    if (device.is_gpu() && !layout.lists.displs.empty())
        device.copy(device_displs_.data(), layout.lists.displs.data(), device_displs_.bytes());
}

Lists LayoutOnDevice::lists() const {
    if (!bench.device().is_gpu()) return layout.lists.view();
    return {device_displs_.as<const std::int32_t>(), nullptr, layout.lists.displs.size()};
}

void Moves::add(std::string name, Work work) {
    add_unchecked(std::move(name), std::move(work));
    bench().check(contenders_.back(), pack_);
}

void Moves::add_hand(std::size_t max_ways) {
    const std::span<const HandMove> ways = subject_.layout.hand;
    for (const HandMove &way : ways.first(std::min(max_ways, ways.size()))) {
        const MoveFunction move = pack_ ? way.pack : way.unpack;
        if (move == nullptr) continue;
        const auto once = [move, lists = subject_.lists(), typed = bench().typed(),
                           packed = bench().packed()] { move(lists, typed, packed); };
        add(std::string("hand, ") + way.way,
            bench().device().is_gpu() ? blocking(bench().device(), once) : repeated(once));
    }
}

void Moves::add_mpi() {
    if (subject_.mpi == nullptr) return;
    const auto work = [type = subject_.mpi.get(), typed = bench().typed(),
                       packed = bench().packed(), bytes = bench().bytes()](auto move) {
        return repeated([=] { (type->*move)(typed, packed, bytes); });
    };
    add("MPI", work(pack_ ? &MpiType::pack : &MpiType::unpack));
}

void Moves::add_boxes() {
    if (!subject_.layout.boxes) return;
    add("copies", blocking(bench().device(), [&subject = subject_, pack = pack_] {
            subject.bench.device().start_boxes(*subject.layout.boxes, subject.bench.typed(),
                                               subject.bench.packed(), pack);
        }));
}

void Moves::add_roofline() {
    roofline_ = std::make_unique<Roofline>(bench());
    add_unchecked("roofline", roofline_->work());
}

std::vector<Comparison> measure_both_ways(Run &run, const std::string &section,
                                          LayoutOnDevice &subject,
                                          const std::function<void(Moves &)> &add) {
    std::vector<Comparison> found;
    for (const bool pack : {true, false}) {
        Moves moves(subject, pack);
        add(moves);
        found.push_back(moves.measure(run, section));
    }
    return found;
}

} // namespace bench
