// Run by two processes with libucd-mpi-preload: sessions of MPI 4, one after the other. When the
// last one ends, MPI ends; the next one may give the user handles that the library had before. With
// UCD_TEST_DEVICE, there are also messages of Fortran's kinds, in the memory of that device. With
// an argument and together.cpp, there is a second session beside the first one, and two threads end
// them at the same time; after that, a session begins while another one ends.

#include "mpi/placed.hpp"
#include "mpi/processes.hpp"

#include <atomic>
#include <cstdio>
#include <latch>
#include <string>
#include <thread>
#include <vector>

using namespace ucdtest;

namespace {

constexpr int elements = 4000;
int mine; // what attributes of this program are
int deleted = 0;

int on_delete(MPI_Datatype, int, void *value, void *) {
    CHECK(value == &mine);
    ++deleted;
    return MPI_SUCCESS;
}

// Messages of a type that has an attribute of this program, too.
void exchange(MPI_Comm comm, int key, int stride) {
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_OK(MPI_Type_vector(elements, 1, stride, MPI_INT, &datatype));
    MPI_OK(MPI_Type_commit(&datatype));
    if (key != MPI_KEYVAL_INVALID) MPI_OK(MPI_Type_set_attr(datatype, key, &mine));
    const auto size = static_cast<std::size_t>(elements * stride);
    for (int turn = 0; turn < 4; ++turn) {
        std::vector<int> sent(size), received(size, -1);
        for (std::size_t i = 0; i < size; ++i) sent[i] = turn + static_cast<int>(i);
        MPI_OK(MPI_Sendrecv(sent.data(), 1, datatype, 1 - rank, 0, received.data(), 1, datatype,
                            1 - rank, 0, comm, MPI_STATUS_IGNORE));
        for (std::size_t i = 0; i < size; ++i) {
            const bool moved = i % static_cast<std::size_t>(stride) == 0;
            CHECK(received[i] == (moved ? sent[i] : -1));
        }
    }
    if (key != MPI_KEYVAL_INVALID) {
        void *value = nullptr;
        int found = 0;
        MPI_OK(MPI_Type_get_attr(datatype, key, static_cast<void *>(&value), &found));
        CHECK(found != 0 && value == &mine);
    }
    MPI_OK(MPI_Type_free(&datatype));
}

// A message of the only type of a Fortran kind in the session. In host memory, MPICH 5.0.2 fails by
// itself when it moves such types after the first session, and in the third session it gives kinds
// of the second.
template <class Real>
void exchange_reals(MPI_Comm comm, int precision, int range) {
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_OK(MPI_Type_create_f90_real(precision, range, &datatype));
    std::vector<Real> sent(elements), received(elements, -1);
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<Real>(i);
    const Placed from(sent.data(), sent.size() * sizeof(Real), true);
    const Placed to(received.data(), received.size() * sizeof(Real), true);
    MPI_OK(MPI_Sendrecv(from.data(), elements, datatype, 1 - rank, 0, to.data(), elements, datatype,
                        1 - rank, 0, comm, MPI_STATUS_IGNORE));
    to.fetch();
    CHECK(received == sent);
}

MPI_Session initialise() {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_OK(MPI_Info_create(&info));
    MPI_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    MPI_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    MPI_OK(MPI_Info_free(&info));
    return session;
}

void finalise(MPI_Session *session) {
    MPI_OK(MPI_Session_finalize(session));
}

void session(int number, bool has_other) {
    current = "session " + std::to_string(number);
    MPI_Session session = initialise(), other = has_other ? initialise() : MPI_SESSION_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    MPI_OK(MPI_Comm_create_from_group(group, "ucd", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_OK(MPI_Comm_rank(comm, &rank));
    int key = MPI_KEYVAL_INVALID;
    // In the first session the library makes its key first.
    if (number > 0) MPI_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, on_delete, &key, nullptr));
    deleted = 0;
    for (const int stride : {2, 3, 4}) exchange(comm, key, stride);
    CHECK(deleted == (number > 0 ? 3 : 0));
    if (has_device() && number == 0) exchange_reals<float>(comm, 6, 30);
    if (has_device() && number == 1) exchange_reals<double>(comm, 15, 300);
    if (number > 0) MPI_OK(MPI_Type_free_keyval(&key));
    MPI_OK(MPI_Comm_free(&comm));
    MPI_OK(MPI_Group_free(&group));
    std::jthread thread;
    if (has_other) thread = std::jthread(finalise, &other);
    finalise(&session);
}

std::atomic<std::latch *> ends_together{nullptr}, has_begun_to_end{nullptr}, may_end{nullptr};

// A receive that began while the previous session ended is complete after that.
void begin_while_one_ends() {
    current = "a session that begins while one ends";
    std::latch begun(1), may(1);
    has_begun_to_end = &begun;
    may_end = &may;
    MPI_Session first = initialise();
    std::jthread thread(finalise, &first);
    begun.wait();
    has_begun_to_end = may_end = nullptr;
    MPI_Session session = initialise();
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    MPI_OK(MPI_Comm_create_from_group(group, "ucd", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_OK(MPI_Type_vector(elements, 1, 2, MPI_INT, &datatype));
    MPI_OK(MPI_Type_commit(&datatype));
    const std::vector<int> sent(2 * elements, 7);
    std::vector<int> received(sent.size(), -1);
    MPI_OK(MPI_Irecv(received.data(), 1, datatype, 0, 0, comm, &request));
    may.count_down();
    thread.join();
    MPI_OK(MPI_Send(sent.data(), 1, datatype, 0, 0, comm));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (std::size_t i = 0; i < received.size(); ++i) CHECK(received[i] == (i % 2 == 0 ? 7 : -1));
    MPI_OK(MPI_Type_free(&datatype));
    MPI_OK(MPI_Comm_free(&comm));
    MPI_OK(MPI_Group_free(&group));
    finalise(&session);
}

} // namespace

extern "C" void before_session_ends() {
    if (std::latch *const both = ends_together) both->arrive_and_wait();
    std::latch *const may = may_end;
    if (std::latch *const begun = has_begun_to_end) begun->count_down();
    if (may != nullptr) may->wait();
}

int main(int argc, char **) {
    const bool has_threads = argc > 1;
    std::latch both(2);
    for (int number = 0; number < 3; ++number) {
        ends_together = has_threads && number == 0 ? &both : nullptr;
        session(number, has_threads && number == 0);
    }
    if (has_threads) begin_while_one_ends();
    if (rank == 0) std::puts("all sessions agree");
    return 0;
}
