#include "grid.h"

#include "../fail.h"

#include <stdbool.h>

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

static bool fits(const struct grid *grid) {
    for (int axis = 0; axis < AXES; axis++)
        if (grid->processes[axis] > grid->shape[axis]) return false;
    return true;
}

struct grid grid_make(const intptr_t shape[AXES], int processes, const int wanted[AXES]) {
    struct grid grid = {.shape = {shape[0], shape[1], shape[2]}};
    if (wanted[0] > 0) {
        const long long blocks = (long long)wanted[0] * wanted[1] * wanted[2];
        if (blocks != processes)
            fail("--grid has %lld blocks, but there are %d processes", blocks, processes);
        for (int axis = 0; axis < AXES; axis++) grid.processes[axis] = wanted[axis];
        if (!fits(&grid)) fail("--grid has more blocks in a direction than the field has cells");
        return grid;
    }
    /* Of equal surfaces, the grid found first stays, which cuts the outermost axis most: the faces
     * between processes are then those with the longest segments. */
    struct grid best = grid;
    double least = -1;
    for (int x = processes; x >= 1; x--) {
        if (processes % x != 0) continue;
        for (int y = processes / x; y >= 1; y--) {
            if (processes / x % y != 0) continue;
            grid.processes[0] = x;
            grid.processes[1] = y;
            grid.processes[2] = processes / x / y;
            const double area = surface(shape, grid.processes);
            if (!fits(&grid) || (least >= 0 && area >= least)) continue;
            least = area;
            best = grid;
        }
    }
    if (least < 0)
        fail("a field of %lldx%lldx%lld cells cannot be divided among %d processes",
             (long long)shape[0], (long long)shape[1], (long long)shape[2], processes);
    return best;
}

static void coordinates(const struct grid *grid, int rank, int at[AXES]) {
    for (int axis = AXES - 1; axis >= 0; axis--) {
        at[axis] = rank % grid->processes[axis];
        rank /= grid->processes[axis];
    }
}

void grid_block(const struct grid *grid, int rank, intptr_t start[AXES], intptr_t size[AXES]) {
    int at[AXES];
    coordinates(grid, rank, at);
    for (int axis = 0; axis < AXES; axis++) {
        /* cells * at / parts without the product, which might overflow */
        const intptr_t cells = grid->shape[axis], parts = grid->processes[axis];
        const intptr_t quotient = cells / parts, remainder = cells % parts;
        const intptr_t end = quotient * (at[axis] + 1) + remainder * (at[axis] + 1) / parts;
        start[axis] = quotient * at[axis] + remainder * at[axis] / parts;
        size[axis] = end - start[axis];
    }
}

int grid_neighbour(const struct grid *grid, int rank, int face) {
    int at[AXES];
    const int axis = face / 2, step = face % 2 ? 1 : grid->processes[axis] - 1;
    coordinates(grid, rank, at);
    at[axis] = (at[axis] + step) % grid->processes[axis];
    return (at[0] * grid->processes[1] + at[1]) * grid->processes[2] + at[2];
}
