// What the parts of the program of faults share. It says what MPI did: what it says with
// libucd-mpi-preload is compared with what it says without. The buffers of messages are in device
// memory if UCD_TEST_DEVICE names a device.
#pragma once

#include "mpi/placed.hpp"
#include "mpi/processes.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace ucdtest {

// Every third int of some. With 700 and more in host memory, so much is moved by MPI_Pack first
// that the library takes the type over.
class Third {
public:
    explicit Third(int n);
    Third(const Third &) = delete;
    Third &operator=(const Third &) = delete;
    ~Third();

    int *data() const { return reinterpret_cast<int *>(placed_.data()); }
    int size() const { return n_; }
    void clear();
    void fill(int first);
    // The first `n` of them are as `fill` writes them, and nothing else was written.
    bool has(int first, int n) const;
    bool has(int first) const { return has(first, n_); }
    void free_type();

    MPI_Datatype datatype = MPI_DATATYPE_NULL;

private:
    int n_;
    std::vector<int> ints_;
    Placed placed_; // the same, where MPI is given them
};

// The blocks that ucd_memory_alloc has given to this program and to libucd-mpi-preload, and that
// were not freed.
long allocated_blocks();

// Messages go between pairs of processes, so that there may be two of them, or four and more.
inline int peer() {
    return rank ^ 1;
}
inline bool is_first_of_pair() {
    return rank % 2 == 0;
}

// Says something, with this process's rank.
[[gnu::format(printf, 1, 2)]] void say(const char *format, ...);

// The name of an error code's class.
std::string error_name(int code);

// So often the error handler was called since the last question.
int handler_calls();

void wrong_arguments();
void truncated_messages();
void cancelled_receives();
void freed_under_way();
void freed_requests();
void nothing_is_leaked();

} // namespace ucdtest
