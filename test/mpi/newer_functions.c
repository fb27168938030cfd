/* Run by one process with libucd-mpi-preload that was built with the header of an older library of
 * the same ABI: functions that this header lacks are taken over, too. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { items = 1000 };
static double sent[2 * items], received[2 * items];

static void fill(int first) {
    for (int i = 0; i < 2 * items; ++i) {
        sent[i] = first + i;
        received[i] = 0;
    }
}

static const char *verdict(void) {
    for (int i = 0; i < 2 * items; i += 2)
        if (received[i] != sent[i]) return "wrong";
    return "right";
}

static MPI_Datatype strided(void) {
    MPI_Datatype type;
    MPI_Type_vector(items, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
/* Once such a function says that a request is complete, its data is there. */
static void look_at_requests(void) {
    MPI_Init(NULL, NULL);
    MPI_Datatype type = strided();
    for (int way = 0; way < 3; ++way) {
        fill(way);
        MPI_Request requests[2];
        MPI_Irecv(received, 1, type, 0, 1, MPI_COMM_SELF, &requests[0]);
        MPI_Isend(sent, 1, type, 0, 1, MPI_COMM_SELF, &requests[1]);
        int flag = 0, index = 0, indices[1];
        while (!flag) {
            if (way == 0) MPI_Request_get_status_all(2, requests, &flag, MPI_STATUSES_IGNORE);
            if (way == 1) MPI_Request_get_status_any(1, requests, &index, &flag, MPI_STATUS_IGNORE);
            if (way == 2)
                MPI_Request_get_status_some(1, requests, &flag, indices, MPI_STATUSES_IGNORE);
        }
        printf("requests %d: %s\n", way, verdict());
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Type_free(&type);
    MPI_Finalize();
}
#else
static void look_at_requests(void) {}
#endif

/* When the last session ends, MPI ends, and the attributes of its types are unknown to the next
 * one. */
static void exchange_in_session(int number) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "ucd", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Datatype type = strided();
    fill(number);
    MPI_Irecv(received, 1, type, 0, 1, comm, &request);
    MPI_Send(sent, 1, type, 0, 1, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    printf("session %d: %s\n", number, verdict());
    fflush(stdout);
    /* Open MPI 5.0.11 damages the heap by itself when the second session ends. */
    if (number > 0) _Exit(0);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv) {
    if (argc > 1 && argv[1][0] == 'r') look_at_requests();
    if (argc > 1 && argv[1][0] == 's')
        for (int number = 0; number < 2; ++number) exchange_in_session(number);
    return 0;
}
