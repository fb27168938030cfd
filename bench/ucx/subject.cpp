#include "ucx/subject.hpp"

#include <algorithm>

namespace bench {

Subject::Subject(const Layout &layout, std::intptr_t count, Memory &memory)
    : layout_(layout), count_(count), memory_(memory), type_(*layout.type) {
    about_.struct_size = sizeof about_;
    check_ucd(ucd_get_layout(this->count(), type(), &about_));
    std::intptr_t lb;
    check_ucd(ucd_get_extent(type(), &lb, &extent_));
    suits_hand_ = count == 1 || extent_ == bounds_of(*layout.type).extent;
    const std::int64_t pitch = about_.box_stride[0];
    if (about_.box_dims == 1 && pitch >= static_cast<std::int64_t>(about_.box_block))
        rows_ = Rows{about_.box_block, about_.box_count[0], static_cast<std::size_t>(pitch)};
}

Subject::~Subject() {
    if (block_ != nullptr) memory_.free(block_);
    if (packed_ != nullptr) memory_.free_staging(packed_);
}

void Subject::allocate() {
    block_ = memory_.allocate(footprint());
    packed_ = memory_.allocate_staging(bytes());
}

void Subject::pack() {
    std::uintptr_t moved;
    check_ucd(ucd_pack(laid_out(), count(), type(), 0, packed_, bytes(), &moved, UCD_INFO__NULL,
                       UCD_OP__REPLACE));
}

void Subject::unpack() {
    std::uintptr_t moved;
    check_ucd(ucd_unpack(packed_, bytes(), laid_out(), count(), type(), 0, &moved, UCD_INFO__NULL,
                         UCD_OP__REPLACE));
}

void Subject::move_by_hand(MoveLoop move) {
    const std::size_t one = bytes() / count();
    for (std::intptr_t i = 0; i < count_; ++i)
        move(layout_.lists, laid_out() + i * extent_, packed_ + static_cast<std::size_t>(i) * one);
}

// The memory from the first byte to the last.
std::vector<char> Subject::image() const {
    std::vector<char> bytes(footprint());
    const std::vector<Segment> segments = segments_of(*layout_.type);
    for (std::intptr_t i = 0; i < count_; ++i)
        for (const Segment &s : segments)
            for (std::intptr_t d = s.displacement; d < s.displacement + s.bytes; ++d) {
                const std::intptr_t at = d + i * extent_;
                bytes[static_cast<std::size_t>(at - about_.low)] =
                    static_cast<char>(at * 31 + (at >> 8) + 7);
            }
    return bytes;
}

void Subject::fill(bool with_pattern) {
    const std::vector<char> bytes = with_pattern ? image() : std::vector<char>(footprint());
    memory_.write(block_, bytes.data(), bytes.size());
}

bool Subject::is_as_sent() const {
    std::vector<char> bytes(footprint());
    memory_.read(bytes.data(), block_, bytes.size());
    return bytes == image();
}

} // namespace bench
