// A vector from process to process while other work is on the GPU.
#include "apps/busy_load.hpp"
#include "apps/sections.hpp"
#include "apps/trip.hpp"

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

class Busy {
public:
    Busy(Crew &crew, Table &table, std::int64_t n)
        : crew_(crew), table_(table), name_(fmt::format("sub-matrix, {}", n)),
          matrix_(MatrixKind::rows, n),
          trip_(crew, name_, matrix_, matrix_), ways_{trip_.by_ucd(), trip_.by_hand(),
                                                      trip_.contiguous()} {}

    void measure() {
        std::vector<Timing> alone;
        for (const Share &share : shares) {
            crew_.say(name_ + ", " + share.name);
            const std::vector<Timing> timings = beside(share);
            if (alone.empty()) alone = timings;
            if (crew_.prints()) print(share, timings, alone);
        }
    }

private:
    std::vector<Timing> beside(const Share &share) {
        const auto load =
            share.of_processors > 0 ? crew_.place.start_load(share.of_processors) : nullptr;
        const std::uint64_t before = load ? load->done() : 0;
        crew_.peers.meet();
        std::vector<Timing> timings =
            crew_.measure("busy", name_, share.name, trip_.bytes(), ways_, trip_.transfers());
        crew_.peers.meet();
        if (load && load->done() == before) throw std::runtime_error("the load did not go on");
        return timings;
    }

    void print(const Share &share, const std::vector<Timing> &timings,
               const std::vector<Timing> &alone) {
        std::vector<std::string> cells{name_ + ", " + share.name};
        for (std::size_t i = 0; i < timings.size(); ++i) {
            const double seconds = timings[i].median();
            cells.push_back(three_digits(static_cast<double>(trip_.bytes()) * 1e-9 / seconds));
            cells.push_back(share.of_processors > 0
                                ? fmt::format("{:.1f} %", 100 * (1 - alone[i].median() / seconds))
                                : std::string());
        }
        if (share.of_processors > 0) cells.push_back("< 10 %");
        table_.row(cells);
    }

    Crew &crew_;
    Table &table_;
    std::string name_;
    Matrix matrix_;
    Trip trip_;
    std::vector<Way> ways_;
};

} // namespace

void run_busy(Crew &crew) {
    if (crew.prints())
        fmt::print("Sub-matrices of N by N doubles {}, in {}, {}, while another kernel computes on "
                   "a part of\nthe processors of each device. Loss is of the rate without it. The "
                   "paper (Wu et al.): under 10 %.\n",
                   crew.between(), crew.place.name(), crew.devices());
    Table table(crew.progress, {{"layout, N", 38},
                                {"UCD GB/s", 8},
                                {"loss", 6},
                                {"hand GB/s", 9},
                                {"loss", 6},
                                {"contiguous GB/s", 15},
                                {"loss", 6},
                                {"paper", 6}});
    Budget budget(crew.options.budget);
    const std::vector<std::int64_t> sizes = crew.options.sizes.empty()
                                                ? std::vector<std::int64_t>{1024, 2048, 4096}
                                                : crew.options.sizes;
    for (const std::int64_t n : sizes)
        if (budget.lasts(crew.peers, fmt::format("sub-matrix, {}", n)))
            Busy(crew, table, n).measure();
}

} // namespace bench::apps
