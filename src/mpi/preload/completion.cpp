#include "preload/completion.h"

#include "preload/world.h"

#include <atomic>
#include <mutex>
#include <new>
#include <optional>
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

// There was no memory before MPI was called: every request is as it was.
int out_of_memory() {
    return has_world() ? raise_error(MPI_COMM_WORLD, MPI_ERR_NO_MEM) : MPI_ERR_NO_MEM;
}

int first_error(int rc, int other) {
    return rc != MPI_SUCCESS ? rc : other;
}

// One counts the sessions that MPI has, the other those of them that no thread is ending.
std::atomic<int> open_sessions{0}, sessions_to_end{0};
// A session that has begun is counted before all is forgotten, or is first used after that.
std::mutex counting;

// Called when MPI ends: MPI may use the same handles again after that.
void forget_all() {
    forget_operations();
    forget_types();
}

// A call that completes one of the requests, or looks at it: `index` is which one, and `flag`
// whether, if not null. `next(status)` calls MPI.
template <class Next>
int one(Next next, int count, const MPI_Request *requests, MPI_Status *status, const int *index,
        const int *flag) {
    MPI_Status own = {};
    MPI_Status *const used = status != MPI_STATUS_IGNORE ? status : &own;
    std::optional<Completion> completion;
    try {
        completion.emplace(count, requests);
    } catch (const std::bad_alloc &) {
        return out_of_memory();
    }
    int rc = next(completion->any() ? used : status);
    const int i = index != nullptr ? *index : 0;
    if (completion->any() && rc == MPI_SUCCESS && (flag == nullptr || *flag != 0) &&
        i != MPI_UNDEFINED) {
        rc = completion->settle(i, rc, *used);
        rc = first_error(rc, completion->deliver_on_device());
    }
    progress_freed();
    return rc;
}

// Does the same for several requests: all of `count`, or those at `indices` if not null, of which
// there are `*completed`. `next(statuses)` calls MPI.
template <class Next>
int several(Next next, int count, const MPI_Request *requests, MPI_Status *statuses,
            const int *flag, const int *completed = nullptr, const int *indices = nullptr) {
    std::optional<Statuses> array;
    std::optional<Completion> completion;
    try {
        array.emplace(has_operations() ? count : 0, statuses);
        completion.emplace(count, requests); // last, because it takes operations
    } catch (const std::bad_alloc &) {
        return out_of_memory();
    }
    if (!completion->any()) {
        const int rc = next(statuses);
        progress_freed();
        return rc;
    }
    const Statuses &used = *array;
    const int rc = next(used.get());
    progress_freed();
    if ((rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS) ||
        (rc == MPI_SUCCESS && flag != nullptr && *flag == 0))
        return rc;
    if (completed != nullptr) count = *completed != MPI_UNDEFINED ? *completed : 0;
    int delivered = MPI_SUCCESS;
    for (int i = 0; i < count; ++i) {
        const int error = rc == MPI_SUCCESS ? MPI_SUCCESS : used[i].MPI_ERROR;
        if (error == MPI_ERR_PENDING) continue;
        const int request = indices != nullptr ? indices[i] : i;
        delivered = first_error(delivered, completion->settle(request, error, used[i]));
    }
    delivered = first_error(delivered, completion->deliver_on_device());
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
    return one([&](MPI_Status *s) { return next(request, s); }, 1, request, status, nullptr,
               nullptr);
}

int test(int (*next)(MPI_Request *, int *, MPI_Status *), MPI_Request *request, int *flag,
         MPI_Status *status) {
    return one([&](MPI_Status *s) { return next(request, flag, s); }, 1, request, status, nullptr,
               flag);
}

int wait_all(int (*next)(int, MPI_Request *, MPI_Status *), int count, MPI_Request *requests,
             MPI_Status *statuses) {
    return several([&](MPI_Status *s) { return next(count, requests, s); }, count, requests,
                   statuses, nullptr);
}

int test_all(int (*next)(int, MPI_Request *, int *, MPI_Status *), int count, MPI_Request *requests,
             int *flag, MPI_Status *statuses) {
    return several([&](MPI_Status *s) { return next(count, requests, flag, s); }, count, requests,
                   statuses, flag);
}

int wait_any(int (*next)(int, MPI_Request *, int *, MPI_Status *), int count, MPI_Request *requests,
             int *index, MPI_Status *status) {
    return one([&](MPI_Status *s) { return next(count, requests, index, s); }, count, requests,
               status, index, nullptr);
}

int test_any(int (*next)(int, MPI_Request *, int *, int *, MPI_Status *), int count,
             MPI_Request *requests, int *index, int *flag, MPI_Status *status) {
    return one([&](MPI_Status *s) { return next(count, requests, index, flag, s); }, count,
               requests, status, index, flag);
}

int complete_some(int (*next)(int, MPI_Request *, int *, int *, MPI_Status *), int count,
                  MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses) {
    return several([&](MPI_Status *s) { return next(count, requests, completed, indices, s); },
                   count, requests, statuses, nullptr, completed, indices);
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
    return one([&](MPI_Status *s) { return next(request, flag, s); }, 1, &request, status, nullptr,
               flag);
}

int request_get_status_all(int (*next)(int, const MPI_Request *, int *, MPI_Status *), int count,
                           const MPI_Request *requests, int *flag, MPI_Status *statuses) {
    return several([&](MPI_Status *s) { return next(count, requests, flag, s); }, count, requests,
                   statuses, flag);
}

int request_get_status_any(int (*next)(int, const MPI_Request *, int *, int *, MPI_Status *),
                           int count, const MPI_Request *requests, int *index, int *flag,
                           MPI_Status *status) {
    return one([&](MPI_Status *s) { return next(count, requests, index, flag, s); }, count,
               requests, status, index, flag);
}

int request_get_status_some(int (*next)(int, const MPI_Request *, int *, int *, MPI_Status *),
                            int count, const MPI_Request *requests, int *completed, int *indices,
                            MPI_Status *statuses) {
    return several([&](MPI_Status *s) { return next(count, requests, completed, indices, s); },
                   count, requests, statuses, nullptr, completed, indices);
}

int finalize(int (*next)()) {
    int rank = -1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    finish_freed();
    print_statistics(rank);
    const int rc = next();
    const std::lock_guard lock(counting);
    if (rc == MPI_SUCCESS && open_sessions.load(std::memory_order_acquire) == 0) forget_all();
    return rc;
}

int session_init(int (*next)(MPI_Info, MPI_Errhandler, MPI_Session *), MPI_Info info,
                 MPI_Errhandler errhandler, MPI_Session *session) {
    const int rc = next(info, errhandler, session);
    if (rc == MPI_SUCCESS) {
        const std::lock_guard lock(counting);
        open_sessions.fetch_add(1, std::memory_order_acq_rel);
        sessions_to_end.fetch_add(1, std::memory_order_acq_rel);
    }
    return rc;
}

int session_finalize(int (*next)(MPI_Session *), MPI_Session *session) {
    // Counted before MPI ends the session, so that of several threads one is the last.
    if (sessions_to_end.fetch_sub(1, std::memory_order_acq_rel) <= 1 && !has_world()) {
        finish_freed();
        print_statistics(-1);
    } else {
        progress_freed();
    }
    const int rc = next(session);
    if (rc != MPI_SUCCESS) {
        sessions_to_end.fetch_add(1, std::memory_order_acq_rel);
        return rc;
    }
    // Counted after that, because another session may have begun meanwhile.
    const std::lock_guard lock(counting);
    if (open_sessions.fetch_sub(1, std::memory_order_acq_rel) == 1 && !has_world()) forget_all();
    return rc;
}

} // namespace ucd_mpi
