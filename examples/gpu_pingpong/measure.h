/* The round trips, and what they say. */
#ifndef GPU_PINGPONG_MEASURE_H
#define GPU_PINGPONG_MEASURE_H

#include "options.h"
#include "wire.h"

/* Measures all that the options ask for. The first process prints a table. */
void measure_all(const struct options *options, struct wire *wire);

#endif
