// Which parts of the CUDA section run.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace bench {

struct CudaOptions {
    bool reductions = false, batches = false; // the host has these parts, too
    bool copies = false, memories = false, busy = false;
    std::string suite;
    double budget = 3600; // seconds

    bool asks_for_parts() const {
        return reductions || batches || copies || memories || busy || !suite.empty();
    }
};

void declare_cuda(CLI::App &app, CudaOptions &options);

} // namespace bench
