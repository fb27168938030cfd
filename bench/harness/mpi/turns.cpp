#include "harness/mpi/turns.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

namespace bench {

int rank = 0, processes = 1;
double seconds_for_case = 0.5;
double seconds_not_counted = 0;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

const MpiCalls with_ucd = {MPI_Pack,        MPI_Unpack,   MPI_Send,      MPI_Recv,
                           MPI_Isend,       MPI_Irecv,    MPI_Waitall,   MPI_Bcast,
                           MPI_Allgather,   MPI_Alltoall, MPI_Alltoallw, MPI_Neighbor_alltoallw,
                           MPI_Type_commit, MPI_Type_free};
const MpiCalls plain_mpi = {PMPI_Pack,        PMPI_Unpack,    PMPI_Send,
                            PMPI_Recv,        PMPI_Isend,     PMPI_Irecv,
                            PMPI_Waitall,     PMPI_Bcast,     PMPI_Allgather,
                            PMPI_Alltoall,    PMPI_Alltoallw, PMPI_Neighbor_alltoallw,
                            PMPI_Type_commit, PMPI_Type_free};

bool on_all_processes(bool here) {
    int mine = here ? 1 : 0, all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
}

bool has_preload() {
    Dl_info found;
    return dladdr(dlsym(RTLD_DEFAULT, "MPI_Send"), &found) != 0 &&
           std::strstr(found.dli_fname, "ucd-mpi-preload") != nullptr;
}

namespace {

constexpr int min_rounds = 4;
constexpr double longest_of_many = 0.3; // seconds

double median(std::vector<double> &values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// What process 0 says.
int from_first(int value) {
    PMPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return value;
}

} // namespace

std::vector<double> in_turns(std::size_t bytes, const std::vector<Way> &ways) {
    int calls = static_cast<int>(std::max<std::size_t>(2, 200000 / (bytes + 1000)));
    const int rounds =
        static_cast<int>(std::clamp<std::size_t>(40000000 / (bytes + 100000), 10, 60));
    // One call of each way comes first, so that the timed calls prepare nothing. A way that takes
    // very long is called only this once.
    std::vector<double> once(ways.size());
    double usual = 1e-9; // seconds of the others together
    for (std::size_t way = 0; way < ways.size(); ++way) {
        PMPI_Barrier(MPI_COMM_WORLD);
        const double start = now();
        if (ways[way]) ways[way]();
        const double seconds = now() - start;
        PMPI_Allreduce(&seconds, &once[way], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (once[way] >= longest_of_many) continue;
        usual += once[way];
        once[way] = 0;
    }
    // Processes that poll without yielding, on fewer cores than there are threads, need a slice of
    // the scheduler's for each message.
    const double fitting = seconds_for_case / min_rounds / usual;
    const double begin = now();
    calls = from_first(static_cast<int>(std::clamp<double>(fitting, 1, calls)));
    std::vector<std::vector<double>> times(ways.size());
    for (int round = 0, more = 1; more != 0; ++round) {
        for (std::size_t turn = 0; turn < ways.size(); ++turn) {
            // Each begins as often, and every second round goes backwards.
            const auto shift = static_cast<std::size_t>(round) / 2;
            const std::size_t place = round % 2 == 0 ? turn : ways.size() - 1 - turn;
            const std::size_t way = (place + shift) % ways.size();
            if (!ways[way] || once[way] > 0) continue;
            // One call is not timed: the others find caches, clocks and links as this way leaves
            // them. Links between devices sleep while another way copies to the host.
            ways[way]();
            PMPI_Barrier(MPI_COMM_WORLD);
            seconds_not_counted = 0;
            const double start = now();
            for (int i = 0; i < calls; ++i) ways[way]();
            const double seconds = (now() - start - seconds_not_counted) / calls;
            // The first round is not counted: in it, one way finds memory and caches as nobody left
            // them.
            if (round > 0) times[way].push_back(seconds);
        }
        const int done = round + 1;
        more = from_first(done < rounds && (done < min_rounds || now() - begin < seconds_for_case));
    }
    std::vector<double> medians;
    for (std::size_t way = 0; way < ways.size(); ++way)
        medians.push_back(once[way] > 0 ? once[way] : median(times[way]));
    return medians;
}

RatioTable::RatioTable(std::string what, std::vector<std::string> ways)
    : what_(std::move(what)), ways_(std::move(ways)), logarithms_(ways_.size()),
      rows_(ways_.size()) {
    if (rank != 0) return;
    std::printf("\n%-12s %-26s %9s", "what", "layout", "bytes");
    for (const std::string &way : ways_) std::printf(" %14s", (way + " us").c_str());
    for (std::size_t i = 0; i + 1 < ways_.size(); ++i)
        std::printf(" %14s", (ways_[i] + (ways_[i] == "again" ? "/plain" : "/UCD")).c_str());
    std::printf("\n");
}

void RatioTable::add(const std::string &name, std::size_t bytes, const std::vector<double> &seconds,
                     bool counts) {
    if (rank != 0) return;
    std::printf("%-12s %-26s %9zu", what_.c_str(), name.c_str(), bytes);
    for (const double s : seconds)
        if (s > 0)
            std::printf(" %14.2f", 1e6 * s);
        else
            std::printf(" %14s", "-");
    for (std::size_t i = 0; i + 1 < seconds.size(); ++i) {
        if (seconds[i] <= 0) {
            std::printf(" %14s", "-");
            continue;
        }
        const bool is_noise = ways_[i] == "again";
        const double ratio = seconds[i] / (is_noise ? seconds.front() : seconds.back());
        std::printf(" %14.2f", ratio);
        if (!is_noise && (lowest_ == 0 || ratio < lowest_)) {
            lowest_ = ratio;
            lowest_name_ = name;
        }
        if (!counts || is_noise) continue;
        logarithms_[i] += std::log(ratio);
        ++rows_[i];
    }
    std::printf("\n");
    std::fflush(stdout);
}

RatioTable::~RatioTable() {
    for (std::size_t i = 0; i + 1 < ways_.size(); ++i)
        if (rank == 0 && rows_[i] > 0)
            std::printf("%s: geometric mean of %s/UCD, without contiguous: %.2f\n", what_.c_str(),
                        ways_[i].c_str(), std::exp(logarithms_[i] / rows_[i]));
    if (rank == 0 && lowest_ > 0)
        std::printf("%s: lowest: %.2f, %s\n", what_.c_str(), lowest_, lowest_name_.c_str());
}

} // namespace bench
