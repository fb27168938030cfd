// SHOC's stencil on a grid of processes: iterations, and the exchange of borders alone.
#include "baselines/nine_points.hpp"
#include "cases/apps/stencil_part.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace bench::apps {
namespace {

constexpr int checked_iterations = 5;

// What one process alone gets after the checked iterations, as far as this part's points need to be
// known for it: its points and, around them, one more for each iteration. No message brings any.
template <class T>
class OneProcess {
public:
    OneProcess(const ProcessGrid &grid, unsigned seat, int n)
        : n_(n), side_(n + 2 * margin), rows_(points(grid.row_of(seat), grid.rows)),
          columns_(points(grid.column_of(seat), grid.columns)),
          now_(static_cast<std::size_t>(side_ * side_)) {
        const std::int64_t first_row = n * grid.row_of(seat) - margin,
                           first_column = n * grid.column_of(seat) - margin;
        for (std::int64_t row = 0; row < side_; ++row)
            for (std::int64_t column = 0; column < side_; ++column)
                now_[static_cast<std::size_t>(row * side_ + column)] =
                    first_value<T>(first_row + row, first_column + column);
        next_ = now_;
    }

    // With the border, as a part's memory has it. Of later values the border is not looked at.
    std::vector<T> part() const {
        std::vector<T> all;
        all.reserve(static_cast<std::size_t>((n_ + 2) * (n_ + 2)));
        for (std::int64_t row = margin - 1; row <= margin + n_; ++row) {
            const T *start = &now_[static_cast<std::size_t>(row * side_ + margin - 1)];
            all.insert(all.end(), start, start + n_ + 2);
        }
        return all;
    }

    void iterate() {
        // What is wrong at the edge for want of neighbours comes one point nearer each time.
        for (std::int64_t row = rows_.first; row < rows_.second; ++row)
            for (std::int64_t column = columns_.first; column < columns_.second; ++column) {
                const auto at = static_cast<std::size_t>(row * side_ + column);
                next_[at] = nine_points(&now_[at], side_);
            }
        std::swap(now_, next_);
    }

private:
    static constexpr std::int64_t margin = checked_iterations + 1;
    using Range = std::pair<std::int64_t, std::int64_t>;
    // Which rows, or columns, of those that are kept have points with neighbours.
    Range points(std::int64_t of_process, std::int64_t processes) const {
        return {std::max<std::int64_t>(1, margin - n_ * of_process),
                std::min(side_ - 1, margin + n_ * (processes - of_process))};
    }
    std::int64_t n_, side_;
    Range rows_, columns_;
    std::vector<T> now_, next_;
};

template <class T>
class Stencil {
public:
    Stencil(Crew &crew, Table &table, int n)
        : crew_(crew), table_(table), part_(crew.peers, crew.device, crew.options.processes, n),
          name_(fmt::format("{} {}^2", sizeof(T) == 4 ? "float" : "double", n)) {}

    void measure() {
        const std::pair<const char *, void (StencilPart<T>::*)()> exchanges[] = {
            {"UCD", &StencilPart<T>::exchange_by_ucd},
            {"hand", &StencilPart<T>::exchange_by_hand},
            {"copies", &StencilPart<T>::exchange_by_copies}};
        std::vector<Contender> iterations, halos;
        for (const auto &[name, exchange] : exchanges) {
            iterations.push_back({name, blocking(crew_.device, [this, exchange] {
                                      (part_.*exchange)();
                                      part_.start_step();
                                  })});
            halos.push_back(
                {name, blocking(crew_.device, [this, exchange] { (part_.*exchange)(); })});
        }
        check(iterations);
        const std::size_t halo_bytes = (2 * static_cast<std::size_t>(part_.n()) +
                                        2 * static_cast<std::size_t>(part_.n() + 2)) *
                                       sizeof(T);
        const Comparison iteration =
            crew_.run.measure("stencil", name_, "iteration", 0, iterations);
        const Comparison halo = crew_.run.measure("stencil", name_, "halo", halo_bytes, halos);
        std::vector<std::string> cells{name_};
        for (const Comparison &c : {iteration, halo})
            cells.insert(cells.end(), {c.time("UCD"), c.time("hand"), c.time("copies"),
                                       c.speedup("hand", "UCD"), c.speedup("copies", "UCD")});
        table_.row(cells);
    }

private:
    void check(std::span<const Contender> iterations) {
        OneProcess<T> alone(crew_.options.processes, crew_.peers.seat(), part_.n());
        const std::vector<T> begin = alone.part();
        for (int i = 0; i < checked_iterations; ++i) alone.iterate();
        const std::vector<T> expected = alone.part();
        std::vector<T> found(expected.size());
        for (const Contender &way : iterations) {
            part_.set(begin.data());
            crew_.peers.meet();
            for (int i = 0; i < checked_iterations; ++i) way.work(1);
            crew_.device.copy(found.data(), part_.now(), part_.bytes());
            crew_.run.check_none(different_points(found, expected) * sizeof(T),
                                 name_ + ", " + way.name + ", after " +
                                     std::to_string(checked_iterations) + " iterations");
        }
    }

    std::uint64_t different_points(const std::vector<T> &a, const std::vector<T> &b) const {
        const auto side = static_cast<std::size_t>(part_.n() + 2);
        std::uint64_t different = 0;
        for (std::size_t row = 1; row + 1 < side; ++row)
            for (std::size_t at = row * side + 1; at + 1 < (row + 1) * side; ++at)
                different += std::memcmp(&a[at], &b[at], sizeof(T)) != 0;
        return different;
    }

    Crew &crew_;
    Table &table_;
    StencilPart<T> part_;
    std::string name_;
};

} // namespace

void run_stencil(Crew &crew) {
    const ProcessGrid &grid = crew.options.processes;
    if (crew.prints())
        fmt::print(
            "Nine-point stencil on {} by {} processes, points of each in {}; checked bit for "
            "bit\nagainst one process. Halos by UCD's subarrays, by hand-written kernels, and "
            "by a 2-D copy each.\nRatios are of times: less than 1, UCD is faster. In the "
            "paper (Jenkins et al.), 4 nodes,\nan iteration by kernels takes 0.98 to 1.02 of "
            "one by copies, for 128^2 to 2048^2.\n",
            grid.rows, grid.columns, crew.device.name());
    Table table(crew.run.progress, {{"type, points", 13},
                                    {"iteration: UCD", 14},
                                    {"hand", 8},
                                    {"copies", 8},
                                    {"UCD/hand", 8},
                                    {"UCD/copies", 10},
                                    {"halo: UCD", 9},
                                    {"hand", 8},
                                    {"copies", 8},
                                    {"UCD/hand", 8},
                                    {"UCD/copies", 10}});
    for (const std::int64_t n : crew.sizes({128, 256, 512, 1024, 2048, 4096, 8192})) {
        const int side = static_cast<int>(n);
        crew.run.row(fmt::format("float {}^2", n),
                     [&] { Stencil<float>(crew, table, side).measure(); });
        crew.run.row(fmt::format("double {}^2", n),
                     [&] { Stencil<double>(crew, table, side).measure(); });
    }
}

} // namespace bench::apps
