// Lists of moves: with a request, blocking, or in a caller's stream.

#include "api/api_guard.h"
#include "api/resolve_stream.h"
#include "transfer/check.h"
#include "transfer/host.h"
#include "transfer/known_move.h"
#include "transfer/members.h"
#include "transfer/submission_builder.h"

#include <ucd.h>

#include <algorithm>
#include <span>

using namespace ucd;

namespace {

// Moves a list of whole objects whose types the host has moved before, without an op. Returns false
// if a member is any other move, and did nothing then.
bool run_known_list(std::span<ucd_move_t> descs) {
    for (const ucd_move_t &desc : descs)
        if (find_known(desc).plan == nullptr) return false;
    // Looked up again, because that is cheaper than storing what was found.
    for (ucd_move_t &desc : descs) {
        const bool pack = desc.outtype == UCD_TYPE__NULL;
        const KnownMove known = known_move_of(pack ? desc.intype : desc.outtype);
        auto *const in = static_cast<char *>(const_cast<void *>(desc.inbuf));
        auto *const out = static_cast<char *>(desc.outbuf);
        if (pack)
            move_whole(*known.plan, Direction::pack, in, out);
        else
            move_whole(*known.plan, Direction::unpack, out, in);
        desc.actual_bytes = desc.consumed_bytes = known.type->size;
    }
    return true;
}

// For lists that are all in host memory. Checks all members before it moves any data.
Status run_list_on_host(Context &context, std::span<ucd_move_t> descs, ucd_op_t op,
                        const Limits &limits) {
    if (op == UCD_OP__REPLACE && limits.threads == 1 && run_known_list(descs)) return success;
    const Executor host = host_executor(context);
    CheckedMove m;
    m.limits = limits;
    const auto check = [&](const ucd_move_t &desc) -> Status {
        UCD_TRY(check_member(desc, op, m));
        use_bytes(m);
        if (m.length == 0) return success;
        return m.is_copy() ? complete(m, host) : complete(m, m.direction(), host);
    };
    for (uintptr_t i = 0; i < descs.size(); ++i) UCD_TRY(at_member(i, check(descs[i])));
    for (ucd_move_t &desc : descs) {
        if (descs.size() > 1) UCD_TRY(check(desc));
        if (m.length > 0) UCD_TRY(run_routed(context, m));
        write_lengths(desc, m);
    }
    return success;
}

// Whether the CPU moves all members, so that no driver has to be asked. Wrong arguments are left to
// the checks.
bool all_on_host(const Context &context, const Hints &hints, std::span<const ucd_move_t> descs) {
    if (ucd::all_on_host(context, hints) && (!context.devices || hints.host_only)) return true;
    const auto is_known = [](ucd_type_t handle, const Type *&type) {
        return handle == UCD_TYPE__NULL || resolve(handle, "type", type).ok();
    };
    return std::all_of(descs.begin(), descs.end(), [&](const ucd_move_t &d) {
        const Type *from = nullptr, *to = nullptr;
        return is_known(d.intype, from) && is_known(d.outtype, to) &&
               ucd::all_on_host(context, hints, from, static_cast<const char *>(d.inbuf), to,
                                static_cast<const char *>(d.outbuf));
    });
}

// Adds and starts the members one by one, and writes their lengths.
Status start_each(SubmissionBuilder &builder, std::span<ucd_move_t> descs, ucd_op_t op,
                  std::unique_ptr<AsyncOperation> &operation) {
    CheckedMove m;
    WrittenLengths lengths(descs);
    for (uintptr_t i = 0; i < descs.size(); ++i) {
        UCD_TRY(at_member(i, check_member(descs[i], op, m)));
        UCD_TRY(at_member(i, builder.add(m)));
        lengths.write(i, 1, m.to_length, m.length);
    }
    UCD_TRY(builder.start(operation));
    lengths.leave();
    return success;
}

// Starts the members together, and writes their lengths. `started` is false if one device cannot
// move all of them.
Status start_alike(OneWay &one_way, std::span<ucd_move_t> descs,
                   std::unique_ptr<AsyncOperation> &operation, bool &started) {
    started = one_way.begin(descs);
    if (!started) return success;
    MembersMade moves(one_way, descs);
    SubmissionBuilder builder(one_way.router());
    builder.add(one_way.route().to, moves, moves.types());
    const Status status = builder.start(operation);
    started = !moves.is_mixed();
    if (started && status.ok()) moves.keep_lengths();
    return started ? status : success;
}

// For members that may be in device memory, and for streams. Not inlined, so that lists in host
// memory do not pay for its stack frame.
[[gnu::noinline]] Status submit_list(Context &context, ucd_move_t *descs, uintptr_t count,
                                     ucd_op_t op, const Hints &hints, const StreamTarget *target,
                                     std::unique_ptr<AsyncOperation> &operation) {
    if (count == 0) return success;
    const std::span<ucd_move_t> members(descs, count);
    const bool pack = is_move(descs[0], Direction::pack);
    OneWay one_way(Router(context, hints, target), pack ? Direction::pack : Direction::unpack);
    bool started = false;
    if (op == UCD_OP__REPLACE) UCD_TRY(start_alike(one_way, members, operation, started));
    if (started) return success;
    SubmissionBuilder builder(one_way.router());
    return start_each(builder, members, op, operation);
}

Status check_list(ucd_op_t op, const ucd_move_t *descs, uintptr_t count) {
    UCD_TRY(check_op(op));
    return require_list(descs, count, "moves");
}

// Returns a request. If the caller wants none, waits for the work.
int run_list(const char *function, ucd_move_t *descs, uintptr_t count, ucd_info_t info, ucd_op_t op,
             ucd_request_t *request, bool waits) {
    return guard(function, info, [&](Context &context) -> Status {
        if (!waits) UCD_TRY(require(request, "request"));
        UCD_TRY(check_list(op, descs, count));
        const CallHints call_hints(context, info);
        const Hints &hints = call_hints;
        std::unique_ptr<AsyncOperation> operation;
        const std::span<ucd_move_t> members(descs, count);
        if (all_on_host(context, hints, members))
            UCD_TRY(run_list_on_host(context, members, op, hints.limits));
        else
            UCD_TRY(submit_list(context, descs, count, op, hints, nullptr, operation));
        return end_call(context, std::move(operation), waits ? nullptr : request);
    });
}

int run_list_in_stream(const char *function, ucd_move_t *descs, uintptr_t count, ucd_info_t info,
                       ucd_op_t op, const ucd_stream_t &stream) {
    return guard(function, info, [&](Context &context) -> Status {
        UCD_TRY(check_list(op, descs, count));
        StreamTarget target;
        UCD_TRY(resolve_stream(context, stream, target));
        const CallHints hints(context, info);
        std::unique_ptr<AsyncOperation> none; // stays null: the work is in the stream
        return submit_list(context, descs, count, op, hints, &target, none);
    });
}

} // namespace

int ucd_imove(ucd_move_t *moves, uintptr_t count, ucd_info_t info, ucd_op_t op,
              ucd_request_t *request) {
    return run_list("ucd_imove", moves, count, info, op, request, false);
}

int ucd_move(ucd_move_t *moves, uintptr_t count, ucd_info_t info, ucd_op_t op) {
    return run_list("ucd_move", moves, count, info, op, nullptr, true);
}

int ucd_move_stream(ucd_move_t *moves, uintptr_t count, ucd_info_t info, ucd_op_t op,
                    ucd_stream_t stream) {
    return run_list_in_stream("ucd_move_stream", moves, count, info, op, stream);
}
