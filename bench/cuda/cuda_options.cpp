#include "cuda_options.hpp"

namespace bench {

void declare_cuda(CLI::App &app, CudaOptions &options) {
    app.add_flag("--reductions", options.reductions, "Packs and unpacks with an op");
    app.add_flag("--batches", options.batches, "Many small moves in one call");
    const char *group = "With --backend cuda";
    app.add_flag("--copies", options.copies, "From layout to layout")->group(group);
    app.add_flag("--memories", options.memories, "Between every two kinds of memory")->group(group);
    app.add_flag("--busy", options.busy,
                 "Packs beside other work on the device; with few blocks; by each engine")
        ->group(group);
    app.add_option("--suite", options.suite,
                   "papers: what Jenkins et al. (TPDS 2014) and Wu et al. (HPDC 2016) measured")
        ->group(group)
        ->check(CLI::IsMember({"papers"}));
    app.add_option("--budget", options.budget, "Seconds after which no new row starts")
        ->group(group)
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
}

} // namespace bench
