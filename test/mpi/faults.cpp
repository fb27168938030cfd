// Run by two processes: programs that are wrong, and errors that right programs get. What it says
// must be the same with libucd-mpi-preload and without.
//
//     faults DIRECTORY GROUP [handler]     with an error handler; else errors are returned
//     faults DIRECTORY ENDING              how a process ends early: see `endings` below
//
// With UCD_TEST_DEVICE, buffers of messages are in the memory of that device.
//
// Each process writes to a file DIRECTORY/RANK: launchers mix the lines of processes.

#include "mpi/faults.hpp"

#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <map>

namespace ucdtest {
namespace {

int calls_of_handler = 0;
std::FILE *output = nullptr;

void on_error(MPI_Comm *, int *, ...) {
    ++calls_of_handler;
}

} // namespace

Third::Third(int n)
    : n_(n), ints_(static_cast<std::size_t>(3 * n), -1),
      placed_(ints_.data(), ints_.size() * sizeof(int), true) {
    MPI_OK(MPI_Type_vector(n, 1, 3, MPI_INT, &datatype));
    MPI_OK(MPI_Type_commit(&datatype));
    if (n < 700 || has_device()) return;
    std::vector<int> packed(static_cast<std::size_t>(n));
    const int size = n * static_cast<int>(sizeof(int));
    for (int moved = 0; moved < (9 << 17); moved += size) {
        int position = 0;
        MPI_OK(MPI_Pack(data(), 1, datatype, packed.data(), size, &position, MPI_COMM_SELF));
    }
}

Third::~Third() {
    free_type();
}

void Third::free_type() {
    if (datatype != MPI_DATATYPE_NULL) MPI_Type_free(&datatype);
}

void Third::clear() {
    ints_.assign(ints_.size(), -1);
    placed_.store();
}

void Third::fill(int first) {
    placed_.fetch();
    for (int i = 0; i < n_; ++i) ints_[static_cast<std::size_t>(3 * i)] = first + i;
    placed_.store();
}

bool Third::has(int first, int n) const {
    placed_.fetch();
    for (std::size_t i = 0; i < ints_.size(); ++i) {
        const int at = static_cast<int>(i / 3);
        if (ints_[i] != (i % 3 == 0 && at < n ? first + at : -1)) return false;
    }
    return true;
}

void say(const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::fprintf(output, "%s\n", text);
    std::fflush(output);
}

std::string error_name(int code) {
    int found = 0;
    MPI_Error_class(code, &found);
    static const std::map<int, const char *> names = {
        {MPI_SUCCESS, "no error"},
        {MPI_ERR_BUFFER, "MPI_ERR_BUFFER"},
        {MPI_ERR_COUNT, "MPI_ERR_COUNT"},
        {MPI_ERR_TYPE, "MPI_ERR_TYPE"},
        {MPI_ERR_TAG, "MPI_ERR_TAG"},
        {MPI_ERR_COMM, "MPI_ERR_COMM"},
        {MPI_ERR_RANK, "MPI_ERR_RANK"},
        {MPI_ERR_REQUEST, "MPI_ERR_REQUEST"},
        {MPI_ERR_ROOT, "MPI_ERR_ROOT"},
        {MPI_ERR_ARG, "MPI_ERR_ARG"},
        {MPI_ERR_OTHER, "MPI_ERR_OTHER"},
        {MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE"},
        {MPI_ERR_INTERN, "MPI_ERR_INTERN"},
        {MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS"},
        {MPI_ERR_PENDING, "MPI_ERR_PENDING"},
    };
    const auto name = names.find(found);
    return name != names.end() ? name->second : "class " + std::to_string(found);
}

int handler_calls() {
    const int calls = calls_of_handler;
    calls_of_handler = 0;
    return calls;
}

namespace {

void use_handler(MPI_Comm_errhandler_function *function) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_OK(MPI_Comm_create_errhandler(function, &handler));
    MPI_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    MPI_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    MPI_OK(MPI_Errhandler_free(&handler));
}

// Process 1 gets a message that is too long, by MPI_Waitall, while the others wait for an answer.
void truncate_one() {
    Third longer(1000), shorter(700);
    if (rank == 0) {
        MPI_Send(longer.data(), 1, longer.datatype, 1, 0, MPI_COMM_WORLD);
        MPI_Send(shorter.data(), 1, shorter.datatype, 1, 5, MPI_COMM_WORLD);
    }
    if (rank != 1) {
        MPI_Recv(longer.data(), 1, longer.datatype, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Request requests[2];
        MPI_Irecv(shorter.data(), 1, shorter.datatype, 0, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(shorter.data(), 1, shorter.datatype, 0, 5, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    say("nothing has ended this process");
}

void fatal() {
    MPI_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    truncate_one();
}

void abort_on_error(MPI_Comm *comm, int *code, ...) {
    say("the handler aborts: %s", error_name(*code).c_str());
    MPI_Abort(*comm, 6);
}
void handler_aborts() {
    use_handler(abort_on_error);
    truncate_one();
}

void exit_on_error(MPI_Comm *, int *code, ...) {
    say("the handler exits: %s", error_name(*code).c_str());
    std::exit(7);
}
void handler_exits() {
    use_handler(exit_on_error);
    truncate_one();
}

// The callback of a type's attribute ends process 1, while another type is used by a request.
void callback_ends(MPI_Type_delete_attr_function *function) {
    Third third(1000), other(700);
    int key = MPI_KEYVAL_INVALID;
    MPI_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, function, &key, nullptr));
    MPI_OK(MPI_Type_set_attr(third.datatype, key, nullptr));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_OK(MPI_Irecv(other.data(), 1, other.datatype, rank, 9, MPI_COMM_WORLD, &request));
    if (rank != 1)
        MPI_Recv(third.data(), 1, third.datatype, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    third.free_type();
    say("nothing has ended this process");
}

void attribute_aborts() {
    callback_ends([](MPI_Datatype, int, void *, void *) -> int {
        say("the callback aborts");
        return MPI_Abort(MPI_COMM_WORLD, 8);
    });
}

void attribute_exits() {
    callback_ends([](MPI_Datatype, int, void *, void *) -> int {
        say("the callback exits");
        std::exit(9);
    });
}

// Called by MPI_Finalize, before anything else.
void attribute_of_self_aborts() {
    int key = MPI_KEYVAL_INVALID;
    MPI_OK(MPI_Comm_create_keyval(
        MPI_COMM_NULL_COPY_FN,
        [](MPI_Comm, int, void *, void *) -> int {
            say("the callback of MPI_COMM_SELF aborts");
            return MPI_Abort(MPI_COMM_WORLD, 10);
        },
        &key, nullptr));
    if (rank == 1) MPI_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr));
    auto *const third = new Third(1000);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_OK(MPI_Irecv(third->data(), 1, third->datatype, rank, 9, MPI_COMM_WORLD, &request));
    MPI_Finalize();
    say("nothing has ended this process");
}

// Nothing is waited for or freed, but all that was sent is received.
void nothing_is_completed() {
    for (int i = 0; i < 10; ++i) {
        auto *const third = new Third(700 + i), *const other = new Third(700 + i);
        MPI_Request requests[5];
        third->fill(i);
        MPI_OK(
            MPI_Isend(third->data(), 1, third->datatype, peer(), i, MPI_COMM_WORLD, &requests[0]));
        MPI_OK(MPI_Recv(other->data(), 1, other->datatype, peer(), i, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        CHECK(other->has(i));
        MPI_OK(MPI_Irecv(other->data(), 1, other->datatype, peer(), 100 + i, MPI_COMM_WORLD,
                         &requests[1]));
        MPI_OK(MPI_Send_init(third->data(), 1, third->datatype, peer(), i, MPI_COMM_WORLD,
                             &requests[2]));
        MPI_OK(MPI_Recv_init(third->data(), 1, third->datatype, peer(), 100 + i, MPI_COMM_WORLD,
                             &requests[3]));
        MPI_OK(MPI_Start(&requests[3]));
        MPI_OK(MPI_Irecv(third->data(), 1, third->datatype, peer(), 200, MPI_COMM_WORLD,
                         &requests[4]));
        MPI_OK(MPI_Request_free(&requests[4]));
    }
    say("before MPI_Finalize");
    MPI_Finalize();
    say("after MPI_Finalize");
}

// Process 1 is killed while the others wait for it.
void killed_in(void (*wait)(Third &third, MPI_Request *request)) {
    Third third(1000);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1) {
        say("killed");
        std::raise(SIGKILL);
    }
    wait(third, &request);
    say("nothing has ended this process");
}

void killed_receive() {
    killed_in([](Third &third, MPI_Request *) {
        MPI_Recv(third.data(), 1, third.datatype, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
}
void killed_wait() {
    killed_in([](Third &third, MPI_Request *request) {
        MPI_Irecv(third.data(), 1, third.datatype, 1, 1, MPI_COMM_WORLD, request);
        MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
    });
}
void killed_collective() {
    killed_in([](Third &third, MPI_Request *) {
        MPI_Bcast(third.data(), 1, third.datatype, 1, MPI_COMM_WORLD);
    });
}
// The request that was freed is waited for in MPI_Finalize.
void killed_freed() {
    killed_in([](Third &third, MPI_Request *request) {
        MPI_Issend(third.data(), 1, third.datatype, 1, 1, MPI_COMM_WORLD, request);
        MPI_Request_free(request);
        MPI_Finalize();
    });
}

const std::map<std::string, void (*)()> groups = {
    {"arguments", wrong_arguments},    {"truncation", truncated_messages},
    {"cancelled", cancelled_receives}, {"types", freed_under_way},
    {"requests", freed_requests},      {"leaks", nothing_is_leaked},
};
const std::map<std::string, void (*)()> endings = {
    {"fatal", fatal},
    {"handler-aborts", handler_aborts},
    {"handler-exits", handler_exits},
    {"attribute-aborts", attribute_aborts},
    {"attribute-exits", attribute_exits},
    {"self-aborts", attribute_of_self_aborts},
    {"never-completed", nothing_is_completed},
    {"killed-receive", killed_receive},
    {"killed-wait", killed_wait},
    {"killed-collective", killed_collective},
    {"killed-freed", killed_freed},
};

} // namespace
} // namespace ucdtest

int main(int argc, char **argv) {
    using namespace ucdtest;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(argc > 2);
    output = std::fopen((std::string(argv[1]) + "/" + std::to_string(rank)).c_str(), "w");
    CHECK(output != nullptr);
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    current = argv[2];
    if (const auto ending = endings.find(current); ending != endings.end()) {
        ending->second();
        return 0;
    }
    CHECK(groups.contains(current));
    if (argc > 3 && std::strcmp(argv[3], "handler") == 0) use_handler(on_error);
    groups.at(current)();
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    MPI_OK(MPI_Finalize());
    say("all of %s", argv[2]);
    return 0;
}
