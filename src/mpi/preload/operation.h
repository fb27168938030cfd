// Nonblocking and persistent operations whose data is packed here, by their requests.
#pragma once

#include "preload/collective_data.h"
#include "preload/message.h"

#include <memory>
#include <vector>

namespace ucd_mpi {

struct Operation {
    TypedBuffer typed;
    PackedMemory packed, also_sent; // also_sent is for MPI_Isendrecv
    CollectivePtr collective;       // instead of typed and packed
    MPI_Comm comm = MPI_COMM_NULL;
    bool receives = false;
    bool keeps = false; // packed has what was in the buffer, too: no status is needed to unpack it
    bool persistent = false;
    bool active = true;     // started, and not known to be complete
    bool delivered = false; // what was received is in the user's buffer
};
using OperationPtr = std::unique_ptr<Operation>;

// Any thread; a request is used by one thread at a time, as in MPI.
void add_operation(MPI_Request request, OperationPtr operation);
// Whoever completes a request takes its operation out before: once MPI has freed the request,
// another thread may be given an equal one. Null if it is not ours.
OperationPtr take_operation(MPI_Request request);
// Without a lock, for programs that have none.
bool has_operations();

// Before MPI starts a persistent request. A status of ucd.h.
int prepare_start(Operation &operation);

// Delivers what an operation has received, once. `status` is that of its completion. MPI's error
// code.
int deliver(Operation &operation, MPI_Status &status);

// The operations of the requests that a call of MPI completes, or does not.
class Completion {
public:
    Completion(int count, const MPI_Request *requests);
    // Gives back what was not settled, if MPI has not freed its request. MPI libraries differ in
    // whether they free persistent requests after an error.
    ~Completion();
    Completion(const Completion &) = delete;
    Completion &operator=(const Completion &) = delete;

    bool any() const { return !operations_.empty(); }
    // Request i is complete, with an error or none. Returns MPI's error code of its delivery.
    int settle(int i, int error, MPI_Status &status);
    // Request i is complete without an error, and the user will complete it later. Likewise.
    int look(int i, MPI_Status &status);

private:
    const MPI_Request *users_;
    std::vector<MPI_Request> requests_; // as they were before the call
    std::vector<OperationPtr> operations_;
};

// Requests that the user has freed and that MPI has not completed: they are kept here until it has.
void adopt_freed(MPI_Request request, OperationPtr operation);
void progress_freed();
void finish_freed();

// MPI has ended. What programs have left is not freed: that would need MPI.
void forget_operations();

} // namespace ucd_mpi
