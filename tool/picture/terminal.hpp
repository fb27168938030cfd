// Draws pictures with characters.
#pragma once

#include "picture/picture.hpp"

#include <string>

namespace ucdtool {

struct TerminalStyle {
    bool color = false;
    bool ascii = false; // use only ASCII characters
};

// Rows of cells with their offsets, and a legend.
std::string draw_terminal(const Picture &picture, const TerminalStyle &style);

} // namespace ucdtool
