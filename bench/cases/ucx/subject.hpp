// One layout, count times, at one side of a transfer.
#pragma once

#include "cases/layouts.hpp"
#include "harness/workbench.hpp"

#include <memory>

namespace bench {

class Subject {
public:
    // Without memory yet.
    Subject(const Layout &layout, std::intptr_t count);

    const std::string &name() const { return layout_.name; }
    const ucd_layout_t &about() const { return about_; }
    ucd_type_t type() const { return type_.get(); }
    std::uintptr_t count() const { return static_cast<std::uintptr_t>(count_); }
    std::size_t bytes() const { return about_.bytes; }
    std::size_t footprint() const { return static_cast<std::size_t>(about_.high - about_.low); }
    // The moves by hand are for elements that follow each other as their types say.
    bool suits_hand() const { return suits_hand_ || !has_hand(); }
    bool has_hand() const { return !layout_.hand.empty(); }

    // Memory for all of it, typed on the device and packed on the host. What comes after this needs
    // it.
    void allocate(Device &device);
    Workbench &bench() const { return *bench_; }
    bool on_gpu() const { return bench_->device().is_gpu(); }

    void pack(bool pack);
    void move_by_hand(bool pack);
    // What the runtime's 2-D copy can do.
    bool has_rows() const { return rows_.has_value(); }
    void copy_rows(bool pack);

private:
    const Layout &layout_;
    const std::intptr_t count_;
    UcdType type_;
    ucd_layout_t about_ = {};
    std::intptr_t extent_ = 0;
    bool suits_hand_ = false;
    std::optional<Boxes> rows_;
    std::unique_ptr<Workbench> bench_;
};

} // namespace bench
