// The transfers of a pipeline that have begun and whose end the user has not been told.
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

// Used under the pipeline's lock.
class TransferTable {
public:
    // So that the next call of add finds memory: what UCX has must be known here.
    void reserve_sending();
    void add(Sending &sending);
    void add(Receiving &receiving);
    void remove(Receiving &receiving); // it has not started after all
    // Inline, so that the result is not copied by way of memory.
    void finish(ucd_ucx_request &request, const ucd_ucx_result_t &result) {
        request.complete(result);
        if (!request.handed_out) return;
        finished_.push(request);
        --outstanding_;
    }

    // Transfers that are not complete.
    std::size_t outstanding() const { return outstanding_; }
    bool empty() const { return finished_.empty() && sendings_.empty() && receivings_.empty(); }

    // Gives each transfer a turn. Whether one has sent a chunk.
    bool advance(ucd_ucx_pipeline &pipeline);
    void on_endpoint_failed(ucd_ucx_pipeline &pipeline, const EndpointFailure &failure);
    // Those that are complete, whose callbacks are to be called.
    Queue<ucd_ucx_request> take_finished();

private:
    std::size_t outstanding_ = 0;
    std::vector<Sending *> sendings_;
    std::vector<Receiving *> receivings_;
    Queue<ucd_ucx_request> finished_;
};

} // namespace ucd_ucx
