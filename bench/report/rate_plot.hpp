// Rates as a picture: a row for each layout, with a mark for each who moves it.
#pragma once

#include "report/result.hpp"

#include <span>
#include <string>

namespace bench {

// The results of the contenders whose names begin so; of several the fastest. Those behind come
// first.
struct PlotSeries {
    const char *contender;
    const char *title, *color;
    double radius; // 0: a stroke
};

// The results of one section and operation.
struct PlotPanel {
    std::string section, operation, title;
};

// An SVG file of panels side by side; the first one says which layouts there are. Throws
// std::runtime_error if it cannot be written, or if there is nothing to show.
void plot_rates(std::span<const Result> results, std::span<const PlotSeries> series,
                std::span<const PlotPanel> panels, const std::string &path);

} // namespace bench
