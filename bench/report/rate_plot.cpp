#include "report/rate_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

std::size_t series_of(std::span<const PlotSeries> all, const std::string &contender) {
    std::size_t i = 0;
    while (i < all.size() && !contender.starts_with(all[i].contender)) ++i;
    return i;
}

struct Row {
    std::string name;
    std::vector<double> rate; // of each series, GB/s; 0: none
};

std::vector<Row> rows_of(std::span<const Result> results, std::span<const PlotSeries> all,
                         const PlotPanel &panel) {
    std::vector<Row> rows;
    for (const Result &r : results) {
        const std::size_t series = series_of(all, r.contender);
        if (r.section != panel.section || r.operation != panel.operation || series == all.size())
            continue;
        if (rows.empty() || rows.back().name != r.subject)
            rows.push_back({r.subject, std::vector<double>(all.size())});
        double &rate = rows.back().rate[series];
        rate = std::max(rate, r.gigabytes_per_second());
    }
    return rows;
}

// Those of the first panel's layouts, in its order, though a few may have failed.
std::vector<Row> as_in(const std::vector<Row> &first, const std::vector<Row> &rows) {
    std::vector<Row> placed;
    for (const Row &row : first) {
        placed.push_back({row.name, std::vector<double>(row.rate.size())});
        for (const Row &other : rows)
            if (other.name == row.name) placed.back() = other;
    }
    return placed;
}

std::string text(double x, double y, const char *anchor, const std::string &words) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, words);
}

constexpr double row_height = 16, label_width = 250, panel_width = 420, gap = 40, top = 84;

class Panel {
public:
    Panel(const std::vector<Row> &rows, std::span<const PlotSeries> series, double left)
        : rows_(rows), series_(series), left_(left) {
        double lowest = INFINITY, highest = 0;
        for (const Row &row : rows)
            for (const double rate : row.rate)
                if (rate > 0) lowest = std::min(lowest, rate), highest = std::max(highest, rate);
        first_ = std::log10(lowest / 1.2);
        last_ = std::log10(highest * 1.2);
    }

    std::string drawn(const std::string &title) const {
        const double bottom = y_of(rows_.size() - 1) + row_height;
        std::string all = text(left_ + panel_width / 2, top - 36, "middle", title);
        for (double power = std::floor(first_); power <= last_; ++power)
            for (const double digit : {1, 2, 5}) {
                const double rate = digit * std::pow(10, power);
                if (std::log10(rate) >= first_ && std::log10(rate) <= last_)
                    all += grid_line(rate, bottom);
            }
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (std::size_t s = 0; s < series_.size(); ++s)
                if (rows_[i].rate[s] > 0) all += mark(series_[s], x_of(rows_[i].rate[s]), y_of(i));
        return all;
    }

    static double y_of(std::size_t row) { return top + row_height * static_cast<double>(row); }
    static std::string mark(const PlotSeries &series, double x, double y) {
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
    std::span<const PlotSeries> series_;
    double left_, first_, last_;
};

} // namespace

void plot_rates(std::span<const Result> results, std::span<const PlotSeries> series,
                std::span<const PlotPanel> panels, const std::string &path) {
    const std::vector<Row> first = rows_of(results, series, panels.front());
    if (first.empty()) throw std::runtime_error("there is nothing to plot");
    const double width = label_width + static_cast<double>(panels.size()) * (panel_width + gap);
    const double height = Panel::y_of(first.size()) + 10;
    std::string all =
        fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                    "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
                    "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
                    width, height);
    double x = label_width;
    for (const PlotSeries &s : series) {
        all += Panel::mark(s, x, 18) + text(x + 10, 22, "start", s.title);
        x += 190;
    }
    for (std::size_t i = 0; i < first.size(); ++i)
        all += text(label_width - 12, Panel::y_of(i) + 4, "end", first[i].name);
    double left = label_width;
    for (const PlotPanel &panel : panels) {
        const std::vector<Row> rows = as_in(first, rows_of(results, series, panel));
        all += Panel(rows, series, left).drawn(panel.title);
        left += panel_width + gap;
    }
    std::ofstream file(path);
    file << all << "</svg>\n";
    if (!file.flush()) throw std::runtime_error(fmt::format("{} cannot be written", path));
}

} // namespace bench
