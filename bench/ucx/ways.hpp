// Ways to send a subject; each is the same way to receive it at the other side.
#pragma once

#include "ucx/link.hpp"
#include "ucx/subject.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bench {

struct Way {
    std::string name;
    std::function<void()> once;
};

// The packed bytes alone, as if there were nothing to pack: what the others are compared with.
Way contiguous_way(Subject &subject, Link &link);

struct PipelineShape {
    std::string eager, chunk, depth; // values of the keys; empty: the default
};

// All others, with these pipelines.
std::vector<Way> ways_of(Subject &subject, Link &link, const std::vector<PipelineShape> &pipelines);

} // namespace bench
