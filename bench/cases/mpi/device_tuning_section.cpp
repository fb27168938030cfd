#include "cases/mpi/device_data.hpp"
#include "cases/mpi/device_ways.hpp"
#include "cases/mpi/sections.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace bench {
namespace {

// The sizes of the device's table, and the mean segments.
constexpr int table_sizes[] = {256,       1 << 10, 4 << 10, 16 << 10, 64 << 10,
                               256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20};
constexpr int table_segments[] = {8, 32, 128, 512, 2 << 10, 8 << 10, 64 << 10, 512 << 10};

// The median seconds of each way, of a message there and back, and of messages in both directions
// at once: the shares of the quickest way, multiplied.
std::vector<double> relative_times(const MpiLayout &l, const DeviceData &from,
                                   const DeviceData &to) {
    const auto there_and_back = [&] {
        for (int turn = 0; turn < 2; ++turn)
            if (turn == rank)
                MPI_Send(from.data(), l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD);
            else
                MPI_Recv(to.data(), l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    };
    const auto both = [&] {
        MPI_Request requests[2];
        MPI_Irecv(to.data(), l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(from.data(), l.count, l.type, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    };
    std::vector<double> all(3, 1.0);
    for (const Way &typed : {Way(there_and_back), Way(both)}) {
        std::vector<double> seconds =
            in_turns(from.bytes(), {by_way(on_device, typed), by_way(on_host, typed)});
        seconds.push_back(1e3); // if there are too many segments to be tried
        if (from.has_few_segments())
            seconds[by_mpi] = in_turns(from.bytes(), {by_way(by_mpi, typed)}).front();
        const double best = std::min({seconds[0], seconds[1], seconds[2]});
        for (std::size_t way = 0; way < all.size(); ++way) all[way] *= seconds[way] / best;
    }
    PMPI_Bcast(all.data(), static_cast<int>(all.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return all;
}

// The longest row of sizes for which `way` is the quickest one. The largest size stands for all
// beyond it.
std::string quickest_sizes(const std::vector<DeviceWay> &quickest, DeviceWay way) {
    std::size_t first = 0, longest = 0;
    for (std::size_t i = 0, begin = 0; i < quickest.size(); ++i) {
        if (quickest[i] != way) begin = i + 1;
        if (i + 1 - begin > longest) {
            longest = i + 1 - begin;
            first = begin;
        }
    }
    if (longest == 0) return "{}";
    const std::size_t last = first + longest - 1;
    const int least = first == 0 ? 1 : table_sizes[first];
    return "{" + std::to_string(least) + ", " +
           (last + 1 < quickest.size() ? std::to_string(table_sizes[last + 1] - 1) : "any_size") +
           "}";
}

} // namespace

bool write_device_tuning(const std::string &devices, const std::string &path) {
    if (!has_preload() || processes != 2 || !mpi_reads_devices()) return false;
    std::FILE *const file = rank == 0 ? std::fopen(path.c_str(), "w") : nullptr;
    if (!on_all_processes(rank != 0 || file != nullptr)) return false;
    if (rank == 0) {
        char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        MPI_Get_library_version(library, &length);
        std::fprintf(file,
                     "// Written by ucd-mpi-bench --gpu --write-table: by MPI, through the host.\n"
                     "// %.*s, %s\n",
                     static_cast<int>(std::strcspn(library, "\n,")), library, devices.c_str());
    }
    const std::string device = own_device(devices, rank);
    if (!on_all_processes(can_use(device))) return false;
    for (const int segment : table_segments) {
        std::vector<DeviceWay> quickest;
        std::string seen;
        for (const int bytes : table_sizes) {
            // Without a gap there is nothing to pack.
            const MpiLayout l = rows_layout(std::max(bytes, 2 * segment), segment);
            const DeviceData from(device, l, 1), to(device, l, 1);
            if (!on_all_processes(from.usable() && to.usable())) break;
            const std::vector<double> times = relative_times(l, from, to);
            // The device's way unless another one is clearly quicker.
            const double margin = 1.05;
            DeviceWay best = on_device;
            for (const DeviceWay way : {on_host, by_mpi})
                if (times[static_cast<std::size_t>(way)] * (best == on_device ? margin : 1) <
                    times[static_cast<std::size_t>(best)])
                    best = way;
            quickest.push_back(best);
            char text[48];
            std::snprintf(text, sizeof text, "  %.2f %.2f %.2f", times[0], times[1], times[2]);
            seen += text;
        }
        if (rank != 0) continue;
        std::fprintf(file, "{%d, %s, %s},\n", segment, quickest_sizes(quickest, by_mpi).c_str(),
                     quickest_sizes(quickest, on_host).c_str());
        std::printf("%6d%s\n", segment, seen.c_str());
        std::fflush(stdout);
    }
    set_way(chosen);
    return rank != 0 || std::fclose(file) == 0;
}

} // namespace bench
