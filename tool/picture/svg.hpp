// Draws pictures as SVG figures.
#pragma once

#include "picture/picture.hpp"

#include <string>

namespace ucdtool {

// A complete figure with title, offsets and legend.
std::string draw_svg(const Picture &picture, const std::string &title);

} // namespace ucdtool
