// The layouts that are measured on a GPU.
#pragma once

#include "cases/layouts.hpp"

#include <functional>

namespace bench::gpu {

std::vector<Layout> layouts();
Layout small_layout();  // 1 KiB
Layout listed_blocks(); // what copy engines take as a list

// The layouts of two papers on packing in device memory, and the ratios that they found:
// Jenkins et al., Processing MPI Derived Datatypes on Noncontiguous GPU-Resident Data, TPDS 2014;
// Wu et al., GPU-Aware Non-contiguous Data Movement in Open MPI, HPDC 2016.
enum class Yardstick { none, pinned_copies, pinned_hand, device_ceiling };

struct Published {
    Yardstick against = Yardstick::none;
    const char *ratio = ""; // the rate of the paper's kernel by that of the yardstick
};

struct PaperLayout {
    std::string name;
    std::function<Layout()> make; // when it is its turn: lists are long
    Published published = {};
};

std::vector<PaperLayout> paper_layouts();

} // namespace bench::gpu
