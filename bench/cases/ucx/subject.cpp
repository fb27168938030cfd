#include "cases/ucx/subject.hpp"

namespace bench {

Subject::Subject(const Layout &layout, std::intptr_t count)
    : layout_(layout), count_(count), type_(*layout.type) {
    about_.struct_size = sizeof about_;
    check_ucd(ucd_get_layout(this->count(), type(), &about_));
    std::intptr_t lb;
    check_ucd(ucd_get_extent(type(), &lb, &extent_));
    suits_hand_ = count == 1 || extent_ == bounds_of(*layout.type).extent;
    const std::int64_t pitch = about_.box_stride[0];
    if (about_.box_dims == 1 && pitch >= static_cast<std::int64_t>(about_.box_block))
        rows_ = Boxes{{static_cast<std::int64_t>(about_.box_block),
                       {{1, 0}, {static_cast<std::int64_t>(about_.box_count[0]), pitch}}}};
}

void Subject::allocate(Device &device) {
    bench_ = std::make_unique<Workbench>(*recipe(Contig{count_, layout_.type}), device,
                                         MemoryKind::own, MemoryKind::registered);
}

void Subject::pack(bool pack) {
    UcdMove{.type = type(),
            .typed = bench_->typed(),
            .packed = bench_->packed(),
            .offset = 0,
            .bytes = bytes(),
            .count = count()}
        .run(pack);
}

void Subject::move_by_hand(bool pack) {
    const HandMove &by_hand = layout_.hand.front();
    const MoveFunction move = pack ? by_hand.pack : by_hand.unpack;
    const std::size_t one = bytes() / count();
    for (std::intptr_t i = 0; i < count_; ++i)
        move(layout_.lists.view(), bench_->typed() + i * extent_,
             bench_->packed() + static_cast<std::size_t>(i) * one);
}

void Subject::copy_rows(bool pack) {
    Device &device = bench_->device();
    device.start_boxes(*rows_, bench_->typed() + about_.box_start, bench_->packed(), pack);
    device.wait();
}

} // namespace bench
