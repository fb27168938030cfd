// Ways to send a subject; each is the same way to receive it at the other side.
#pragma once

#include "cases/ucx/subject.hpp"
#include "harness/processes.hpp"
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

// From memory that both processes have attached: the receiver's copy of each segment by memcpy, and
// ucd_copy from layout to layout. No way between two layouts can exceed both.
std::vector<Contender> attached_ways(Subject &subject, Link &link, const CommonMemory &memory);

// A pipeline that sends from memory of a window, which the receiver may map.
Contender mapped_way(Subject &subject, Link &link);

struct PipelineShape {
    std::string eager, chunk, depth; // values of the keys; empty: the default
    std::string direct = "no", pack;
};

// All others, with these pipelines.
std::vector<Contender> ways_of(Subject &subject, Link &link,
                               const std::vector<PipelineShape> &pipelines);

} // namespace bench
