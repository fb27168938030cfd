// Finds the routes of one call: by where its buffers and lists are, or through a caller's stream.
#pragma once

#include "transfer/index_lists.h"
#include "transfer/route.h"

#include <optional>

namespace ucd {

class Router {
public:
    // With a stream, its device moves everything. Context, hints and stream outlive the router.
    Router(Context &context, const Hints &hints, const StreamTarget *stream);

    Context &context() const { return context_; }
    const Hints &hints() const { return hints_; }
    const StreamTarget *stream() const { return stream_; } // null without one
    LocationCache &locations() { return locations_; }

    // Divides both sides of a move at the bytes where another memory begins.
    Status divide(const CheckedMove &m, MemoryRanges &in, MemoryRanges &out);

    // The route between two first bytes; `direction` says which side has the layout.
    Status find(Direction direction, const char *in, const char *out, Route &route);
    // Same, for a move whose op the executor must support, and whose lists must be read as well.
    Status find(const CheckedMove &m, const char *in, const char *out, Route &route);

private:
    Status locate(const char *in, const char *out, MemoryLocation &in_at, MemoryLocation &out_at);
    Status find_in_stream(const char *in, const char *out, Route &route);
    Status check_reached(const LocationHint *hint, const char *address, const char *argument,
                         bool is_divided, MemoryKind &kind);

    Context &context_;
    const Hints &hints_;
    const StreamTarget *const stream_;
    LocationCache locations_;
    std::optional<Route> known_; // of everything in the stream, if the hints name both memories
    // Whether a side of the last move is in several memories.
    bool is_in_divided_ = false, is_out_divided_ = false;
};

// Finds the route between the memories that hints name for both buffers, if one device moves all.
// Returns false if it does not, or a hint is not valid. Remembers the thread's last route.
bool find_direct_route(Context &context, const Hints &hints, const StreamTarget *stream,
                       Direction direction, Route &route);

} // namespace ucd
