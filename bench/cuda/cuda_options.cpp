#include "cuda_options.hpp"

namespace bench {

void declare_cuda(CLI::App &app, CudaOptions &options) {
    app.add_flag("--reductions", options.reductions, "Packs and unpacks with an op");
    const char *group = "With --backend cuda";
    app.add_option("--budget", options.budget, "Seconds after which no new row starts")
        ->group(group)
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
}

} // namespace bench
