// One layout, count times, at one side.
#pragma once

#include "layouts.hpp"
#include "ucd_peer.hpp"
#include "ucx/memory.hpp"

#include <optional>

namespace bench {

class Subject {
public:
    Subject(const Layout &layout, std::intptr_t count, Memory &memory);
    ~Subject();
    Subject(const Subject &) = delete;
    Subject &operator=(const Subject &) = delete;

    const std::string &name() const { return layout_.name; }
    const ucd_layout_t &about() const { return about_; }
    ucd_type_t type() const { return type_.get(); }
    std::uintptr_t count() const { return static_cast<std::uintptr_t>(count_); }
    std::size_t bytes() const { return about_.bytes; }
    std::size_t footprint() const { return static_cast<std::size_t>(about_.high - about_.low); }
    bool on_device() const { return memory_.on_device(); }
    // The loops of a hand are for elements that follow each other as their types say.
    bool suits_hand() const { return suits_hand_; }

    // Memory for all of it, laid out and packed. What comes after this needs it.
    void allocate();
    char *laid_out() const { return block_ - about_.low; } // where displacement 0 is
    char *packed() const { return packed_; }

    void pack();
    void unpack();
    void pack_by_hand() { move_by_hand(layout_.hand.front().pack); }
    void unpack_by_hand() { move_by_hand(layout_.hand.front().unpack); }
    // What the driver's 2-D copy can do.
    bool has_rows() const { return rows_.has_value(); }
    void pack_rows() { memory_.pack_rows(packed_, laid_out() + about_.box_start, *rows_); }
    void unpack_rows() { memory_.unpack_rows(laid_out() + about_.box_start, packed_, *rows_); }

    // Bytes that tell their places, or zeros, where the layout has bytes; zeros elsewhere.
    void fill(bool with_pattern);
    // Whether all is as fill(true) at the other side left it, and the gaps are zeros.
    bool is_as_sent() const;

private:
    void move_by_hand(MoveLoop move);
    std::vector<char> image() const;

    const Layout &layout_;
    const std::intptr_t count_;
    Memory &memory_;
    UcdType type_;
    ucd_layout_t about_ = {};
    std::intptr_t extent_ = 0;
    bool suits_hand_ = false;
    std::optional<Rows> rows_;
    char *block_ = nullptr, *packed_ = nullptr;
};

} // namespace bench
