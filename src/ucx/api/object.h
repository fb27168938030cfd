// The object of a program over a worker: an engine, and the families of messages that the program
// asked for.
#pragma once

#include "rma/one_sided.h"

#include <optional>

struct ucd_ucx_object {
    ucd_ucx_object(const ucd_ucx_params_t &params, const ucd_ucx::EngineSettings &settings)
        : engine(params, settings), transfers(engine) {
        if (has(UCD_UCX_ONE_SIDED)) one_sided.emplace(engine, transfers, settings.peer_operations);
    }
    ~ucd_ucx_object() { engine.close(); }
    ucd_ucx_object(const ucd_ucx_object &) = delete;
    ucd_ucx_object &operator=(const ucd_ucx_object &) = delete;

    bool has(unsigned family) const { return (engine.params.families & family) != 0; }
    // INVALID_ARG: something is in progress or open. The caller holds the lock.
    ucd_ucx::Status check_idle() const;

    ucd_ucx::WorkerEngine engine;
    ucd_ucx::Transfers transfers;
    std::optional<ucd_ucx::rma::OneSided> one_sided;
};

namespace ucd_ucx {

// INVALID_ARG: NULL, or an object that was created without the family, which the sentence names.
Status require_transfers(ucd_ucx_t ucx);
Status require_one_sided(ucd_ucx_t ucx);

} // namespace ucd_ucx
