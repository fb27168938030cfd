// Particles fly through a box that is divided among processes along x. In each step, those that
// have left a process's part go to the neighbour: each message is a list of particles, straight
// from where they are. The receiver does not know how many come.
//
//     mpirun -n 4 particles [PARTICLES [STEPS]]     PARTICLES: of each process, at first
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct particle {
    int id;
    double position[3]; // from 0 to 1
    float mass;
    double velocity[3]; // per step
};

static int begin_with = 20000, steps = 20, processes, rank;
static struct particle *all;
static int count, room;
static MPI_Datatype particle_type;

// The members, without the padding between them.
static void make_type(void) {
    const int lengths[4] = {1, 3, 1, 3};
    const MPI_Aint displs[4] = {offsetof(struct particle, id), offsetof(struct particle, position),
                                offsetof(struct particle, mass),
                                offsetof(struct particle, velocity)};
    const MPI_Datatype types[4] = {MPI_INT, MPI_DOUBLE, MPI_FLOAT, MPI_DOUBLE};
    MPI_Datatype members;
    MPI_Type_create_struct(4, lengths, displs, types, &members);
    MPI_Type_create_resized(members, 0, sizeof(struct particle), &particle_type);
    MPI_Type_commit(&particle_type);
    MPI_Type_free(&members);
}

// From 0 to 1, always the same for an id.
static double number_of(int id, int which) {
    uint64_t bits = ((uint64_t)id * 8 + which + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93u;
    return (double)((bits ^ bits >> 32) >> 11) / (double)(UINT64_C(1) << 53);
}
static struct particle at_first(int id) {
    struct particle p;
    memset(&p, 0, sizeof p);
    p.id = id;
    p.mass = (float)number_of(id, 6);
    for (int i = 0; i < 3; ++i) {
        p.position[i] = number_of(id, i);
        p.velocity[i] = (number_of(id, 3 + i) - 0.5) * 0.06;
    }
    p.position[0] = (rank + p.position[0]) / processes;
    return p;
}

static int owner_of(const struct particle *p) {
    const int owner = (int)(p->position[0] * processes);
    return owner < processes ? owner : processes - 1;
}

static void fly(void) {
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k) {
            const double x = all[i].position[k] + all[i].velocity[k];
            all[i].position[k] = x - floor(x);
        }
}

// Sends the particles of a list, which stay where they are until the request is complete.
static void send_list(const int *list, int length, int to, int tag, MPI_Request *request) {
    MPI_Datatype type;
    MPI_Type_create_indexed_block(length, 1, list, particle_type, &type);
    MPI_Type_commit(&type);
    MPI_Isend(all, 1, type, to, tag, MPI_COMM_WORLD, request);
    MPI_Type_free(&type);
}

// Appends the particles that arrive.
static void receive_list(int from, int tag) {
    MPI_Status status;
    int arriving;
    MPI_Probe(from, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, particle_type, &arriving);
    if (arriving == MPI_UNDEFINED || arriving > room - count) {
        fprintf(stderr, "there is no room for the particles that arrive\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Recv(all + count, arriving, particle_type, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    count += arriving;
}

static double exchange(void) {
    const int left = (rank + processes - 1) % processes, right = (rank + 1) % processes;
    int *const lists[2] = {malloc(count * sizeof(int)), malloc(count * sizeof(int))};
    int lengths[2] = {0, 0}, kept = 0;
    const int before = count;
    MPI_Request requests[2];
    for (int i = 0; i < count; ++i) {
        const int owner = owner_of(&all[i]);
        if (owner == rank) continue;
        // With two processes, both neighbours are the same one: then the nearer border counts.
        const int way = left != right ? owner == right : all[i].velocity[0] > 0;
        lists[way][lengths[way]++] = i;
    }
    const double begin = MPI_Wtime();
    send_list(lists[0], lengths[0], left, 0, &requests[0]);
    send_list(lists[1], lengths[1], right, 1, &requests[1]);
    receive_list(right, 0);
    receive_list(left, 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    const double time = MPI_Wtime() - begin;
    // What was sent makes room for the rest.
    for (int i = 0; i < count; ++i)
        if (i >= before || owner_of(&all[i]) == rank) all[kept++] = all[i];
    count = kept;
    free(lists[0]);
    free(lists[1]);
    return time;
}

// Each particle must be where its velocity has brought it, at its owner, and once.
static void report(void) {
    uint64_t sum = 0, sums[3] = {0, 0, 0}; // particles, their ids, their bits
    double largest = 0;
    for (int i = 0; i < count; ++i) {
        const struct particle *p = &all[i];
        const int home = p->id / begin_with;
        for (int k = 0; k < 3; ++k) {
            const double start =
                k == 0 ? (home + number_of(p->id, 0)) / processes : number_of(p->id, k);
            const double far = p->position[k] - start - steps * p->velocity[k];
            const double velocity = (number_of(p->id, 3 + k) - 0.5) * 0.06;
            largest = fmax(largest, fabs(far - round(far)) + fabs(velocity - p->velocity[k]));
        }
        if (owner_of(p) != rank || p->mass != (float)number_of(p->id, 6)) largest = 1;
        uint64_t bits[6], mixed = (uint64_t)p->id + 1;
        memcpy(bits, p->position, 24);
        memcpy(bits + 3, p->velocity, 24);
        for (int k = 0; k < 6; ++k) mixed = (mixed ^ bits[k]) * 0x9e3779b97f4a7c15u;
        sum += mixed; // in any order
        sums[0] += 1;
        sums[1] += (uint64_t)p->id;
    }
    sums[2] = sum;
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const uint64_t were = (uint64_t)begin_with * processes;
    const int right = sums[0] == were && sums[1] == were * (were - 1) / 2 && largest < 1e-12;
    if (rank == 0)
        printf("%llu particles: checksum %016llx, largest error %g: %s\n",
               (unsigned long long)sums[0], (unsigned long long)sums[2], largest,
               right ? "right" : "WRONG");
    if (!right) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) begin_with = atoi(argv[1]);
    if (argc > 2) steps = atoi(argv[2]);
    if (begin_with < 1 || steps < 1 || processes > 30) { // else some fly past a neighbour
        fprintf(stderr, "usage: particles [PARTICLES [STEPS]], with up to 30 processes\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    make_type();
    room = 2 * begin_with + 1000;
    all = calloc(room, sizeof *all);
    if (!all) MPI_Abort(MPI_COMM_WORLD, 1);
    for (; count < begin_with; ++count) all[count] = at_first(rank * begin_with + count);

    double time = 0;
    for (int step = 0; step < steps; ++step) {
        fly();
        time += exchange();
    }
    report();
    MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("time: %.3f ms for an exchange\n", time / steps * 1e3);
    MPI_Type_free(&particle_type);
    free(all);
    MPI_Finalize();
    return 0;
}
