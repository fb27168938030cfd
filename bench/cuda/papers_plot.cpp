#include "papers_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace bench::gpu {
namespace {

struct Series {
    const char *contender; // how its name begins
    const char *title, *color;
    double radius; // 0: a stroke
};
// Those behind come first.
constexpr Series all_series[] = {{"ceiling", "plain copy of the packed bytes", "#999999", 0},
                                 {"copies", "CUDA's 2-D or 3-D copy", "#e69f00", 4},
                                 {"hand", "kernel by hand, the best", "#009e73", 5},
                                 {"UCD, then copied", "UCD to device, then copied", "#56b4e9", 3},
                                 {"UCD", "UCD", "#0072b2", 3}};
constexpr std::size_t series_count = std::size(all_series);

std::size_t series_of(const std::string &contender) {
    std::size_t i = 0;
    while (i < series_count && !contender.starts_with(all_series[i].contender)) ++i;
    return i;
}

struct Row {
    std::string name;
    std::array<double, series_count> rate{}; // GB/s; 0: none
};

std::vector<Row> rows_of(std::span<const Result> results, const std::string &section) {
    std::vector<Row> rows;
    for (const Result &r : results) {
        const std::size_t series = series_of(r.contender);
        if (r.section != section || series == series_count) continue;
        if (rows.empty() || rows.back().name != r.subject) rows.push_back({.name = r.subject});
        double &rate = rows.back().rate[series];
        rate = std::max(rate, r.gigabytes_per_second());
    }
    return rows;
}

std::string text(double x, double y, const char *anchor, const std::string &words) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, words);
}

constexpr double row_height = 16, label_width = 250, panel_width = 420, gap = 40, top = 84;

class Panel {
public:
    Panel(const std::vector<Row> &rows, double left) : rows_(rows), left_(left) {
        double lowest = INFINITY, highest = 0;
        for (const Row &row : rows)
            for (const double rate : row.rate)
                if (rate > 0) lowest = std::min(lowest, rate), highest = std::max(highest, rate);
        first_ = std::log10(lowest / 1.2);
        last_ = std::log10(highest * 1.2);
    }

    std::string drawn(const char *title) const {
        const double bottom = y_of(rows_.size() - 1) + row_height;
        std::string all = text(left_ + panel_width / 2, top - 36, "middle", title);
        for (double power = std::floor(first_); power <= last_; ++power)
            for (const double digit : {1, 2, 5}) {
                const double rate = digit * std::pow(10, power);
                if (std::log10(rate) >= first_ && std::log10(rate) <= last_)
                    all += grid_line(rate, bottom);
            }
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (std::size_t s = 0; s < series_count; ++s)
                if (rows_[i].rate[s] > 0)
                    all += mark(all_series[s], x_of(rows_[i].rate[s]), y_of(i));
        return all;
    }

    static double y_of(std::size_t row) { return top + row_height * static_cast<double>(row); }
    static std::string mark(const Series &series, double x, double y) {
        if (series.radius == 0)
            return fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
                               "stroke=\"{3}\" stroke-width=\"2\"/>\n",
                               x, y - 6, y + 6, series.color);
        return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"/>\n", x, y,
                           series.radius, series.color);
    }

private:
    std::string grid_line(double rate, double bottom) const {
        const double x = x_of(rate);
        return fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
                           "stroke=\"#dddddd\"/>\n",
                           x, top - 14, bottom) +
               text(x, top - 18, "middle", fmt::format("{:g}", rate));
    }
    double x_of(double rate) const {
        return left_ + panel_width * (std::log10(rate) - first_) / (last_ - first_);
    }

    const std::vector<Row> &rows_;
    double left_, first_, last_;
};

} // namespace

void plot_papers(std::span<const Result> results, const std::string &path) {
    const std::vector<Row> device = rows_of(results, "papers, to device");
    // Of the same layouts, in the same order, though a few may have failed.
    std::vector<Row> pinned;
    for (const Row &row : device) pinned.push_back({.name = row.name});
    bool any_pinned = false;
    for (const Row &row : rows_of(results, "papers, to pinned"))
        for (Row &place : pinned)
            if (place.name == row.name) place = row, any_pinned = true;
    if (!any_pinned) throw std::runtime_error("there is nothing to plot");

    const double width = label_width + 2 * (panel_width + gap);
    const double height = Panel::y_of(device.size()) + 10;
    std::string all =
        fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                    "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
                    "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
                    width, height);
    double x = label_width;
    for (const Series &series : all_series) {
        all += Panel::mark(series, x, 18) + text(x + 10, 22, "start", series.title);
        x += 190;
    }
    for (std::size_t i = 0; i < device.size(); ++i)
        all += text(label_width - 12, Panel::y_of(i) + 4, "end", device[i].name);
    all += Panel(device, label_width).drawn("to device memory, GB/s of packed bytes");
    all += Panel(pinned, label_width + panel_width + gap)
               .drawn("to pinned memory, GB/s of packed bytes");
    std::ofstream file(path);
    file << all << "</svg>\n";
    if (!file.flush()) throw std::runtime_error(fmt::format("{} cannot be written", path));
}

} // namespace bench::gpu
