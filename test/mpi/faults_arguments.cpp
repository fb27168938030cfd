#include "mpi/faults.hpp"

#include <functional>

namespace ucdtest {
namespace {

struct Arguments {
    void *buffer;
    int count;
    MPI_Datatype datatype;
    int peer, tag;
    MPI_Comm comm;
};
MPI_Request started = MPI_REQUEST_NULL;
std::vector<int> other(3000), packed(3000);

struct Function {
    const char *name;
    enum { has_peer, has_root, at_root, symmetric } kind; // at_root: only the root looks
    std::function<int(const Arguments &)> call;
};

// To this process itself, so that processes need not agree. A call that MPI does not refuse is
// complete at once.
int nonblocking(int rc) {
    if (rc == MPI_SUCCESS && started != MPI_REQUEST_NULL) MPI_Request_free(&started);
    started = MPI_REQUEST_NULL;
    return rc;
}

template <class Send>
Function sends(const char *name, Send send) {
    return {name, Function::has_peer, [send](const Arguments &a) {
                return send(a.buffer, a.count, a.datatype, a.peer, a.tag, a.comm);
            }};
}
template <class Isend>
Function isends(const char *name, Isend isend) {
    return {name, Function::has_peer, [isend](const Arguments &a) {
                return nonblocking(
                    isend(a.buffer, a.count, a.datatype, a.peer, a.tag, a.comm, &started));
            }};
}
// Of the form of MPI_Gather, MPI_Scatter.
template <class Call>
Function gathers(const char *name, bool is_sent, bool only_root, Call call) {
    return {name, only_root ? Function::at_root : Function::has_root,
            [is_sent, call](const Arguments &a) {
                return is_sent ? call(a.buffer, a.count, a.datatype, other.data(), 1000, MPI_INT,
                                      a.peer, a.comm)
                               : call(other.data(), 1000, MPI_INT, a.buffer, a.count, a.datatype,
                                      a.peer, a.comm);
            }};
}
// Of the form of MPI_Allgather, MPI_Alltoall.
template <class Call>
Function exchanges(const char *name, bool is_sent, Call call) {
    return {
        name, Function::symmetric, [is_sent, call](const Arguments &a) {
            return is_sent
                       ? call(a.buffer, a.count, a.datatype, other.data(), 1000, MPI_INT, a.comm)
                       : call(other.data(), 1000, MPI_INT, a.buffer, a.count, a.datatype, a.comm);
        }};
}

std::vector<Function> all_functions() {
    std::vector<Function> all = {
        sends("MPI_Send", MPI_Send),
        sends("MPI_Ssend", MPI_Ssend),
        sends("MPI_Bsend", MPI_Bsend),
        sends("MPI_Rsend", MPI_Rsend),
        isends("MPI_Isend", MPI_Isend),
        isends("MPI_Issend", MPI_Issend),
        isends("MPI_Ibsend", MPI_Ibsend),
        isends("MPI_Irsend", MPI_Irsend),
        isends("MPI_Send_init", MPI_Send_init),
        isends("MPI_Ssend_init", MPI_Ssend_init),
        isends("MPI_Bsend_init", MPI_Bsend_init),
        isends("MPI_Rsend_init", MPI_Rsend_init),
        isends("MPI_Irecv", MPI_Irecv),
        isends("MPI_Recv_init", MPI_Recv_init),
        sends("MPI_Recv",
              [](void *b, int n, MPI_Datatype d, int peer, int tag, MPI_Comm comm) {
                  return MPI_Recv(b, n, d, peer, tag, comm, MPI_STATUS_IGNORE);
              }),
        sends("MPI_Sendrecv, sent",
              [](void *b, int n, MPI_Datatype d, int peer, int tag, MPI_Comm comm) {
                  return MPI_Sendrecv(b, n, d, peer, tag, other.data(), 3000, MPI_INT, peer, 0,
                                      comm, MPI_STATUS_IGNORE);
              }),
        sends("MPI_Sendrecv, received",
              [](void *b, int n, MPI_Datatype d, int peer, int tag, MPI_Comm comm) {
                  return MPI_Sendrecv(other.data(), 100, MPI_INT, rank, 0, b, n, d, peer, tag, comm,
                                      MPI_STATUS_IGNORE);
              }),
        sends("MPI_Sendrecv_replace",
              [](void *b, int n, MPI_Datatype d, int peer, int tag, MPI_Comm comm) {
                  return MPI_Sendrecv_replace(b, n, d, peer, tag, peer, tag, comm,
                                              MPI_STATUS_IGNORE);
              }),
        gathers("MPI_Gather, sent", true, false, MPI_Gather),
        gathers("MPI_Gather, received", false, true, MPI_Gather),
        gathers("MPI_Scatter, sent", true, true, MPI_Scatter),
        gathers("MPI_Scatter, received", false, false, MPI_Scatter),
        exchanges("MPI_Allgather, sent", true, MPI_Allgather),
        exchanges("MPI_Allgather, received", false, MPI_Allgather),
        exchanges("MPI_Alltoall, sent", true, MPI_Alltoall),
        exchanges("MPI_Alltoall, received", false, MPI_Alltoall),
    };
    all.push_back({"MPI_Bcast", Function::has_root, [](const Arguments &a) {
                       return MPI_Bcast(a.buffer, a.count, a.datatype, a.peer, a.comm);
                   }});
    all.push_back({"MPI_Ibcast", Function::has_root, [](const Arguments &a) {
                       return nonblocking(
                           MPI_Ibcast(a.buffer, a.count, a.datatype, a.peer, a.comm, &started));
                   }});
    all.push_back({"MPI_Pack", Function::symmetric, [](const Arguments &a) {
                       int position = 0;
                       return MPI_Pack(a.buffer, a.count, a.datatype, packed.data(), 12000,
                                       &position, a.comm);
                   }});
    all.push_back({"MPI_Unpack", Function::symmetric, [](const Arguments &a) {
                       int position = 0;
                       return MPI_Unpack(packed.data(), 12000, &position, a.buffer, a.count,
                                         a.datatype, a.comm);
                   }});
    return all;
}

void report(const Function &function, const char *what, const Arguments &arguments) {
    current = std::string(function.name) + ": " + what;
    handler_calls();
    const int rc = function.call(arguments);
    const int calls = handler_calls();
    say("%s: %s, handler: %d", current.c_str(), error_name(rc).c_str(), calls);
}

// Open MPI does not look at some arguments, and reads what is not there.
bool is_looked_at(const Function &function, const std::string &what) {
#ifdef OPEN_MPI
    const std::string name = function.name;
    if ((what == "uncommitted" || what == "type that was not set") &&
        name.find("_init") != std::string::npos)
        return false;
    if (what == "buffer" && name == "MPI_Sendrecv_replace") return false;
    if (what == "buffer" && OMPI_MAJOR_VERSION >= 5) return false; // those with GPU support
    const bool packs = name == "MPI_Pack" || name == "MPI_Unpack";
    if (function.kind != Function::has_peer && !packs)
        return (what == "type" && name != "MPI_Scatter, sent") ||
               what.find("process") != std::string::npos;
#endif
    return function.name != what;
}

// Arguments that are wrong beside buffer, count and type.
void wrong_positions() {
    Third third(1000);
    MPI_Request none = MPI_REQUEST_NULL;
    int processes = 0;
    MPI_OK(MPI_Comm_size(MPI_COMM_WORLD, &processes));
    const auto all = static_cast<std::size_t>(processes);
    std::vector<int> counts(all, 1), displs(all, 0);
    std::vector<MPI_Datatype> types(all, third.datatype);
    const auto report_code = [](const char *what, int rc) {
        say("%s: %s, handler: %d", what, error_name(rc).c_str(), handler_calls());
    };
    handler_calls();
    int position = 0;
    const auto report_room = [&]([[maybe_unused]] const char *what, int rc) {
#ifdef MPI_IS_MPICH // which moves as much as there is room for; in device memory nothing is moved
        CHECK(error_name(rc) == (has_device() ? "MPI_ERR_TRUNCATE" : "no error"));
        handler_calls();
#else
        report_code(what, rc);
#endif
        position = 0;
    };
    report_room("MPI_Pack, no room", MPI_Pack(third.data(), 1, third.datatype, packed.data(), 3999,
                                              &position, MPI_COMM_WORLD));
    report_room("MPI_Unpack, no room", MPI_Unpack(packed.data(), 3999, &position, third.data(), 1,
                                                  third.datatype, MPI_COMM_WORLD));
    report_code("MPI_Pack, negative size", MPI_Pack(third.data(), 1, third.datatype, packed.data(),
                                                    -1, &position, MPI_COMM_WORLD));
    report_code("MPI_Unpack, negative size", MPI_Unpack(packed.data(), -1, &position, third.data(),
                                                        1, third.datatype, MPI_COMM_WORLD));
    CHECK(position == 0);
    report_code("MPI_Start of no request", MPI_Start(&none));
    report_code("MPI_Request_free of no request", MPI_Request_free(&none));
    for (std::size_t i = 0; i < all; ++i) {
        counts[i] = -1;
        report_code("MPI_Alltoallw, count",
                    MPI_Alltoallw(third.data(), counts.data(), displs.data(), types.data(),
                                  other.data(), counts.data(), displs.data(), types.data(),
                                  MPI_COMM_WORLD));
        counts[i] = 1;
        types[i] = MPI_DATATYPE_NULL;
        report_code("MPI_Alltoallw, type",
                    MPI_Alltoallw(third.data(), counts.data(), displs.data(), types.data(),
                                  other.data(), counts.data(), displs.data(), types.data(),
                                  MPI_COMM_WORLD));
        types[i] = third.datatype;
    }
    // One request that is ours, and one that cannot be started.
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_OK(MPI_Recv_init(third.data(), 1, third.datatype, rank, 50, MPI_COMM_WORLD, &requests[0]));
    report_code("MPI_Startall with no request", MPI_Startall(2, requests));
    MPI_Request_free(&requests[0]);
    MPI_OK(MPI_Irecv(third.data(), 1, third.datatype, rank, 51, MPI_COMM_WORLD, &requests[0]));
    report_code("MPI_Waitall with -1 requests", MPI_Waitall(-1, requests, MPI_STATUSES_IGNORE));
#ifdef MPI_IS_MPICH // which looks at pointers
    report_code("MPI_Wait without a request", MPI_Wait(nullptr, MPI_STATUS_IGNORE));
    report_code("MPI_Waitall without requests", MPI_Waitall(2, nullptr, MPI_STATUSES_IGNORE));
    report_code("MPI_Test without a flag", MPI_Test(&requests[0], nullptr, MPI_STATUS_IGNORE));
    report_code("MPI_Request_free without a request", MPI_Request_free(nullptr));
    report_code("MPI_Start without a request", MPI_Start(nullptr));
#endif
    MPI_OK(MPI_Cancel(&requests[0]));
    MPI_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
}

} // namespace

void wrong_arguments() {
    Third third(1000);
    MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
    MPI_OK(MPI_Type_vector(1000, 1, 3, MPI_INT, &uncommitted));
    for (const Function &function : all_functions()) {
        if (function.kind == Function::at_root && rank != 0) continue;
        const int peer = function.kind == Function::has_peer ? rank : 0;
        const Arguments right = {third.data(), 1, third.datatype, peer, 0, MPI_COMM_WORLD};
        const auto with = [&](const char *what, auto change) {
            Arguments arguments = right;
            change(arguments);
            if (is_looked_at(function, what)) report(function, what, arguments);
        };
        with("count", [](Arguments &a) { a.count = -1; });
        with("type", [](Arguments &a) { a.datatype = MPI_DATATYPE_NULL; });
        with("type that was not set", [](Arguments &a) { a.datatype = MPI_Datatype{}; });
        with("uncommitted", [&](Arguments &a) { a.datatype = uncommitted; });
        with("buffer", [](Arguments &a) { a.buffer = nullptr; });
        with("communicator", [](Arguments &a) { a.comm = MPI_COMM_NULL; });
        if (function.kind != Function::symmetric) {
            with("process", [](Arguments &a) { a.peer = 77; });
            with("negative process", [](Arguments &a) { a.peer = -77; });
        }
        if (function.kind == Function::has_peer) with("tag", [](Arguments &a) { a.tag = -5; });
    }
    current = "arguments of their own";
    wrong_positions();
    MPI_OK(MPI_Type_free(&uncommitted));
}

} // namespace ucdtest
