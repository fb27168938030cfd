// Nonblocking and persistent operations whose data this library packs, found by their requests.
#pragma once

#include "preload/collective_data.h"
#include "preload/message.h"

#include <atomic>
#include <memory>
#include <vector>

namespace ucd_mpi {

struct Operation {
    MessageBuffer typed;
    PackedMemory packed, also_sent; // also_sent: the send side of MPI_Isendrecv
    CollectivePtr collective;       // instead of typed and packed
    MPI_Comm comm = MPI_COMM_NULL;
    bool receives = false;
    bool keeps = false; // packed starts with the contents of the receive buffer: no status is
                        // needed to unpack it
    bool persistent = false;
    // For each start of a persistent request. Empty before the first start, if there is nothing to
    // move, and if libucd could not make a plan.
    PlannedMoves packs, unpacks;
    bool planned = false;       // whether that was tried
    bool active = true;         // started, and not known to be complete
    std::uintptr_t arrived = 0; // bytes that are complete, and not yet unpacked in device memory
};
using OperationPtr = std::unique_ptr<Operation>;

// Thread-safe. As in MPI, only one thread uses a request at a time.
void add_operation(MPI_Request request, OperationPtr operation);
// To be called before the request is completed: once MPI has freed the request, another thread may
// get an equal handle. Null if this library has no operation for the request.
OperationPtr take_operation(MPI_Request request);
// These take no lock, so that programs without operations pay little. Freed requests are those that
// the user freed before MPI completed them.
inline std::atomic<std::size_t> operation_count{0}, freed_count{0};
inline bool has_operations() {
    return operation_count.load(std::memory_order_acquire) != 0;
}
inline bool has_freed() {
    return freed_count.load(std::memory_order_acquire) != 0;
}

// Whether a call moves nothing that this library could have to do with: no device memory, and only
// types that were never committed, predefined ones as a rule.
template <class... Types>
bool passes(Types... datatypes) {
    return !has_devices() && !has_freed() && !(was_committed(datatypes) || ...);
}

// The same for one message. Also if its type was not read, or if none of its messages gains: their
// bytes count, as in find_known.
inline bool passes_message(MPI_Count count, MPI_Datatype datatype) {
    if (has_devices() || has_freed()) return false;
    if (is_left_to_mpi(datatype, count) || !settings().messages) return true;
    const KnownType *const known = find_known(datatype, count, ExpectedUse::once);
    return known == nullptr || known->gains().message.most == 0;
}

// To be called before MPI starts a persistent request. Returns a status of ucd.h.
int prepare_start(Operation &operation);

// Unpacks the data that an operation has received. `status` is that of its
// completion. Returns MPI's error code.
int deliver(Operation &operation, MPI_Status &status);

// The operations of the requests that are passed to a function of MPI that completes requests, or
// says whether they are complete.
class Completion {
public:
    Completion(int count, const MPI_Request *requests);
    // Puts back the operations that were not settled, unless MPI has freed their requests. MPI
    // libraries differ in whether they free persistent requests after an error.
    ~Completion();
    Completion(const Completion &) = delete;
    Completion &operator=(const Completion &) = delete;

    bool any() const { return !operations_.empty(); }
    // Call when request i is complete, with or without an error: then all is done for it, even if
    // the user will complete it later, but that data in device memory is left to the next function.
    // Returns MPI's error code of delivering its data.
    int settle(int i, int error, MPI_Status &status);
    // Unpacks what settled operations have received in device memory, all by one launch. Returns
    // MPI's error code.
    int deliver_on_device() { return some_arrived_ ? deliver_arrived() : MPI_SUCCESS; }

private:
    int deliver_arrived();

    const MPI_Request *users_;
    std::vector<MPI_Request> requests_; // as they were before the call
    std::vector<OperationPtr> operations_;
    bool some_arrived_ = false;
};

// Requests that the user freed before MPI completed them: they are kept here until MPI has.
void adopt_freed(MPI_Request request, OperationPtr operation);
void progress_freed();
void finish_freed();

// Call when MPI has ended. Operations that the program left behind are not freed, because that
// needs MPI.
void forget_operations();

} // namespace ucd_mpi
