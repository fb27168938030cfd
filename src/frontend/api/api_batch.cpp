// Batches of packs and unpacks, with a request or in a caller's stream. Pack and unpack are one
// path with a direction.

#include "api/api_guard.h"
#include "api/resolve_stream.h"
#include "in_threads.h"
#include "transfer/arguments.h"
#include "transfer/batch_moves.h"
#include "transfer/batch_survey.h"
#include "transfer/host_submission.h"
#include "transfer/submission.h"

#include <ucd.h>

#include <vector>

using namespace ucd;

namespace {

// All members on the host: one list of moves, since nothing may start before the last one is
// checked.
template <class Desc>
Status batch_on_host(Context &context, Desc *descs, uintptr_t Desc::*actual, uintptr_t count,
                     Direction direction, ucd_op_t op, const Limits &limits) {
    const Dispatch dispatch{host_executor(context),
                            {.direction = direction, .op = static_cast<Op>(op), .limits = limits}};
    std::vector<Move> moves;
    moves.reserve(count);
    bool empty = false;
    for (uintptr_t i = 0; i < count; ++i) {
        Transfer t;
        UCD_TRY(at_member(i, check_member(descs[i], op, direction, t)));
        // Filled where it stays: a copy, read in other portions than it was written in, would
        // stall.
        Move &move = moves.emplace_back();
        UCD_TRY(at_member(i, make_move(dispatch, t, move)));
        empty = empty || t.length == 0;
    }
    if (!empty) UCD_TRY(launch_on_host(context, moves));
    for (uintptr_t i = 0; i < count; ++i) {
        if (empty && moves[i].length > 0) UCD_TRY(launch_on_host(context, {&moves[i], 1}));
        descs[i].*actual = moves[i].length;
    }
    return success;
}

// Whether the lists of some member must be looked for: they may be on a device.
template <class Desc>
bool may_have_lists_elsewhere(const Context &context, const Hints &hints, const Desc *descs,
                              uintptr_t count) {
    if (!context.devices || hints.host_only) return false;
    for (uintptr_t i = 0; i < count; ++i) {
        const Type *type;
        if (resolve(descs[i].type, "type", type).ok() && type->by_reference) return true;
    }
    return false;
}

// Members of which each goes its own way.
template <class Desc>
Status start_each(Submission &submission, std::span<const Desc> descs, Direction direction,
                  ucd_op_t op, std::unique_ptr<AsyncOperation> &operation) {
    submission.reserve(descs.size());
    for (uintptr_t i = 0; i < descs.size(); ++i) {
        const auto add = [&]() -> Status {
            Transfer t;
            UCD_TRY(check_member(descs[i], op, direction, t));
            return submission.add(t);
        };
        UCD_TRY(at_member(i, add()));
    }
    return submission.start(operation);
}

// Starts the members; `started` is false if they do not all go the same way. `known` is what has
// been remembered of them.
template <class Desc>
Status start_alike(Context &context, Submission &submission, std::span<const Desc> descs,
                   ucd_op_t op, std::unique_ptr<AsyncOperation> &operation, bool &started,
                   std::shared_ptr<CachedBatch> &known) {
    started = false;
    if (descs.empty()) return success;
    Dispatch dispatch;
    if (!submission.all_alike(dispatch) && !survey_batch(submission, descs, op, dispatch))
        return success;
    known = context.batches->find(dispatch, descs);
    if (known == nullptr && op == UCD_OP__REPLACE &&
        !context.batches->comes_again(dispatch, descs.size(), digest_of(descs))) {
        BatchMoves<Desc> moves(dispatch, descs);
        const Status status = submission.start(dispatch.executor, moves, moves.types(), operation);
        started = !moves.found_references();
        return started ? status : success;
    }
    if (known == nullptr) UCD_TRY(make_cached_batch(dispatch, descs, known));
    if (known == nullptr) return success;
    started = true;
    return submission.start(known, operation);
}

// Members of which some may be elsewhere, or that go into a stream. Out of line, so that batches on
// the host do not pay for its frame.
template <class Desc>
[[gnu::noinline]] Status
submit(Context &context, Desc *descs, uintptr_t Desc::*actual, uintptr_t count, Direction direction,
       ucd_op_t op, const Hints &hints, const StreamTarget *target, ucd_request_t *request) {
    Submission submission(context, direction, static_cast<Op>(op), hints, target);
    std::unique_ptr<AsyncOperation> operation;
    const std::span<const Desc> members(descs, count);
    bool started;
    std::shared_ptr<CachedBatch> known;
    UCD_TRY(start_alike(context, submission, members, op, operation, started, known));
    if (!started) UCD_TRY(start_each(submission, members, direction, op, operation));
    if (request != nullptr) *request = hand_out(context, std::move(operation));
    // A device is at work before the descriptors are written to.
    if (known == nullptr) {
        const unsigned threads = batch_threads(count, hints.limits.threads);
        in_threads(threads, [&](unsigned i) {
            const Share share = share_of(count, i, threads);
            write_lengths(std::span<Desc>(descs + share.begin, share.count), actual, direction, op);
        });
    } else
        for (uintptr_t i = 0; i < count; ++i) descs[i].*actual = known->length(i);
    return success;
}

template <class Desc>
int batch(const char *function, Desc *descs, uintptr_t Desc::*actual, uintptr_t count,
          ucd_info_t info, ucd_op_t op, Direction direction, ucd_request_t *request) {
    return guard(function, [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        UCD_TRY(require(request, "request"));
        UCD_TRY(check_op(op));
        if (count > 0) UCD_TRY(require(descs, "descs"));
        const CallHints call_hints(*context, info);
        const Hints &hints = call_hints;
        if (!all_on_host(*context, hints) ||
            may_have_lists_elsewhere(*context, hints, descs, count))
            return submit(*context, descs, actual, count, direction, op, hints, nullptr, request);
        UCD_TRY(batch_on_host(*context, descs, actual, count, direction, op, hints.limits));
        *request = UCD_REQUEST__NULL;
        return success;
    });
}

template <class Desc>
int batch_in_stream(const char *function, Desc *descs, uintptr_t Desc::*actual, uintptr_t count,
                    ucd_info_t info, ucd_op_t op, Direction direction, const ucd_stream_t &stream) {
    return guard(function, [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        UCD_TRY(check_op(op));
        if (count > 0) UCD_TRY(require(descs, "descs"));
        StreamTarget target;
        UCD_TRY(resolve_stream(*context, stream, target));
        const CallHints hints(*context, info);
        return submit(*context, descs, actual, count, direction, op, hints, &target, nullptr);
    });
}

} // namespace

int ucd_ipack_batch(ucd_pack_desc_t *descs, uintptr_t count, ucd_info_t info, ucd_op_t op,
                    ucd_request_t *request) {
    return batch("ucd_ipack_batch", descs, &ucd_pack_desc_t::actual_pack_bytes, count, info, op,
                 Direction::pack, request);
}

int ucd_iunpack_batch(ucd_unpack_desc_t *descs, uintptr_t count, ucd_info_t info, ucd_op_t op,
                      ucd_request_t *request) {
    return batch("ucd_iunpack_batch", descs, &ucd_unpack_desc_t::actual_unpack_bytes, count, info,
                 op, Direction::unpack, request);
}

int ucd_pack_batch_stream(ucd_pack_desc_t *descs, uintptr_t count, ucd_info_t info, ucd_op_t op,
                          ucd_stream_t stream) {
    return batch_in_stream("ucd_pack_batch_stream", descs, &ucd_pack_desc_t::actual_pack_bytes,
                           count, info, op, Direction::pack, stream);
}

int ucd_unpack_batch_stream(ucd_unpack_desc_t *descs, uintptr_t count, ucd_info_t info, ucd_op_t op,
                            ucd_stream_t stream) {
    return batch_in_stream("ucd_unpack_batch_stream", descs,
                           &ucd_unpack_desc_t::actual_unpack_bytes, count, info, op,
                           Direction::unpack, stream);
}
