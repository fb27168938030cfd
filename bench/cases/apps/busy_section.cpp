// A vector from process to process while other work is on the GPU.
#include "cases/apps/trip.hpp"

#include <fmt/core.h>

#include <stdexcept>

namespace bench::apps {
namespace {

struct Share {
    const char *name;
    double of_processors;
};
constexpr Share shares[] = {{"alone", 0},
                            {"beside a load on 1/4", 0.25},
                            {"beside a load on 1/2", 0.5},
                            {"beside a load on all", 1}};

void measure(Crew &crew, Table &table, std::int64_t n, const std::string &name) {
    const Matrix matrix(MatrixKind::rows, n);
    Trip trip(crew, name, matrix, matrix);
    const Contender ways[] = {trip.by_ucd(), trip.by_hand(), trip.contiguous()};
    std::optional<Comparison> alone;
    for (const Share &share : shares) {
        const bool loaded = share.of_processors > 0;
        const auto load = loaded ? crew.device.start_load(share.of_processors) : nullptr;
        const std::uint64_t before = load ? load->done() : 0;
        crew.peers.meet();
        const Comparison c =
            crew.run.measure("busy", name, share.name, trip.bytes(), ways, trip.transfers());
        crew.peers.meet();
        if (load && load->done() == before) throw std::runtime_error("the load did not go on");
        if (!alone) alone = c;
        std::vector<std::string> cells{name + ", " + share.name};
        for (const Contender &way : ways) {
            const double lost = 1 - alone->seconds(way.name) / c.seconds(way.name);
            cells.push_back(c.rate(way.name));
            cells.push_back(loaded ? fmt::format("{:.1f} %", 100 * lost) : std::string());
        }
        if (loaded) cells.push_back("< 10 %");
        table.row(cells);
    }
}

} // namespace

void run_busy(Crew &crew) {
    if (crew.prints())
        fmt::print("Sub-matrices of N by N doubles {}, while another kernel computes on a part of\n"
                   "the processors of each device. Loss is of the rate without it. The paper (Wu "
                   "et al.): under 10 %.\n",
                   crew.place());
    Table table(crew.run.progress, {{"layout, N", 38},
                                    {"UCD GB/s", 8},
                                    {"loss", 6},
                                    {"hand GB/s", 9},
                                    {"loss", 6},
                                    {"contiguous GB/s", 15},
                                    {"loss", 6},
                                    {"paper", 6}});
    for (const std::int64_t n : crew.sizes({1024, 2048, 4096})) {
        const std::string name = fmt::format("sub-matrix, {}", n);
        crew.run.row(name, [&] { measure(crew, table, n, name); });
    }
}

} // namespace bench::apps
