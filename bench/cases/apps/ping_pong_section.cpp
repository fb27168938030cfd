// Matrices between two processes: how near to the rate of a contiguous message.
#include "cases/apps/sections.hpp"
#include "cases/apps/trip.hpp"

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

void measure(Crew &crew, Table &table, const Course &course, std::int64_t n,
             const std::string &name) {
    const Matrix sent(course.sent, n), received(course.received, n);
    Trip trip(crew, name, sent, received);
    const Contender ways[] = {trip.by_ucd(), trip.unpipelined(), trip.by_hand(), trip.contiguous()};
    table.row(crew.run.measure("ping-pong", name, "one way", trip.bytes(), ways, trip.transfers()),
              {course.paper});
}

} // namespace

void run_ping_pong(Crew &crew) {
    if (crew.prints())
        fmt::print("Matrices of N by N doubles {}; time of one way.\nFractions are of the rate of "
                   "as many contiguous bytes; more is better.\nThe paper (Wu et al.) reports 0.90 "
                   "for a vector and 0.78 for the triangle, of PCIe's rate.\n",
                   crew.place());
    Table table(crew.run.progress, {column::subject("layout, N", 30),
                                    column::mib(6),
                                    column::rate("contiguous", 15, "contiguous GB/s"),
                                    column::rate("UCD", 8, "UCD GB/s"),
                                    column::speedup("UCD", "contiguous", 13, "fraction: UCD"),
                                    column::speedup("unpipelined", "contiguous", 11, "unpipelined"),
                                    column::speedup("hand", "contiguous", 6, "hand"),
                                    {"paper", 6}});
    for (const std::int64_t n : crew.sizes({1024, 2048, 4096, 8192}))
        for (const Course &course : courses) {
            const std::string name = fmt::format("{}, {}", course.name, n);
            crew.run.row(name, [&] { measure(crew, table, course, n, name); });
        }
}

} // namespace bench::apps
