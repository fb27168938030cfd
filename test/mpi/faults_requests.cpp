#include "mpi/faults.hpp"

#include <malloc.h>

namespace ucdtest {
namespace {

// Both are sent in this order: to be received, to be truncated, to be received.
constexpr int small = 1000, large = 90000; // by the eager protocol of MPI, and by the other

void say_code(const char *what, int rc) {
    say("%s: %s, handler: %d", what, error_name(rc).c_str(), handler_calls());
}

// A message of `n` ints for each of some tags, to the other process of the pair.
void send_tags(int n, int tags) {
    for (int tag = 0; tag < tags; ++tag) {
        Third third(n);
        third.fill(tag);
        MPI_OK(MPI_Send(third.data(), 1, third.datatype, peer(), tag, MPI_COMM_WORLD));
    }
}

// Requests for messages of which the one in the middle does not fit.
struct Three {
    explicit Three(int n) : first(n), middle(n - 300), last(n) {
        Third *const all[] = {&first, &middle, &last};
        for (int i = 0; i < 3; ++i)
            MPI_OK(MPI_Irecv(all[i]->data(), 1, all[i]->datatype, peer(), i, MPI_COMM_WORLD,
                             &requests[i]));
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    // The others arrive as a whole. What was pending after the error is waited for.
    void check() {
        for (MPI_Request &request : requests)
            if (request != MPI_REQUEST_NULL) MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(first.has(0) && last.has(2));
    }
    Third first, middle, last;
    MPI_Request requests[3];
    MPI_Status statuses[3];
};

void truncated_in_lists(int n) {
    enum { waitall, testall, waitall_ignored, waitsome, testsome, waitany, testany, ways };
    static const char *const names[ways] = {
        "MPI_Waitall",  "MPI_Testall",  "MPI_Waitall without statuses",
        "MPI_Waitsome", "MPI_Testsome", "MPI_Waitany",
        "MPI_Testany"};
    for (int way = 0; way < ways; ++way) {
        current = std::string("truncated: ") + names[way];
        if (is_first_of_pair()) {
            MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
            send_tags(n, 3);
            continue;
        }
        Three three(n);
        std::string codes;
        int flag = 0, left = 3, done = 0, index = 0, indices[3], worst = MPI_SUCCESS;
        switch (way) {
        case waitall: worst = MPI_Waitall(3, three.requests, three.statuses); break;
        case testall:
            while (flag == 0 && worst == MPI_SUCCESS)
                worst = MPI_Testall(3, three.requests, &flag, three.statuses);
            break;
        case waitall_ignored: worst = MPI_Waitall(3, three.requests, MPI_STATUSES_IGNORE); break;
        case waitsome:
        case testsome:
            while (left > 0) {
                const int rc = (way == waitsome ? MPI_Waitsome : MPI_Testsome)(
                    3, three.requests, &done, indices, three.statuses);
                if (rc != MPI_SUCCESS) worst = rc;
                left -= done;
            }
            break;
        default:
            while (left > 0) {
                flag = 1;
                const int rc = way == waitany
                                   ? MPI_Waitany(3, three.requests, &index, three.statuses)
                                   : MPI_Testany(3, three.requests, &index, &flag, three.statuses);
                if (rc != MPI_SUCCESS) {
                    worst = rc;
                    codes += std::to_string(index);
                }
                left -= flag;
            }
        }
        if (way == waitall || way == testall) {
            codes = error_name(three.statuses[1].MPI_ERROR);
            for (const int i : {0, 2}) {
                const int error = three.statuses[i].MPI_ERROR;
                CHECK(error == MPI_SUCCESS || error == MPI_ERR_PENDING);
            }
        }
        say_code((current + " of " + std::to_string(n) + " " + codes).c_str(), worst);
        three.check();
    }
}

void truncated_one_by_one(int n) {
    current = "truncated, one by one";
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (is_first_of_pair()) return send_tags(n, 9);
    Third third(n), shorter(n - 300);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int flag = 0;
    const auto start = [&](int tag) {
        MPI_OK(
            MPI_Irecv(shorter.data(), 1, shorter.datatype, peer(), tag, MPI_COMM_WORLD, &request));
    };
    say_code("MPI_Recv",
             MPI_Recv(shorter.data(), 1, shorter.datatype, peer(), 0, MPI_COMM_WORLD, &status));
    say("from %d, tag %d", status.MPI_SOURCE, status.MPI_TAG);
    say_code("MPI_Recv", MPI_Recv(shorter.data(), 1, shorter.datatype, peer(), 1, MPI_COMM_WORLD,
                                  MPI_STATUS_IGNORE));
    start(2);
    say_code("MPI_Wait", MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL);
    start(3);
    int rc = MPI_SUCCESS;
    while (flag == 0 && rc == MPI_SUCCESS) rc = MPI_Test(&request, &flag, &status);
    say_code("MPI_Test", rc);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_OK(MPI_Mprobe(peer(), 4, MPI_COMM_WORLD, &message, &status));
    say_code("MPI_Mrecv", MPI_Mrecv(shorter.data(), 1, shorter.datatype, &message, &status));
    MPI_OK(MPI_Mprobe(peer(), 5, MPI_COMM_WORLD, &message, &status));
    MPI_OK(MPI_Imrecv(shorter.data(), 1, shorter.datatype, &message, &request));
    say_code("MPI_Imrecv", MPI_Wait(&request, &status));
    // A persistent request is used again after the error.
    MPI_OK(MPI_Recv_init(shorter.data(), 1, shorter.datatype, peer(), 6, MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Start(&request));
    say_code("MPI_Start", MPI_Wait(&request, &status));
    say("the request is %s", request == MPI_REQUEST_NULL ? "freed" : "kept");
    if (request != MPI_REQUEST_NULL) MPI_OK(MPI_Request_free(&request));
    flag = 0;
    start(7);
    rc = MPI_SUCCESS;
    while (flag == 0 && rc == MPI_SUCCESS) rc = MPI_Request_get_status(request, &flag, &status);
    say_code("MPI_Request_get_status", rc);
    say_code("MPI_Wait after it", MPI_Wait(&request, &status));
    third.clear();
    MPI_OK(MPI_Recv(third.data(), 1, third.datatype, peer(), 8, MPI_COMM_WORLD, &status));
    CHECK(third.has(8));
}

void truncated_persistent_again() {
    current = "a persistent request after an error";
    Third longer(1000), third(700);
    MPI_Request request = MPI_REQUEST_NULL;
    if (is_first_of_pair()) {
        longer.fill(1);
        third.fill(2);
        MPI_OK(MPI_Send(longer.data(), 1, longer.datatype, peer(), 0, MPI_COMM_WORLD));
        MPI_OK(MPI_Send(third.data(), 1, third.datatype, peer(), 0, MPI_COMM_WORLD));
        return;
    }
    MPI_OK(MPI_Recv_init(third.data(), 1, third.datatype, peer(), 0, MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Startall(1, &request));
    say_code("MPI_Startall", MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
    say("the request is %s", request == MPI_REQUEST_NULL ? "freed" : "kept");
    third.clear();
    // If it is freed, another one may be at the same place: with a buffer of its own.
    if (request == MPI_REQUEST_NULL) {
        std::vector<int> ints(700);
        MPI_OK(MPI_Recv_init(ints.data(), 700, MPI_INT, peer(), 0, MPI_COMM_WORLD, &request));
        MPI_OK(MPI_Start(&request));
        MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(ints[0] == 2 && ints[699] == 701 && third.has(0, 0));
    } else {
        MPI_OK(MPI_Startall(1, &request));
        MPI_OK(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
        CHECK(third.has(2));
    }
    MPI_OK(MPI_Request_free(&request));
}

void truncated_both_ways() {
    current = "MPI_Sendrecv, truncated";
    Third longer(1000), shorter(700);
    MPI_Status status;
    longer.fill(rank);
    say_code("MPI_Sendrecv",
             MPI_Sendrecv(longer.data(), 1, longer.datatype, peer(), 0, shorter.data(), 1,
                          shorter.datatype, peer(), 0, MPI_COMM_WORLD, &status));
    say_code("MPI_Sendrecv",
             MPI_Sendrecv(longer.data(), 1, longer.datatype, peer(), 0, shorter.data(), 1,
                          shorter.datatype, peer(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    // The first of a pair receives less than there is room for, and the second more.
    Third &mine = is_first_of_pair() ? longer : shorter;
    say_code("MPI_Sendrecv_replace", MPI_Sendrecv_replace(mine.data(), 1, mine.datatype, peer(), 1,
                                                          peer(), 1, MPI_COMM_WORLD, &status));
}

} // namespace

void truncated_messages() {
    for (const int n : {small, large}) {
        truncated_in_lists(n);
        truncated_one_by_one(n);
    }
    truncated_persistent_again();
    truncated_both_ways();
}

void cancelled_receives() {
    Third third(1000), later(1000);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    const auto check_cancelled = [&](const char *what, int rc) {
        int cancelled = -1;
        MPI_OK(rc);
        MPI_OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK(third.has(0, 0));
        say("%s: cancelled: %d", what, cancelled);
    };
    const auto start = [&] {
        MPI_OK(MPI_Irecv(third.data(), 1, third.datatype, peer(), 7, MPI_COMM_WORLD, &request));
        MPI_OK(MPI_Cancel(&request));
    };
    int flag = 0, index = -1, done = 0;
    start();
    check_cancelled("MPI_Wait", MPI_Wait(&request, &status));
    start();
    while (flag == 0) MPI_OK(MPI_Test(&request, &flag, &status));
    check_cancelled("MPI_Test", MPI_SUCCESS);
    start();
    check_cancelled("MPI_Waitall", MPI_Waitall(1, &request, &status));
    start();
    check_cancelled("MPI_Waitany", MPI_Waitany(1, &request, &index, &status));
    start();
    check_cancelled("MPI_Waitsome", MPI_Waitsome(1, &request, &done, &index, &status));
    start();
    flag = 0;
    while (flag == 0) MPI_OK(MPI_Request_get_status(request, &flag, &status));
    check_cancelled("MPI_Request_get_status", MPI_SUCCESS);
    check_cancelled("and MPI_Wait", MPI_Wait(&request, &status));
    start();
    MPI_OK(MPI_Request_free(&request));
    start();
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(third.has(0, 0));
    // A message that has arrived is not cancelled.
    third.fill(5);
    MPI_OK(MPI_Irecv(later.data(), 1, later.datatype, rank, 8, MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Send(third.data(), 1, third.datatype, rank, 8, MPI_COMM_WORLD));
    MPI_OK(MPI_Cancel(&request));
    MPI_OK(MPI_Wait(&request, &status));
    MPI_OK(MPI_Test_cancelled(&status, &flag));
    say("a message that has arrived: cancelled: %d, %s", flag,
        later.has(5) ? "all of it" : "not all of it");
    // A persistent request, cancelled and used again.
    MPI_OK(MPI_Recv_init(later.data(), 1, later.datatype, rank, 9, MPI_COMM_WORLD, &request));
    MPI_OK(MPI_Start(&request));
    MPI_OK(MPI_Cancel(&request));
    MPI_OK(MPI_Wait(&request, &status));
    MPI_OK(MPI_Test_cancelled(&status, &flag));
    later.clear();
    MPI_OK(MPI_Start(&request));
    MPI_OK(MPI_Send(third.data(), 1, third.datatype, rank, 9, MPI_COMM_WORLD));
    MPI_OK(MPI_Wait(&request, &status));
    say("a persistent request: cancelled: %d, then %s", flag,
        later.has(5) ? "all of it" : "not all of it");
    MPI_OK(MPI_Request_free(&request));
}

// Types that are freed as soon as MPI has taken them, in every way.
void freed_under_way() {
    current = "types that are freed while requests use them";
    for (const int n : {small, large}) {
        MPI_Request requests[6];
        Third sent(n), received(n), first(n), second(n), all(n), one(n);
        sent.fill(rank);
        first.fill(10 + rank);
        if (rank == 0) all.fill(20);
        MPI_OK(MPI_Irecv(received.data(), 1, received.datatype, peer(), 0, MPI_COMM_WORLD,
                         &requests[0]));
        MPI_OK(MPI_Recv_init(second.data(), 1, second.datatype, peer(), 1, MPI_COMM_WORLD,
                             &requests[1]));
        received.free_type();
        second.free_type();
        // So processes are late for each other.
        if (is_first_of_pair()) MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
        MPI_OK(MPI_Isend(sent.data(), 1, sent.datatype, peer(), 0, MPI_COMM_WORLD, &requests[2]));
        MPI_OK(MPI_Ssend_init(first.data(), 1, first.datatype, peer(), 1, MPI_COMM_WORLD,
                              &requests[3]));
        sent.free_type();
        first.free_type();
        if (!is_first_of_pair()) MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
        MPI_OK(MPI_Ibcast(all.data(), 1, all.datatype, 0, MPI_COMM_WORLD, &requests[4]));
        MPI_OK(MPI_Issend(sent.data(), 0, MPI_INT, rank, 5, MPI_COMM_WORLD, &requests[5]));
        all.free_type();
        // Types of the same handles, of other layouts.
        Third other(n + 100), another(n + 200);
        MPI_OK(MPI_Recv(nullptr, 0, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int round = 0; round < 3; ++round) {
            MPI_OK(MPI_Start(&requests[1]));
            MPI_OK(MPI_Start(&requests[3]));
            MPI_OK(MPI_Waitall(round == 0 ? 6 : 4, requests, MPI_STATUSES_IGNORE));
            CHECK(received.has(peer()) && second.has(10 + peer()) && all.has(20));
            second.clear();
        }
        for (const int i : {1, 3}) MPI_OK(MPI_Request_free(&requests[i]));
        CHECK(other.has(0, 0) && another.has(0, 0));
    }
}

// Requests that are freed while they are active.
void freed_requests() {
    current = "requests that are freed while they are active";
    for (const int n : {small, large}) {
        MPI_Request request = MPI_REQUEST_NULL;
        // Of the second message, which does not fit, nobody is told. MPICH has no way to ask
        // whether it is complete that does not raise the error.
#ifdef MPI_IS_MPICH
        const int fitting = n;
#else
        const int fitting = n - 300;
#endif
        Third received(n), shorter(fitting), sent(n), last(n);
        sent.fill(4);
        MPI_OK(
            MPI_Irecv(received.data(), 1, received.datatype, peer(), 0, MPI_COMM_WORLD, &request));
        MPI_OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
        MPI_OK(MPI_Irecv(shorter.data(), 1, shorter.datatype, peer(), 1, MPI_COMM_WORLD, &request));
        MPI_OK(MPI_Request_free(&request));
        handler_calls();
        for (int tag = 0; tag < 2; ++tag) {
            MPI_OK(MPI_Isend(sent.data(), 1, sent.datatype, peer(), tag, MPI_COMM_WORLD, &request));
            MPI_OK(MPI_Request_free(&request));
        }
        MPI_OK(MPI_Ssend_init(sent.data(), 1, sent.datatype, peer(), 2, MPI_COMM_WORLD, &request));
        MPI_OK(MPI_Start(&request));
        MPI_OK(MPI_Request_free(&request));
        MPI_OK(
            MPI_Recv(last.data(), 1, last.datatype, peer(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(last.has(4));
        // MPI does not say when the first one is complete: at the latest after some more messages.
        for (int i = 0; i < 1000 && !received.has(4); ++i) {
            int flag = 0;
            MPI_OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            MPI_OK(MPI_Sendrecv(nullptr, 0, MPI_INT, rank, 3, nullptr, 0, MPI_INT, rank, 3,
                                MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        CHECK(received.has(4));
        MPI_OK(MPI_Barrier(MPI_COMM_WORLD));
        say("of %d: handler: %d", n, handler_calls());
    }
}

// Memory is not lost, however often things go wrong.
void nothing_is_leaked() {
    const auto used = [] {
        const struct mallinfo2 info = mallinfo2();
        return static_cast<double>(info.uordblks + info.hblkhd);
    };
    constexpr int rounds = 300;
    const auto once = [] {
        Third third(700), shorter(200);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Status status;
        const auto receive = [&](Third &into, int tag) {
            MPI_OK(MPI_Irecv(into.data(), 1, into.datatype, rank, tag, MPI_COMM_WORLD, &request));
        };
        const auto send = [&](int tag) {
            MPI_OK(MPI_Send(third.data(), 1, third.datatype, rank, tag, MPI_COMM_WORLD));
        };
        receive(third, 0); // cancelled
        MPI_OK(MPI_Cancel(&request));
        MPI_OK(MPI_Wait(&request, &status));
        receive(shorter, 1); // truncated
        send(1);
        CHECK(MPI_Wait(&request, &status) != MPI_SUCCESS);
        receive(third, 2); // freed
        MPI_OK(MPI_Request_free(&request));
        send(2);
        receive(third, 3); // freed, and truncated
        MPI_OK(MPI_Request_free(&request));
        std::vector<int> many(1000);
        MPI_OK(MPI_Send(many.data(), 1000, MPI_INT, rank, 3, MPI_COMM_WORLD));
        // Wrong ones.
        CHECK(MPI_Irecv(third.data(), 1, third.datatype, 77, 0, MPI_COMM_WORLD, &request) !=
              MPI_SUCCESS);
        CHECK(MPI_Isend(third.data(), 1, third.datatype, 77, 0, MPI_COMM_WORLD, &request) !=
              MPI_SUCCESS);
        CHECK(MPI_Send_init(third.data(), 1, third.datatype, 77, 0, MPI_COMM_WORLD, &request) !=
              MPI_SUCCESS);
        CHECK(MPI_Ibcast(third.data(), 1, third.datatype, 77, MPI_COMM_WORLD, &request) !=
              MPI_SUCCESS);
        // A persistent request whose type is gone, freed while it is active.
        MPI_OK(MPI_Recv_init(third.data(), 1, third.datatype, rank, 4, MPI_COMM_WORLD, &request));
        MPI_OK(MPI_Start(&request));
        send(4);
        third.free_type();
        MPI_OK(MPI_Request_free(&request));
        receive(shorter, 5);
        MPI_OK(MPI_Send(many.data(), 10, MPI_INT, rank, 5, MPI_COMM_WORLD));
        MPI_OK(MPI_Wait(&request, &status));
    };
    for (int i = 0; i < rounds; ++i) once();
    const double before = used();
    const long blocks = allocated_blocks();
    for (int i = 0; i < rounds; ++i) once();
    const double lost = (used() - before) / rounds;
    say("%.0f bytes are lost each time", lost);
    say("%ld blocks of device memory are lost", allocated_blocks() - blocks);
}

} // namespace ucdtest
