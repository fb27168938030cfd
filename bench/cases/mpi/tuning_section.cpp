// The layouts by which libucd-mpi-preload's tables are made: for each arrangement, segments of
// several lengths and messages of several sizes.
#include "cases/mpi/layouts.hpp"
#include "cases/mpi/sections.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace bench {
namespace {

constexpr std::size_t max_extent = std::size_t{256} << 20;
constexpr int not_possible = 0; // a layout that cannot be made has no type

// Elements of a segment: floats if it has a length of an odd number of these.
MPI_Datatype element_of(int segment) {
    return segment % 8 == 0 ? MPI_DOUBLE : MPI_FLOAT;
}
int elements_in(int segment) {
    return segment / (segment % 8 == 0 ? 8 : 4);
}

// Frees what it is made of, if it is derived.
MPI_Datatype spread(int count, MPI_Aint stride, MPI_Datatype of, int elements) {
    MPI_Datatype type;
    MPI_Type_create_hvector(count, elements, stride, of, &type);
    if (of != MPI_DOUBLE && of != MPI_FLOAT) MPI_Type_free(&of);
    return type;
}

MPI_Datatype loop(int bytes, int segment, MPI_Aint stride) {
    return spread(bytes / segment, stride, element_of(segment), elements_in(segment));
}
MPI_Datatype near_loop(int bytes, int segment) {
    return loop(bytes, segment, 3 * MPI_Aint{segment});
}
MPI_Datatype far_loop(int bytes, int segment) {
    return loop(bytes, segment, 520 + MPI_Aint{segment});
}
MPI_Datatype column(int bytes, int segment) {
    return loop(bytes, segment, 16 << 10);
}

// Three loops, of as many steps each; one for segments that are longer than a step has to be.
MPI_Datatype nest(int bytes, int segment) {
    if (segment >= 256) return near_loop(bytes, segment);
    const int steps = static_cast<int>(std::cbrt(bytes / segment));
    if (steps < 2 || steps * steps * segment / 3 < 256) return MPI_DATATYPE_NULL;
    const MPI_Aint row = MPI_Aint{steps} * 2 * segment + 24;
    const MPI_Datatype rows =
        spread(steps, 2 * MPI_Aint{segment}, element_of(segment), elements_in(segment));
    return spread(steps, row * steps + 40, spread(steps, row, rows, 1), 1);
}

// A square matrix, column by column.
MPI_Datatype transposed(int bytes, int segment) {
    const int edge = static_cast<int>(std::sqrt(bytes / segment));
    if (edge < 3) return MPI_DATATYPE_NULL;
    return spread(edge, segment, loop(edge * segment, segment, MPI_Aint{edge} * segment), 1);
}

// Numbers from 0 to 3.
class Gaps {
public:
    MPI_Aint next() {
        state_ = state_ * 1103515245 + 12345;
        return state_ >> 20 & 3;
    }

private:
    unsigned state_ = 1;
};

MPI_Datatype list(int bytes, int segment) {
    Gaps gaps;
    std::vector<MPI_Aint> displs;
    for (MPI_Aint at = 0; static_cast<int>(displs.size()) < bytes / segment;
         at += segment * (2 + gaps.next()))
        displs.push_back(at);
    MPI_Datatype type;
    MPI_Type_create_hindexed_block(static_cast<int>(displs.size()), elements_in(segment),
                                   displs.data(), element_of(segment), &type);
    return type;
}

// Particles at listed places: doubles, what is not sent, and ints.
MPI_Datatype mixed(int bytes, int segment) {
    const int lengths[] = {segment / 8, segment / 4};
    const MPI_Aint member_displs[] = {0, segment + 8};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
    MPI_Datatype members, particle, type;
    MPI_Type_create_struct(2, lengths, member_displs, types, &members);
    MPI_Type_create_resized(members, 0, 2 * MPI_Aint{segment} + 16, &particle);
    MPI_Type_free(&members);
    Gaps gaps;
    std::vector<int> displs;
    for (MPI_Aint at = 0; static_cast<int>(displs.size()) < std::max(1, bytes / 2 / segment);
         at += 1 + gaps.next())
        displs.push_back(static_cast<int>(at));
    MPI_Type_create_indexed_block(static_cast<int>(displs.size()), 1, displs.data(), particle,
                                  &type);
    MPI_Type_free(&particle);
    return type;
}

using Make = MPI_Datatype (*)(int bytes, int segment);
struct Arranged {
    const char *name;
    std::vector<Make> make; // what gains has to gain with each of these
    std::vector<int> segments;
};
const std::vector<Arranged> &all_arranged() {
    static const std::vector<Arranged> all = {
        {"loop", {near_loop, far_loop}, {4, 8, 16, 32, 64, 128}},
        {"column", {column}, {4, 8, 16, 32, 64, 128}},
        {"nest", {nest}, {8, 16, 32, 64, 128, 256, 512, 1024, 2048}},
        {"transposed", {transposed}, {4, 8, 16, 32, 64, 128}},
        {"list", {list}, {4, 8, 16, 32, 64, 128, 256, 512, 1024}},
        {"mixed", {mixed}, {8, 16, 32, 64, 128, 256}},
    };
    return all;
}
constexpr std::array sizes = {256,      1 << 10,   4 << 10, 16 << 10,
                              64 << 10, 256 << 10, 1 << 20, 4 << 20};

constexpr int max_size = 64 << 20;

// What a column of the table is measured by: what gains has to gain by each of these, and so much.
using Time = std::vector<double> (*)(const MpiLayout &);
struct Column {
    std::vector<Time> times;
    double least_gain;
};
// A program's caches are not as warm as a benchmark's, so that a copy more costs more there.
const std::array<Column, 3> columns = {{
    {{time_pack}, 1.06},
    {{time_ping_pong, time_exchange}, 1.12},
    {{time_alltoall}, 1.12},
}};
using Ratios = std::array<double, columns.size()>;

// Returns how many times faster UCD is at least. The variation of the plain library's own times is
// subtracted.
Ratios gains(const Arranged &arranged, int bytes, int segment) {
    Ratios least;
    least.fill(INFINITY);
    for (const Make make : arranged.make) {
        MPI_Datatype type = bytes < segment ? MPI_DATATYPE_NULL : make(bytes, segment);
        if (type == MPI_DATATYPE_NULL) return Ratios{not_possible};
        MPI_Type_commit(&type);
        const MpiLayout layout("", type, 1);
        if (layout.extent > max_extent) return Ratios{not_possible};
        for (std::size_t column = 0; column < columns.size(); ++column)
            for (const Time time : columns[column].times) {
                const std::vector<double> seconds = time(layout);
                const double plain = std::min(seconds[0], seconds[1]);
                least[column] = std::min(least[column], plain / seconds[2]);
            }
    }
    PMPI_Bcast(least.data(), static_cast<int>(least.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return least;
}

// The sizes in a row of which each gains, and all together most.
std::string best_sizes(const std::vector<double> &ratios, double least_gain) {
    double best = 0;
    std::string text = "{}";
    for (std::size_t first = 0; first < ratios.size(); ++first) {
        double sum = 0;
        for (std::size_t last = first; last < ratios.size() && ratios[last] >= least_gain; ++last) {
            sum += std::log(ratios[last]);
            if (sum <= best) continue;
            best = sum;
            // A row that gains at the largest size is assumed to gain beyond it.
            const int most = last + 1 < sizes.size() ? sizes[last] : max_size;
            text = "{" + std::to_string(sizes[first]) + ", " + std::to_string(most) + "}";
        }
    }
    return text;
}

void write_row(std::FILE *file, const Arranged &arranged, int segment) {
    std::array<std::vector<double>, columns.size()> ratios;
    std::string seen;
    for (const int bytes : sizes) {
        const Ratios at = gains(arranged, bytes, segment);
        for (std::size_t column = 0; column < at.size(); ++column)
            ratios[column].push_back(at[column]);
        char text[64];
        std::snprintf(text, sizeof text, "  %.2f %.2f %.2f", at[0], at[1], at[2]);
        seen += text;
    }
    if (rank != 0) return;
    std::fprintf(file, "{Arrangement::%s, %d, {%s, %s, %s}},\n", arranged.name, segment,
                 best_sizes(ratios[0], columns[0].least_gain).c_str(),
                 best_sizes(ratios[1], columns[1].least_gain).c_str(),
                 best_sizes(ratios[2], columns[2].least_gain).c_str());
    std::printf("%-12s %5d%s\n", arranged.name, segment, seen.c_str());
    std::fflush(stdout);
}

} // namespace

bool write_tuning(const std::string &path) {
    const char *const always = std::getenv("UCD_MPI_ALWAYS");
    if (!has_preload() || processes != 2 || always == nullptr || std::strcmp(always, "1") != 0)
        return false;
    std::FILE *const file = rank == 0 ? std::fopen(path.c_str(), "w") : nullptr;
    int opened = rank != 0 || file != nullptr;
    PMPI_Bcast(&opened, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (opened == 0) return false;
    if (rank == 0) {
        char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        MPI_Get_library_version(library, &length);
        std::fprintf(
            file,
            "// Written by ucd-mpi-bench --write-table: pack, message, collective.\n// %.*s\n",
            static_cast<int>(std::strcspn(library, "\n,")), library);
        std::printf("plain/UCD of pack, message and collective call, for");
        for (const int bytes : sizes) std::printf(" %d", bytes);
        std::printf(" bytes\n");
    }
    for (const Arranged &arranged : all_arranged())
        for (const int segment : arranged.segments) write_row(file, arranged, segment);
    return rank != 0 || std::fclose(file) == 0;
}

} // namespace bench
