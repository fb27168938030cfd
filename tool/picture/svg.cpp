#include "picture/svg.hpp"

#include "filled.hpp"
#include "picture/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace ucdtool {
namespace {

// Colours of the viridis map from dark to bright; their lightness alone distinguishes them, too.
constexpr std::array<std::array<int, 3>, 6> stops = {
    {{68, 1, 84}, {65, 68, 135}, {42, 120, 142}, {34, 168, 132}, {122, 209, 81}, {253, 231, 37}}};

struct Color {
    std::string text;
    bool dark;
};

Color color_of(double order) {
    const double at = order * (stops.size() - 1);
    const auto i = std::min(static_cast<std::size_t>(at), stops.size() - 2);
    const double part = at - static_cast<double>(i);
    std::array<int, 3> c{};
    for (std::size_t k = 0; k < c.size(); ++k)
        c[k] = static_cast<int>(std::lround(stops[i][k] + part * (stops[i + 1][k] - stops[i][k])));
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "#";
    for (const auto value : c) {
        text += digits[static_cast<std::size_t>(value) / 16];
        text += digits[static_cast<std::size_t>(value) % 16];
    }
    return {text, 299 * c[0] + 587 * c[1] + 114 * c[2] < 128000};
}

std::string escaped(const std::string &text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        default: out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
        }
    }
    return out;
}

class Figure {
public:
    Figure(const Picture &p, const std::string &title) : p_(p), title_(title) {
        numbered_ = numbers_fit(p);
        side_ = numbered_ ? 26 : 14;
        const std::size_t digits =
            std::max(std::to_string(p.low).size(), std::to_string(p.high).size());
        left_ = 20 + 7 * static_cast<int>(digits);
    }

    std::string run() {
        const int columns = static_cast<int>(p_.columns), rows = static_cast<int>(p_.rows);
        constexpr int least_width = 560;
        const int width = std::max(left_ + columns * side_ + 16, least_width);
        const int height = top + rows * side_ + 72;
        text_ =
            filled("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" "
                   "height=\"{}\" font-family=\"sans-serif\" font-size=\"11\">\n"
                   "<title>{}</title>\n"
                   "<rect width=\"{}\" height=\"{}\" fill=\"white\"/>\n"
                   "<text x=\"12\" y=\"20\" font-family=\"monospace\" font-size=\"12\">{}</text>\n",
                   width, height, width, height, escaped(title_), width, height,
                   escaped(shortened(static_cast<std::size_t>(width) / 8)));
        for (std::size_t r = 0; r < p_.rows; ++r) row(r);
        legend(top + rows * side_ + 22);
        return std::move(text_) + "</svg>\n";
    }

private:
    static constexpr int top = 34;

    std::string shortened(std::size_t most) const {
        return title_.size() <= most ? title_ : title_.substr(0, most - 3) + "...";
    }

    void row(std::size_t r) {
        const int y = top + static_cast<int>(r) * side_;
        text_ += filled("<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#555\" "
                        "font-family=\"monospace\">{}</text>\n",
                        left_ - 6, y + side_ / 2 + 4, p_.row_at(r));
        for (std::size_t c = 0; c < p_.columns; ++c)
            cell(p_.at(r, c), left_ + static_cast<int>(c) * side_, y);
    }

    // The touched part of a cell is filled from the bottom. A gap is an empty frame, which is
    // dotted outside of the bounds.
    void cell(const Cell &c, int x, int y) {
        const int inner = side_ - 2;
        text_ += filled("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" "
                        "stroke=\"#bbb\"{}/>\n",
                        x, y, inner, inner, c.in_bounds ? "" : " stroke-dasharray=\"1 2\"");
        if (!c.touched()) return;
        const Color color = color_of(order_of(p_, c));
        const int height =
            std::clamp(static_cast<int>(std::lround(fill_of(p_, c) * inner)), 2, inner);
        text_ += filled("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", x,
                        y + inner - height, inner, height, color.text);
        if (!numbered_) return;
        text_ += filled("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{}\">{}</text>\n",
                        x + inner / 2, y + inner / 2 + 4, color.dark ? "white" : "black",
                        number_of(p_, c));
    }

    void legend(int y) {
        constexpr int steps = 40, width = 3;
        text_ += filled("<text x=\"12\" y=\"{}\">packed order</text>\n", y);
        for (int i = 0; i < steps; ++i)
            text_ += filled("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"10\" fill=\"{}\"/>\n",
                            90 + i * width, y - 9, width,
                            color_of(static_cast<double>(i) / (steps - 1)).text);
        std::string scale = filled("a cell is {}", bytes_text(p_.cell_bytes));
        if (p_.rows_each > 1)
            scale += filled(" in each of {} rows of {}", p_.rows_each, bytes_text(p_.row_bytes));
        else if (p_.rows > 1)
            scale += filled(", a row {}", bytes_text(p_.row_bytes));
        if (p_.sampled) scale += ", from samples";
        text_ += filled("<text x=\"12\" y=\"{}\">{}</text>\n"
                        "<text x=\"12\" y=\"{}\">empty cells are gaps, dotted ones lie outside "
                        "the bounds</text>\n",
                        y + 18, scale, y + 34);
    }

    const Picture &p_;
    const std::string &title_;
    std::string text_;
    bool numbered_ = false;
    int side_ = 0, left_ = 0;
};

} // namespace

std::string draw_svg(const Picture &picture, const std::string &title) {
    return Figure(picture, title).run();
}

} // namespace ucdtool
