#include "picture/terminal.hpp"

#include "picture/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ucdtool {
namespace {

// Colours of the 256-colour palette, from dark blue through green to yellow; all are visible on
// black and on white.
constexpr int colors[] = {18, 19, 26, 32, 38, 37, 36, 35, 71, 107, 143, 179, 214, 220};

class Drawing {
public:
    Drawing(const Picture &p, const TerminalStyle &style) : p_(p), style_(style) {
        numbered_ = numbers_fit(p);
        for (const Cell &c : p.cells)
            if (numbered_ && c.touched())
                width_ = std::max(width_, fmt::format("{}", number_of(p, c)).size());
        if (numbered_) width_ += 1;
    }

    std::string run() {
        std::string text;
        const std::size_t margin =
            std::max(fmt::format("{}", p_.low).size(), fmt::format("{}", p_.high).size());
        for (std::size_t r = 0; r < p_.rows; ++r) {
            text += fmt::format("{:>{}} ", p_.row_at(r), margin);
            std::string row;
            for (std::size_t c = 0; c < p_.columns; ++c) row += cell(p_.at(r, c));
            text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
        }
        return text + legend();
    }

private:
    std::string cell(const Cell &c) const {
        if (!c.touched())
            return fmt::format("{:>{}}", !c.in_bounds ? " " : style_.ascii ? "." : "·", width_);
        const double order = order_of(p_, c);
        std::string shown = fmt::format(
            "{:>{}}", numbered_ ? fmt::format("{}", number_of(p_, c)) : block(c, order), width_);
        if (!style_.color) return shown;
        constexpr auto last = static_cast<double>(std::size(colors) - 1);
        const int color = colors[static_cast<std::size_t>(std::lround(order * last))];
        return fmt::format("\x1b[38;5;{}m{}\x1b[0m", color, shown);
    }

    // With colour, the block shows how much of the cell is touched; without, its position in the
    // packed stream in tenths.
    std::string block(const Cell &c, double order) const {
        if (!style_.color || style_.ascii)
            return fmt::format("{}", std::min(9, static_cast<int>(order * 10)));
        constexpr const char *shades[] = {"░", "▒", "▓", "█"};
        return shades[std::min<std::size_t>(3, static_cast<std::size_t>(fill_of(p_, c) * 4))];
    }

    std::string legend() const {
        std::string text = fmt::format("a cell is {}", bytes_text(p_.cell_bytes));
        if (p_.rows_each > 1)
            text +=
                fmt::format(" in each of {} rows of {}", p_.rows_each, bytes_text(p_.row_bytes));
        else if (p_.rows > 1)
            text += fmt::format(", a row {}", bytes_text(p_.row_bytes));
        text += numbered_ ? "; the number is its place in packed order"
                : style_.color && !style_.ascii
                    ? "; the colour is its place in packed order, dark to bright; the shade, how "
                      "much of it is touched"
                    : "; the digit is the tenth of the packed data that it starts in";
        text += style_.ascii ? "; . is a gap" : "; · is a gap";
        if (p_.sampled) text += "; from samples";
        return text + "\n";
    }

    const Picture &p_;
    TerminalStyle style_;
    bool numbered_ = false;
    std::size_t width_ = 1;
};

} // namespace

std::string draw_terminal(const Picture &picture, const TerminalStyle &style) {
    if (picture.cells.empty()) return "nothing: no byte, and no extent\n";
    return Drawing(picture, style).run();
}

} // namespace ucdtool
