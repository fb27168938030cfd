// Every third int of a buffer.
#pragma once

#include "mpi/placed.hpp"
#include "mpi/processes.hpp"

#include <algorithm>
#include <vector>

namespace ucdtest {

// 1000 of 3000 ints, with a number that tells them apart; on the device, if there is one.
struct Strided {
    explicit Strided(int n = 1000)
        : ints(static_cast<std::size_t>(3 * n), -1),
          placed(ints.data(), ints.size() * sizeof(int), true) {
        MPI_OK(MPI_Type_vector(n, 1, 3, MPI_INT, &datatype));
        MPI_OK(MPI_Type_commit(&datatype));
    }
    ~Strided() {
        if (datatype != MPI_DATATYPE_NULL) MPI_Type_free(&datatype);
    }
    void *data() const { return placed.data(); }
    void clear() {
        std::fill(ints.begin(), ints.end(), -1);
        placed.store();
    }
    void fill(int first) {
        for (std::size_t i = 0; i < ints.size(); i += 3) ints[i] = first + static_cast<int>(i);
        placed.store();
    }
    bool has(int first, std::size_t elements) const {
        placed.fetch();
        for (std::size_t i = 0; i < ints.size(); ++i)
            if (ints[i] != (i % 3 == 0 && i / 3 < elements ? first + static_cast<int>(i) : -1))
                return false;
        return true;
    }
    // The library reads the type for a persistent request at once.
    void warm() {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_OK(MPI_Send_init(data(), 1, datatype, 0, 0, MPI_COMM_SELF, &request));
        MPI_OK(MPI_Request_free(&request));
        std::vector<int> packed(ints.size());
        int position = 0;
        MPI_OK(MPI_Pack(data(), 1, datatype, packed.data(),
                        static_cast<int>(packed.size() * sizeof(int)), &position, MPI_COMM_SELF));
    }
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    std::vector<int> ints;
    Placed placed;
};

} // namespace ucdtest
