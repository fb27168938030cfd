// The papers' layouts as a picture.
#pragma once

#include "report.hpp"

#include <span>
#include <string>

namespace bench::gpu {

// A row for each layout, with a mark for the rate of each who packs it: one panel for packing to
// device memory, one for pinned. An SVG file. Throws std::runtime_error if it cannot be written, or
// if there is nothing to show.
void plot_papers(std::span<const Result> results, const std::string &path);

} // namespace bench::gpu
