#include "grid.h"

#include "complain.h"

const char *const face_names[FACES] = {"-x", "+x", "-y", "+y", "-z", "+z"};

/* The cells of the largest block's faces that lie between two processes. */
static double surface(const intptr_t shape[AXES], const int processes[AXES]) {
    double largest[AXES], area = 0;
    for (int axis = 0; axis < AXES; axis++)
        largest[axis] = (double)((shape[axis] + processes[axis] - 1) / processes[axis]);
    for (int axis = 0; axis < AXES; axis++)
        if (processes[axis] > 1)
            area += 2 * largest[(axis + 1) % AXES] * largest[(axis + 2) % AXES];
    return area;
}

static bool fits(const intptr_t shape[AXES], const int processes[AXES]) {
    for (int axis = 0; axis < AXES; axis++)
        if (processes[axis] > shape[axis]) return false;
    return true;
}

bool grid_make(const intptr_t shape[AXES], int processes, const int wanted[AXES],
               struct grid *grid) {
    *grid = (struct grid){.shape = {shape[0], shape[1], shape[2]}};
    if (wanted[0] > 0) {
        for (int axis = 0; axis < AXES; axis++) grid->processes[axis] = wanted[axis];
        long long product = (long long)wanted[0] * wanted[1] * wanted[2];
        if (product != processes)
            return complain("--grid has %lld blocks, but there are %d processes", product,
                            processes);
        return fits(shape, wanted) ||
               complain("--grid has more blocks in a direction than the field has cells");
    }
    /* Of equal surfaces, the grid found first stays, which cuts the outermost axis most: the faces
     * between processes are then those with the longest segments. */
    double least = -1;
    for (int x = processes; x >= 1; x--) {
        if (processes % x != 0) continue;
        for (int y = processes / x; y >= 1; y--) {
            if (processes / x % y != 0) continue;
            int candidate[AXES] = {x, y, processes / x / y};
            if (!fits(shape, candidate)) continue;
            double area = surface(shape, candidate);
            if (least >= 0 && area >= least) continue;
            least = area;
            for (int axis = 0; axis < AXES; axis++) grid->processes[axis] = candidate[axis];
        }
    }
    return least >= 0 ||
           complain("a field of %lldx%lldx%lld cells cannot be divided among %d processes",
                    (long long)shape[0], (long long)shape[1], (long long)shape[2], processes);
}

static void coordinates(const struct grid *grid, int rank, int at[AXES]) {
    for (int axis = AXES - 1; axis >= 0; axis--) {
        at[axis] = rank % grid->processes[axis];
        rank /= grid->processes[axis];
    }
}

struct block grid_block(const struct grid *grid, int rank) {
    int at[AXES];
    struct block block;
    coordinates(grid, rank, at);
    for (int axis = 0; axis < AXES; axis++) {
        intptr_t cells = grid->shape[axis], parts = grid->processes[axis];
        /* cells * at / parts without the product, which might overflow */
        intptr_t quotient = cells / parts, remainder = cells % parts;
        intptr_t start = quotient * at[axis] + remainder * at[axis] / parts;
        intptr_t end = quotient * (at[axis] + 1) + remainder * (at[axis] + 1) / parts;
        block.start[axis] = start;
        block.size[axis] = end - start;
    }
    return block;
}

int grid_neighbour(const struct grid *grid, int rank, int face) {
    int at[AXES], axis = face / 2;
    coordinates(grid, rank, at);
    int step = face % 2 ? 1 : grid->processes[axis] - 1;
    at[axis] = (at[axis] + step) % grid->processes[axis];
    return (at[0] * grid->processes[1] + at[1]) * grid->processes[2] + at[2];
}
