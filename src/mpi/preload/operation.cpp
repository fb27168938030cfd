#include "preload/operation.h"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace ucd_mpi {
namespace {

// Never destroyed: a process may end with requests that nobody has completed.
struct Table {
    std::mutex mutex;
    std::unordered_map<MPI_Request, OperationPtr> operations;
    std::vector<std::pair<MPI_Request, OperationPtr>> freed;
};
Table &table() {
    static Table &all = *new Table;
    return all;
}
std::atomic<std::size_t> operation_count{0}, freed_count{0};

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

bool has_operations() {
    return operation_count.load(std::memory_order_acquire) != 0;
}

int prepare_start(Operation &operation) {
    operation.active = true;
    operation.delivered = false;
    if (operation.collective != nullptr) return operation.collective->pack();
    return operation.receives ? UCD_SUCCESS : operation.typed.pack(operation.packed.data());
}

int deliver(Operation &operation, MPI_Status &status) {
    if (!operation.receives || !operation.active || operation.delivered) return MPI_SUCCESS;
    int rc = UCD_SUCCESS;
    // MPICH does not write the status of a collective call, or of MPI_Isendrecv.
    if (operation.collective != nullptr) {
        rc = operation.collective->unpack();
    } else if (operation.keeps) {
        rc = operation.typed.unpack(operation.packed.data(), operation.typed.bytes());
    } else {
        int cancelled = 0;
        PMPI_Test_cancelled(&status, &cancelled);
        if (cancelled != 0) return MPI_SUCCESS;
        rc = operation.typed.unpack(operation.packed.data(), received_bytes(status));
    }
    operation.delivered = true;
    return rc == UCD_SUCCESS ? MPI_SUCCESS : raise_error(operation.comm);
}

Completion::Completion(int count, const MPI_Request *requests) {
    if (!has_operations() || count <= 0) return;
    operations_.resize(static_cast<std::size_t>(count));
    bool found = false;
    for (int i = 0; i < count; ++i)
        found |=
            (operations_[static_cast<std::size_t>(i)] = take_operation(requests[i])) != nullptr;
    if (found)
        requests_.assign(requests, requests + count);
    else
        operations_.clear();
}

Completion::~Completion() {
    for (std::size_t i = 0; i < operations_.size(); ++i)
        if (operations_[i] != nullptr) add_operation(requests_[i], std::move(operations_[i]));
}

int Completion::settle(int i, int error, MPI_Status &status) {
    OperationPtr &operation = operations_[static_cast<std::size_t>(i)];
    if (operation == nullptr) return MPI_SUCCESS;
    const int rc = error == MPI_SUCCESS ? deliver(*operation, status) : MPI_SUCCESS;
    operation->active = false;
    if (!operation->persistent) operation.reset();
    return rc;
}

void Completion::settle_freed(const MPI_Request *requests) {
    for (std::size_t i = 0; i < operations_.size(); ++i)
        if (operations_[i] != nullptr && !operations_[i]->persistent &&
            requests[i] == MPI_REQUEST_NULL)
            operations_[i].reset();
}

void adopt_freed(MPI_Request request, OperationPtr operation) {
    const std::lock_guard lock(table().mutex);
    table().freed.emplace_back(request, std::move(operation));
    freed_count.store(table().freed.size(), std::memory_order_release);
}

void progress_freed() {
    if (freed_count.load(std::memory_order_acquire) == 0) return;
    const std::lock_guard lock(table().mutex);
    auto &freed = table().freed;
    for (std::size_t i = 0; i < freed.size();) {
        auto &[request, operation] = freed[i];
        int complete = 0;
        MPI_Status status;
        if (PMPI_Test(&request, &complete, &status) != MPI_SUCCESS || complete == 0) {
            ++i;
            continue;
        }
        deliver(*operation, status);
        if (operation->persistent) PMPI_Request_free(&request);
        std::swap(freed[i], freed.back());
        freed.pop_back();
    }
    freed_count.store(freed.size(), std::memory_order_release);
}

void finish_freed() {
    progress_freed();
    const std::lock_guard lock(table().mutex);
    // A send ends if the program is right. Nothing is known of a receive.
    for (auto &[request, operation] : table().freed)
        if (!operation->receives) PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

} // namespace ucd_mpi
