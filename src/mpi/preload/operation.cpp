#include "preload/operation.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace ucd_mpi {
namespace {

using FreedRequests = std::vector<std::pair<MPI_Request, OperationPtr>>;
// Never destroyed, because a process may end with requests that were not completed.
struct OutstandingOperations {
    std::mutex mutex;
    std::unordered_map<MPI_Request, OperationPtr> operations;
    FreedRequests freed;
};
OutstandingOperations &table() {
    static OutstandingOperations &all = *new OutstandingOperations;
    return all;
}

FreedRequests take_freed() {
    const std::lock_guard lock(table().mutex);
    freed_count.store(0, std::memory_order_release);
    return std::exchange(table().freed, {});
}
void keep_freed(FreedRequests added) {
    const std::lock_guard lock(table().mutex);
    FreedRequests &freed = table().freed;
    freed.insert(freed.end(), std::make_move_iterator(added.begin()),
                 std::make_move_iterator(added.end()));
    freed_count.store(freed.size(), std::memory_order_release);
}

// MPI needs the buffers to be there when a request is started, not when it is created. So plans are
// made at the first start.
void make_plans(Operation &operation) {
    operation.planned = true;
    if (operation.collective != nullptr) {
        operation.packs = PlannedMoves(PlannedDirection::pack, operation.collective->to_pack());
        operation.unpacks =
            PlannedMoves(PlannedDirection::unpack, operation.collective->to_unpack());
        return;
    }
    const PackedRange whole = {&operation.typed, operation.packed.data(), 0,
                               operation.typed.bytes()};
    if (operation.receives)
        operation.unpacks = PlannedMoves(PlannedDirection::unpack, {whole});
    else
        operation.packs = PlannedMoves(PlannedDirection::pack, {whole});
}

} // namespace

void add_operation(MPI_Request request, OperationPtr operation) {
    const std::lock_guard lock(table().mutex);
    table().operations[request] = std::move(operation);
    operation_count.store(table().operations.size(), std::memory_order_release);
}

OperationPtr take_operation(MPI_Request request) {
    if (!has_operations() || request == MPI_REQUEST_NULL) return nullptr;
    const std::lock_guard lock(table().mutex);
    const auto found = table().operations.find(request);
    if (found == table().operations.end()) return nullptr;
    OperationPtr operation = std::move(found->second);
    table().operations.erase(found);
    operation_count.store(table().operations.size(), std::memory_order_release);
    return operation;
}

int prepare_start(Operation &operation) {
    operation.active = true;
    if (!operation.planned) make_plans(operation);
    if (operation.packs) return operation.packs.run();
    if (operation.collective != nullptr) return operation.collective->pack();
    return operation.receives ? UCD_SUCCESS : operation.typed.pack(operation.packed.data());
}

namespace {

// How much of a message is to be unpacked. MPICH does not set the status of MPI_Isendrecv, so the
// status is not used for it.
std::uintptr_t arrived_bytes(const Operation &operation, MPI_Status &status) {
    if (operation.keeps) return operation.typed.bytes();
    int cancelled = 0;
    PMPI_Test_cancelled(&status, &cancelled);
    if (cancelled != 0) return 0;
    // After an error, the status may give more bytes than the buffer has room for.
    return std::min(received_bytes(status), operation.typed.bytes());
}

int unpack_message(const Operation &operation, std::uintptr_t bytes) {
    if (bytes == 0) return UCD_SUCCESS;
    // The plan moves whole messages only.
    return operation.unpacks && bytes == operation.typed.bytes()
               ? operation.unpacks.run()
               : operation.typed.unpack(operation.packed.data(), bytes);
}

int unpack_collective(const Operation &operation) {
    return operation.unpacks ? operation.unpacks.run() : operation.collective->unpack();
}

} // namespace

int deliver(Operation &operation, MPI_Status &status) {
    if (!operation.receives || !operation.active) return MPI_SUCCESS;
    const int rc = operation.collective != nullptr
                       ? unpack_collective(operation)
                       : unpack_message(operation, arrived_bytes(operation, status));
    return rc == UCD_SUCCESS ? MPI_SUCCESS : raise_error(operation.comm);
}

Completion::Completion(int count, const MPI_Request *requests) : users_(requests) {
    if (!has_operations() || count <= 0 || requests == nullptr) return;
    operations_.resize(static_cast<std::size_t>(count));
    requests_.assign(requests, requests + count); // first, so that nothing fails once one is taken
    bool found = false;
    for (int i = 0; i < count; ++i)
        found |=
            (operations_[static_cast<std::size_t>(i)] = take_operation(requests[i])) != nullptr;
    if (!found) operations_.clear();
}

Completion::~Completion() {
    for (std::size_t i = 0; i < operations_.size(); ++i)
        if (operations_[i] != nullptr && users_[i] != MPI_REQUEST_NULL)
            add_operation(requests_[i], std::move(operations_[i]));
}

int Completion::settle(int i, int error, MPI_Status &status) {
    OperationPtr &operation = operations_[static_cast<std::size_t>(i)];
    if (operation == nullptr) return MPI_SUCCESS;
    int rc = MPI_SUCCESS;
    if (error == MPI_SUCCESS && operation->typed.on_device() && operation->receives &&
        operation->active)
        operation->arrived = arrived_bytes(*operation, status);
    else if (error == MPI_SUCCESS)
        rc = deliver(*operation, status);
    operation->active = false;
    if (operation->arrived > 0)
        some_arrived_ = true;
    else if (!operation->persistent)
        operation.reset();
    return rc;
}

int Completion::deliver_arrived() {
    std::vector<Operation *> arrived;
    std::vector<PackedRange> ranges;
    for (const OperationPtr &operation : operations_) {
        if (operation == nullptr || operation->arrived == 0) continue;
        arrived.push_back(operation.get());
        ranges.push_back({&operation->typed, operation->packed.data(), 0, operation->arrived});
    }
    const MPI_Comm comm = arrived.front()->comm;
    const int rc = arrived.size() == 1 ? unpack_message(*arrived.front(), ranges.front().bytes)
                                       : move_once(PlannedDirection::unpack, ranges);
    for (OperationPtr &operation : operations_)
        if (operation != nullptr && std::exchange(operation->arrived, 0) > 0 &&
            !operation->persistent)
            operation.reset();
    return rc == UCD_SUCCESS ? MPI_SUCCESS : raise_error(comm);
}

void adopt_freed(MPI_Request request, OperationPtr operation) {
    FreedRequests one;
    one.emplace_back(request, std::move(operation));
    keep_freed(std::move(one));
}

// Errors of these operations cannot be reported, so no function is called that would call an error
// handler for them. No lock is held while MPI is called, because MPI may call functions of the
// user.
void progress_freed() {
    if (!has_freed()) return;
    FreedRequests active;
    for (auto &[request, operation] : take_freed()) {
        int complete = 0;
        MPI_Status status;
        const int rc = PMPI_Request_get_status(request, &complete, &status);
        if (complete == 0) { // MPI may still use the packed bytes
            active.emplace_back(request, std::move(operation));
            continue;
        }
        if (rc == MPI_SUCCESS) deliver(*operation, status);
        PMPI_Request_free(&request);
    }
    if (!active.empty()) keep_freed(std::move(active));
}

void finish_freed() {
    progress_freed();
    // In a correct program, every send completes, so it can be waited for. A receive may never
    // complete.
    for (auto &[request, operation] : take_freed()) {
        if (operation->receives)
            (void)operation.release(); // leaked, because MPI may still write to it
        else
            PMPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

void forget_operations() {
    const std::lock_guard lock(table().mutex);
    for (auto &[request, operation] : table().operations) (void)operation.release();
    table().operations.clear();
    operation_count.store(0, std::memory_order_release);
    for (auto &[request, operation] : table().freed) (void)operation.release();
    table().freed.clear();
    freed_count.store(0, std::memory_order_release);
}

} // namespace ucd_mpi
