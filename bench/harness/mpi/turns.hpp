// Measurements by several processes: the plain MPI library, by its functions with PMPI_, and
// libucd-mpi-preload, in turns.
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <cstddef>
#include <functional>
#include <mpi.h>
#include <string>
#include <vector>

namespace bench {

extern int rank, processes;

// The functions that are measured. The library takes over the first ones only.
struct MpiCalls {
    decltype(&MPI_Pack) pack;
    decltype(&MPI_Unpack) unpack;
    decltype(&MPI_Send) send;
    decltype(&MPI_Recv) recv;
    decltype(&MPI_Isend) isend;
    decltype(&MPI_Irecv) irecv;
    decltype(&MPI_Waitall) wait_all;
    decltype(&MPI_Bcast) bcast;
    decltype(&MPI_Allgather) allgather;
    decltype(&MPI_Alltoall) alltoall;
    decltype(&MPI_Alltoallw) alltoallw;
    decltype(&MPI_Neighbor_alltoallw) neighbor_alltoallw;
    decltype(&MPI_Type_commit) type_commit;
    decltype(&MPI_Type_free) type_free;
};
extern const MpiCalls with_ucd, plain_mpi;

// Says whether `here` is true in each process. All of them call it.
bool on_all_processes(bool here);

// Whether libucd-mpi-preload is loaded.
bool has_preload();

// How long in_turns may measure, in seconds.
extern double seconds_for_case;

double now(); // in seconds

// A way adds to this what it does between the calls that are measured.
extern double seconds_not_counted;

// The median seconds of each way, of as many rounds on all processes. A way that is empty, or that
// one process cannot go, takes 0.
using Way = std::function<void()>;
std::vector<double> in_turns(std::size_t bytes, const std::vector<Way> &ways);

// The plain library, the plain library again, which shows how much its times vary by themselves,
// and UCD: the ways of a table that is made with these names.
inline const std::vector<std::string> compared = {"plain", "again", "UCD"};
template <class Run> // called with MpiCalls
std::vector<double> compare(std::size_t bytes, Run run) {
    return in_turns(bytes,
                    {[&] { run(plain_mpi); }, [&] { run(plain_mpi); }, [&] { run(with_ucd); }});
}

// A table with a row for each case, printed by process 0: the time of each way, and how many times
// longer the others take than the last one; for the way "again", than the first one. Says at the
// end what the geometric means are, and which row is the lowest.
class RatioTable {
public:
    RatioTable(std::string what, std::vector<std::string> ways);
    ~RatioTable();
    RatioTable(const RatioTable &) = delete;
    RatioTable &operator=(const RatioTable &) = delete;
    // `counts`: in the means.
    void add(const std::string &name, std::size_t bytes, const std::vector<double> &seconds,
             bool counts);

private:
    std::string what_;
    std::vector<std::string> ways_;
    std::vector<double> logarithms_;
    std::vector<int> rows_;
    double lowest_ = 0;
    std::string lowest_name_;
};

} // namespace bench
