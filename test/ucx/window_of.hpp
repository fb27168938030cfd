// Memory that other processes can map, of a window of a worker.
#pragma once

#include "ucx/pair.hpp"

#include <ucd_ucx_rma.h>

namespace ucdtest {

class WindowOf {
public:
    WindowOf(Side &side, std::size_t length) : bytes(length) {
        ucd_ucx_params_t params = {};
        params.struct_size = sizeof params;
        params.am_id = am_id + 1;
        params.families = UCD_UCX_ONE_SIDED;
        ok(ucd_ucx_create(side.worker, &params, UCD_INFO__NULL, &rma_), "rma");
        void *base = nullptr;
        ok(ucd_ucx_window_allocate(rma_, bytes, UCD_INFO__NULL, &base, &window_), "allocate");
        data = static_cast<char *>(base);
    }
    ~WindowOf() {
        (void)ucd_ucx_window_destroy(&window_);
        (void)ucd_ucx_destroy(&rma_);
    }
    WindowOf(const WindowOf &) = delete;
    WindowOf &operator=(const WindowOf &) = delete;
    char *data = nullptr;
    const std::size_t bytes;

private:
    ucd_ucx_t rma_ = UCD_UCX__NULL;
    ucd_ucx_window_t window_ = UCD_UCX_WINDOW__NULL;
};

} // namespace ucdtest
