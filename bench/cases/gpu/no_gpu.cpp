// In place of the sections where there is no GPU's runtime. open_gpu() has thrown before.
#include "cases/gpu/sections.hpp"

namespace bench::gpu {

void run_layouts(Run &, Device &) {}
void run_reductions(Run &, Device &) {}
void run_batches(Run &, Device &) {}
void run_copies(Run &, Device &) {}
void run_memories(Run &, Device &) {}
void run_fresh(Run &, Device &) {}
void run_busy(Run &, Device &) {}
void run_shapes(Run &, Device &) {}
void run_threads(Run &, Device &) {}
void run_papers(Run &, Device &) {}

} // namespace bench::gpu
