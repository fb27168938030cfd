// In place of the sections where there is no GPU's runtime. open_gpu() has thrown before.
#include "cases/sections.hpp"

namespace bench::gpu {

void run_layouts(const Setting &) {}
void run_reductions(const Setting &) {}
void run_batches(const Setting &) {}
void run_copies(const Setting &) {}
void run_memories(const Setting &) {}
void run_rows(const Setting &) {}
void run_fresh(const Setting &) {}
void run_busy(const Setting &) {}
void run_shapes(const Setting &) {}
void run_threads(const Setting &) {}
void run_papers(const Setting &) {}
void run_tuning(const Setting &) {}

} // namespace bench::gpu
