#include "preload/completion.h"

#include "preload/world.h"

#include <atomic>
#include <utility>
#include <vector>

namespace ucd_mpi {
namespace {

// The user's statuses, or an array of this library if the user ignores statuses.
class Statuses {
public:
    Statuses(int count, MPI_Status *statuses) : used_(statuses) {
        if (statuses != MPI_STATUSES_IGNORE) return;
        own_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        used_ = own_.data();
    }
    MPI_Status *get() const { return used_; }
    MPI_Status &operator[](int i) const { return used_[i]; }

private:
    MPI_Status *used_;
    std::vector<MPI_Status> own_;
};

int first_error(int rc, int other) {
    return rc != MPI_SUCCESS ? rc : other;
}

// The number of initialised sessions.
[[maybe_unused]] std::atomic<int> open_sessions{0};

// Called when MPI ends: MPI may use the same handles again after that.
void forget_all() {
    forget_operations();
    forget_types();
}

// Settles the operations after a call that completes all requests.
int settle_all(Completion &completion, int rc, int count, const Statuses &statuses) {
    if (rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS) return rc;
    int delivered = MPI_SUCCESS;
    for (int i = 0; i < count; ++i) {
        const int error = rc == MPI_SUCCESS ? MPI_SUCCESS : statuses[i].MPI_ERROR;
        if (error == MPI_ERR_PENDING) continue;
        delivered = first_error(delivered, completion.settle(i, error, statuses[i]));
    }
    return first_error(rc, delivered);
}

// The operations of persistent requests that are being started. They are taken out of the table
// while MPI starts them: if a buffered send's last message is still in progress, Open MPI replaces
// its handle and gives the old handle to the next request, possibly of another thread.
class Starting {
public:
    Starting(int count, MPI_Request *requests) : requests_(requests) {
        if (!has_operations() || count <= 0 || requests == nullptr) return;
        for (int i = 0; i < count; ++i)
            if (OperationPtr operation = take_operation(requests[i]))
                operations_.emplace_back(i, std::move(operation));
    }
    ~Starting() {
        for (auto &[i, operation] : operations_)
            if (requests_[i] != MPI_REQUEST_NULL) add_operation(requests_[i], std::move(operation));
    }
    Starting(const Starting &) = delete;
    Starting &operator=(const Starting &) = delete;

    // Packs the data of sends. Returns MPI's error code.
    int prepare() {
        for (auto &[i, operation] : operations_)
            if (prepare_start(*operation) != UCD_SUCCESS) return raise_error(operation->comm);
        return MPI_SUCCESS;
    }

private:
    MPI_Request *requests_;
    std::vector<std::pair<int, OperationPtr>> operations_;
};

} // namespace

int commit(int (*next)(MPI_Datatype *), MPI_Datatype *datatype) {
    const int rc = next(datatype);
    if (rc == MPI_SUCCESS && settings().pack) remember_committed(*datatype);
    return rc;
}

int type_free(int (*next)(MPI_Datatype *), MPI_Datatype *datatype) {
    if (datatype != nullptr) forget_freed(*datatype);
    return next(datatype);
}

int type_dup(int (*next)(MPI_Datatype, MPI_Datatype *), MPI_Datatype datatype,
             MPI_Datatype *duplicate) {
    const int rc = next(datatype, duplicate);
    if (rc == MPI_SUCCESS) remember_duplicate(datatype, *duplicate);
    return rc;
}

int start(int (*next)(MPI_Request *), MPI_Request *request) {
    Starting starting(1, request);
    const int rc = starting.prepare();
    return rc != MPI_SUCCESS ? rc : next(request);
}

int start_all(int (*next)(int, MPI_Request *), int count, MPI_Request *requests) {
    Starting starting(count, requests);
    const int rc = starting.prepare();
    return rc != MPI_SUCCESS ? rc : next(count, requests);
}

int wait(int (*next)(MPI_Request *, MPI_Status *), MPI_Request *request, MPI_Status *status) {
    Completion completion(1, request);
    const Statuses statuses(1, status);
    int rc = next(request, completion.any() ? statuses.get() : status);
    if (completion.any() && rc == MPI_SUCCESS) rc = completion.settle(0, rc, statuses[0]);
    progress_freed();
    return rc;
}

int test(int (*next)(MPI_Request *, int *, MPI_Status *), MPI_Request *request, int *flag,
         MPI_Status *status) {
    Completion completion(1, request);
    const Statuses statuses(1, status);
    int rc = next(request, flag, completion.any() ? statuses.get() : status);
    if (completion.any() && rc == MPI_SUCCESS && *flag != 0)
        rc = completion.settle(0, rc, statuses[0]);
    progress_freed();
    return rc;
}

int wait_all(int (*next)(int, MPI_Request *, MPI_Status *), int count, MPI_Request *requests,
             MPI_Status *statuses) {
    Completion completion(count, requests);
    if (!completion.any()) {
        const int rc = next(count, requests, statuses);
        progress_freed();
        return rc;
    }
    const Statuses used(count, statuses);
    const int rc = next(count, requests, used.get());
    progress_freed();
    return settle_all(completion, rc, count, used);
}

int test_all(int (*next)(int, MPI_Request *, int *, MPI_Status *), int count, MPI_Request *requests,
             int *flag, MPI_Status *statuses) {
    Completion completion(count, requests);
    if (!completion.any()) {
        const int rc = next(count, requests, flag, statuses);
        progress_freed();
        return rc;
    }
    const Statuses used(count, statuses);
    const int rc = next(count, requests, flag, used.get());
    progress_freed();
    if (rc == MPI_SUCCESS && *flag == 0) return rc;
    return settle_all(completion, rc, count, used);
}

int wait_any(int (*next)(int, MPI_Request *, int *, MPI_Status *), int count, MPI_Request *requests,
             int *index, MPI_Status *status) {
    Completion completion(count, requests);
    const Statuses statuses(1, status);
    int rc = next(count, requests, index, completion.any() ? statuses.get() : status);
    if (completion.any() && rc == MPI_SUCCESS && *index != MPI_UNDEFINED)
        rc = completion.settle(*index, rc, statuses[0]);
    progress_freed();
    return rc;
}

int test_any(int (*next)(int, MPI_Request *, int *, int *, MPI_Status *), int count,
             MPI_Request *requests, int *index, int *flag, MPI_Status *status) {
    Completion completion(count, requests);
    const Statuses statuses(1, status);
    int rc = next(count, requests, index, flag, completion.any() ? statuses.get() : status);
    if (completion.any() && rc == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED)
        rc = completion.settle(*index, rc, statuses[0]);
    progress_freed();
    return rc;
}

int complete_some(int (*next)(int, MPI_Request *, int *, int *, MPI_Status *), int count,
                  MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses) {
    Completion completion(count, requests);
    if (!completion.any()) {
        const int rc = next(count, requests, completed, indices, statuses);
        progress_freed();
        return rc;
    }
    const Statuses used(count, statuses);
    const int rc = next(count, requests, completed, indices, used.get());
    progress_freed();
    if (rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS) return rc;
    int delivered = MPI_SUCCESS;
    for (int i = 0; *completed != MPI_UNDEFINED && i < *completed; ++i) {
        const int error = rc == MPI_SUCCESS ? MPI_SUCCESS : used[i].MPI_ERROR;
        delivered = first_error(delivered, completion.settle(indices[i], error, used[i]));
    }
    return first_error(rc, delivered);
}

// MPI may use the packed bytes until the operation is complete, so the request is freed only then.
int request_free(int (*next)(MPI_Request *), MPI_Request *request) {
    if (!has_operations() || request == nullptr) return next(request);
    OperationPtr operation = take_operation(*request);
    if (operation == nullptr || !operation->active) return next(request);
    adopt_freed(*request, std::move(operation));
    *request = MPI_REQUEST_NULL;
    progress_freed();
    return MPI_SUCCESS;
}

// The user may read the received data once the flag is set, so it is unpacked first.
int request_get_status(int (*next)(MPI_Request, int *, MPI_Status *), MPI_Request request,
                       int *flag, MPI_Status *status) {
    OperationPtr operation = take_operation(request);
    const Statuses statuses(1, status);
    int rc = next(request, flag, operation != nullptr ? statuses.get() : status);
    if (operation != nullptr) {
        if (rc == MPI_SUCCESS && *flag != 0) rc = deliver(*operation, statuses[0]);
        add_operation(request, std::move(operation));
    }
    progress_freed();
    return rc;
}

// The same for several requests.
int request_get_status_all(int (*next)(int, const MPI_Request *, int *, MPI_Status *), int count,
                           const MPI_Request *requests, int *flag, MPI_Status *statuses) {
    Completion completion(count, requests);
    const Statuses used(count, statuses);
    const int rc = next(count, requests, flag, completion.any() ? used.get() : statuses);
    progress_freed();
    if (!completion.any() || (rc == MPI_SUCCESS && *flag == 0) ||
        (rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS))
        return rc;
    int delivered = MPI_SUCCESS;
    for (int i = 0; i < count; ++i)
        if (rc == MPI_SUCCESS || used[i].MPI_ERROR == MPI_SUCCESS)
            delivered = first_error(delivered, completion.look(i, used[i]));
    return first_error(rc, delivered);
}

int request_get_status_any(int (*next)(int, const MPI_Request *, int *, int *, MPI_Status *),
                           int count, const MPI_Request *requests, int *index, int *flag,
                           MPI_Status *status) {
    Completion completion(count, requests);
    const Statuses statuses(1, status);
    int rc = next(count, requests, index, flag, completion.any() ? statuses.get() : status);
    if (completion.any() && rc == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED)
        rc = completion.look(*index, statuses[0]);
    progress_freed();
    return rc;
}

int request_get_status_some(int (*next)(int, const MPI_Request *, int *, int *, MPI_Status *),
                            int count, const MPI_Request *requests, int *completed, int *indices,
                            MPI_Status *statuses) {
    Completion completion(count, requests);
    const Statuses used(count, statuses);
    const int rc =
        next(count, requests, completed, indices, completion.any() ? used.get() : statuses);
    progress_freed();
    if (!completion.any() || (rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS)) return rc;
    int delivered = MPI_SUCCESS;
    for (int i = 0; *completed != MPI_UNDEFINED && i < *completed; ++i)
        if (rc == MPI_SUCCESS || used[i].MPI_ERROR == MPI_SUCCESS)
            delivered = first_error(delivered, completion.look(indices[i], used[i]));
    return first_error(rc, delivered);
}

int finalize(int (*next)()) {
    int rank = -1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    finish_freed();
    print_statistics(rank);
    const int rc = next();
    if (rc == MPI_SUCCESS && open_sessions.load(std::memory_order_acquire) == 0) forget_all();
    return rc;
}

#ifdef MPI_SESSION_NULL
int session_init(int (*next)(MPI_Info, MPI_Errhandler, MPI_Session *), MPI_Info info,
                 MPI_Errhandler errhandler, MPI_Session *session) {
    const int rc = next(info, errhandler, session);
    if (rc == MPI_SUCCESS) open_sessions.fetch_add(1, std::memory_order_acq_rel);
    return rc;
}

int session_finalize(int (*next)(MPI_Session *), MPI_Session *session) {
    const bool last = open_sessions.load(std::memory_order_acquire) <= 1 && !has_world();
    if (last) {
        finish_freed();
        print_statistics(-1);
    } else {
        progress_freed();
    }
    const int rc = next(session);
    if (rc != MPI_SUCCESS) return rc;
    open_sessions.fetch_sub(1, std::memory_order_acq_rel);
    if (last) forget_all();
    return rc;
}
#endif

} // namespace ucd_mpi
