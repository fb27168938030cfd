// The sections of ucd-bench for GPUs. Each prints tables as it goes.
#pragma once

#include "harness/device.hpp"
#include "harness/run.hpp"

namespace bench::gpu {

// Layouts in device memory, packed there and in pinned memory; small calls; pieces in flight.
void run_layouts(Run &run, Device &device);

void run_reductions(Run &run, Device &device); // unpacks with an op
void run_batches(Run &run, Device &device);
void run_copies(Run &run, Device &device); // from layout to layout
void run_memories(Run &run, Device &device);
void run_fresh(Run &run, Device &device);   // lists that are new every time
void run_busy(Run &run, Device &device);    // packs beside other work; blocks; engines
void run_shapes(Run &run, Device &device);  // of many kinds, to and from host memory too
void run_threads(Run &run, Device &device); // many calls of several threads
void run_papers(Run &run, Device &device);  // what two papers measured

} // namespace bench::gpu
