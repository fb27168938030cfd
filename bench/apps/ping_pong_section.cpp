// Matrices between two processes: how near to the rate of a contiguous message.
#include "apps/sections.hpp"
#include "apps/trip.hpp"

#include <fmt/core.h>

namespace bench::apps {
namespace {

struct Course {
    const char *name;
    MatrixKind sent, received;
    const char *paper;
};
constexpr Course courses[] = {
    {"sub-matrix", MatrixKind::rows, MatrixKind::rows, "0.90"},
    {"lower triangle", MatrixKind::triangle, MatrixKind::triangle, "0.78"},
    {"sub-matrix to contiguous", MatrixKind::rows, MatrixKind::contiguous, ""},
    {"indexed, 8 to 248 B", MatrixKind::pieces, MatrixKind::pieces, ""},
    {"transposed", MatrixKind::columns, MatrixKind::contiguous, ""},
};

void measure(Crew &crew, Table &table, const Course &course, std::int64_t n) {
    const std::string name = fmt::format("{}, {}", course.name, n);
    crew.say(name + ": building");
    const Matrix sent(course.sent, n), received(course.received, n);
    Trip trip(crew, name, sent, received);
    const Way ways[] = {trip.by_ucd(), trip.unpipelined(), trip.by_hand(), trip.contiguous()};
    crew.say(name);
    const std::vector<Timing> timings =
        crew.measure("ping-pong", name, "one way", trip.bytes(), ways, trip.transfers());
    if (!crew.prints()) return;
    const double contiguous = timings[3].median();
    const auto rate = [&](const Timing &timing) {
        return three_digits(static_cast<double>(trip.bytes()) * 1e-9 / timing.median());
    };
    std::vector<std::string> cells{name,
                                   three_digits(static_cast<double>(trip.bytes()) / (1 << 20)),
                                   rate(timings[3]), rate(timings[0])};
    for (std::size_t i = 0; i < 3; ++i) cells.push_back(ratio(contiguous / timings[i].median()));
    cells.push_back(course.paper);
    table.row(cells);
}

} // namespace

void run_ping_pong(Crew &crew) {
    if (crew.prints())
        fmt::print("Matrices of N by N doubles {}, in {}, {}; time of one way.\nFractions are of "
                   "the rate of as many contiguous bytes; more is better.\nThe paper (Wu et al.) "
                   "reports 0.90 for a vector and 0.78 for the triangle, of PCIe's rate.\n",
                   crew.between(), crew.place.name(), crew.devices());
    Table table(crew.progress, {{"layout, N", 30},
                                {"MiB", 6},
                                {"contiguous GB/s", 15},
                                {"UCD GB/s", 8},
                                {"fraction: UCD", 13},
                                {"unpipelined", 11},
                                {"hand", 6},
                                {"paper", 6}});
    Budget budget(crew.options.budget);
    const std::vector<std::int64_t> sizes = crew.options.sizes.empty()
                                                ? std::vector<std::int64_t>{1024, 2048, 4096, 8192}
                                                : crew.options.sizes;
    for (const std::int64_t n : sizes)
        for (const Course &course : courses)
            if (budget.lasts(crew.peers, fmt::format("{}, {}", course.name, n)))
                measure(crew, table, course, n);
}

} // namespace bench::apps
