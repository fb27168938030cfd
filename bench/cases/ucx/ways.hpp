// Ways to send a subject; each is the same way to receive it at the other side.
#pragma once

#include "cases/ucx/subject.hpp"
#include "harness/ucx/peers.hpp"

#include <string>
#include <vector>

namespace bench {

// From the first process to the second.
struct Link {
    Peers &peers;
    bool any_gpu; // at either side

    bool sends() const { return peers.seat() == 0; }
    void transfer(void *buf, std::size_t count, ucp_datatype_t datatype);
    // The receiver says that it has all; the sender waits for that.
    void acknowledge();
};

// The packed bytes alone, as if there were nothing to pack: what the others are compared with.
Contender contiguous_way(Subject &subject, Link &link);

// The receiver's copy from its own memory, layout to layout, as if the sender's were attached
// there: what no other way between two layouts can exceed.
Contender attached_way(Subject &subject, Link &link);

struct PipelineShape {
    std::string eager, chunk, depth; // values of the keys; empty: the default
    std::string direct = "no";
};

// All others, with these pipelines.
std::vector<Contender> ways_of(Subject &subject, Link &link,
                               const std::vector<PipelineShape> &pipelines);

} // namespace bench
