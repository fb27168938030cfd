#include "transfer/router.h"

namespace ucd {
namespace {

// Whether the hints name one memory for both buffers, as most do. It is then looked up once.
bool name_one_memory(const Hints &hints) {
    return hints.inbuf != nullptr && hints.outbuf != nullptr && *hints.inbuf == *hints.outbuf;
}

} // namespace

Router::Router(Context &context, const Hints &hints, const StreamTarget *stream)
    : context_(context), hints_(hints), stream_(stream), locations_(context, hints) {
    if (stream == nullptr || hints.inbuf == nullptr || hints.outbuf == nullptr) return;
    Route route;
    if (find_in_stream(nullptr, nullptr, route).ok()) known_ = route;
}

Status Router::divide(const CheckedMove &m, MemoryRanges &in, MemoryRanges &out) {
    UCD_TRY(locations_.find(hints_.inbuf, m.from_type, m.from, m.length, in));
    UCD_TRY(locations_.find(hints_.outbuf, m.to_type, m.to, m.to_length, out));
    is_in_divided_ = in.size() > 1;
    is_out_divided_ = out.size() > 1;
    return success;
}

Status Router::locate(const char *in, const char *out, MemoryLocation &in_at,
                      MemoryLocation &out_at) {
    UCD_TRY(locations_.find(hints_.inbuf, in, in_at));
    if (!name_one_memory(hints_)) return locations_.find(hints_.outbuf, out, out_at);
    out_at = in_at;
    return success;
}

Status Router::find(Direction direction, const char *in, const char *out, Route &route) {
    if (stream_ != nullptr) return find_in_stream(in, out, route);
    MemoryLocation in_at, out_at;
    UCD_TRY(locate(in, out, in_at, out_at));
    route = find_route(context_, hints_, in_at, out_at, direction);
    return success;
}

// If a device cannot access the lists of a pack or an unpack, the host moves the typed side
// instead.
Status Router::find(const CheckedMove &m, const char *in, const char *out, Route &route) {
    if (stream_ != nullptr) return find_in_stream(in, out, route);
    MemoryLocation in_at, out_at;
    UCD_TRY(locate(in, out, in_at, out_at));
    route = find_route(context_, hints_, in_at, out_at, m.direction(), m.op, m.type());
    const MemoryLocation &typed = m.direction() == Direction::pack ? in_at : out_at;
    if (m.is_copy() || !m.type().by_reference || route.kind != RouteKind::direct ||
        !typed.host_reachable())
        return success;
    bool reached;
    UCD_TRY(reaches_lists(hints_, locations_, route.to, m.type(), false, reached));
    if (reached) return success;
    UCD_TRY(reaches_lists(hints_, locations_, host_executor(context_), m.type(), false, reached));
    if (reached) route = staged_route(context_, in_at, out_at);
    return success;
}

Status Router::find_in_stream(const char *in, const char *out, Route &route) {
    if (known_) {
        route = *known_;
        return success;
    }
    route = {RouteKind::direct, stream_->executor, stream_->executor};
    UCD_TRY(check_reached(hints_.inbuf, in, "inbuf", is_in_divided_, route.from_kind));
    if (!name_one_memory(hints_))
        return check_reached(hints_.outbuf, out, "outbuf", is_out_divided_, route.to_kind);
    route.to_kind = route.from_kind;
    return success;
}

Status Router::check_reached(const LocationHint *hint, const char *address, const char *argument,
                             bool is_divided, MemoryKind &kind) {
    const Executor &executor = stream_->executor;
    MemoryLocation location;
    UCD_TRY(locations_.find(hint, address, location));
    // A hint for pinned or managed memory means memory of the stream's backend.
    if (location.kind != MemoryKind::host && location.owner == nullptr) {
        location.owner = executor.backend;
        location.device = executor.device;
    }
    kind = location.kind;
    if (reaches(executor, hints_, location)) return success;
    if (is_divided)
        return fail(
            UCD_ERR__INVALID_ARG,
            "%s is in several memories, of which device %d of backend %s does not reach the "
            "one at %p; a stream's device must reach all of them",
            argument, executor.device, executor.backend->name(),
            static_cast<const void *>(address));
    return fail(UCD_ERR__NOT_SUPPORTED,
                "%s is in memory that device %d of backend %s does not reach", argument,
                executor.device, executor.backend->name());
}

bool find_direct_route(Context &context, const Hints &hints, const StreamTarget *stream,
                       Direction direction, Route &route) {
    struct Known {
        uint64_t context, in, out; // their numbers, which no others have
        Executor in_stream;
        bool host_only, peers;
        Direction direction;
        Route route;
    };
    thread_local constinit Known last{};
    const uint64_t in = hints.inbuf->number, out = hints.outbuf->number;
    const Executor in_stream = stream != nullptr ? stream->executor : Executor();
    if (last.context == context.number && last.in == in && last.out == out &&
        last.in_stream == in_stream && last.host_only == hints.host_only &&
        last.peers == hints.peers && last.direction == direction) [[likely]] {
        route = last.route;
        return true;
    }
    if (!Router(context, hints, stream).find(direction, nullptr, nullptr, route).ok() ||
        route.kind != RouteKind::direct)
        return false;
    if (in != 0 && out != 0)
        last = {context.number, in, out, in_stream, hints.host_only, hints.peers, direction, route};
    return true;
}

} // namespace ucd
