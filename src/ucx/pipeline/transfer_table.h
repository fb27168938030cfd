// The started transfers of a pipeline whose end has not been reported to the user yet.
#pragma once

#include "common/queue.h"
#include "pipeline/request.h"

#include <cstddef>
#include <ucp/api/ucp.h>
#include <vector>

namespace ucd_ucx {

class Receiving;
class Sending;
struct EndpointFailure;

// The caller holds the pipeline's lock.
class TransferTable {
public:
    // Reserves memory for the next call of `add`, which must not fail: a transfer that UCX knows
    // must be in this table.
    void reserve_sending();
    void add(Sending &sending);
    void add(Receiving &receiving);
    void remove(Receiving &receiving); // its start has failed
    // Inline, so that the compiler does not copy the result through memory.
    void finish(ucd_ucx_request &request, const ucd_ucx_result_t &result) {
        request.complete(result);
        if (!request.handed_out) return;
        finished_.push(request);
        --outstanding_;
    }

    // The number of transfers that are not complete.
    std::size_t outstanding() const { return outstanding_; }
    bool empty() const { return finished_.empty() && sendings_.empty() && receivings_.empty(); }

    // Gives each transfer a turn. Returns whether any has sent a chunk.
    bool advance(ucd_ucx_pipeline &pipeline);
    void on_endpoint_failed(ucd_ucx_pipeline &pipeline, const EndpointFailure &failure);
    // Returns the complete transfers, whose callbacks are to be called.
    Queue<ucd_ucx_request> take_finished();

private:
    std::size_t outstanding_ = 0;
    std::vector<Sending *> sendings_;
    std::vector<Receiving *> receivings_;
    Queue<ucd_ucx_request> finished_;
};

} // namespace ucd_ucx
