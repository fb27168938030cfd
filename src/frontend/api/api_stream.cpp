// Packing and unpacking in the order of a caller's stream. Pack and unpack are one path.

#include "api/api_guard.h"
#include "api/resolve_stream.h"
#include "transfer/arguments.h"
#include "transfer/submission.h"

#include <ucd.h>

using namespace ucd;

namespace {

int move(const char *function, const MoveArguments &arguments, Direction direction,
         uintptr_t *actual, ucd_info_t info, const ucd_stream_t &stream) {
    return guard(function, [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        UCD_TRY(require(actual, direction == Direction::pack ? "actual_pack_bytes"
                                                             : "actual_unpack_bytes"));
        StreamTarget target;
        UCD_TRY(resolve_stream(*context, stream, target));
        Transfer t;
        UCD_TRY(check_move(arguments, direction, t));
        const CallHints hints(*context, info);
        Submission submission(*context, direction, static_cast<Op>(arguments.op), hints, &target);
        UCD_TRY(submission.add(t));
        std::unique_ptr<AsyncOperation> none; // the stream has the work
        UCD_TRY(submission.start(none));
        *actual = t.length;
        return success;
    });
}

} // namespace

int ucd_pack_stream(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
                    void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes,
                    ucd_info_t info, ucd_op_t op, ucd_stream_t stream) {
    return move("ucd_pack_stream", {inbuf, incount, type, inoffset, outbuf, max_pack_bytes, op},
                Direction::pack, actual_pack_bytes, info, stream);
}

int ucd_unpack_stream(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                      ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                      ucd_info_t info, ucd_op_t op, ucd_stream_t stream) {
    return move("ucd_unpack_stream", {outbuf, outcount, type, outoffset, inbuf, insize, op},
                Direction::unpack, actual_unpack_bytes, info, stream);
}

int ucd_prepare(uintptr_t count, ucd_type_t type, ucd_op_t op, ucd_stream_t stream,
                ucd_info_t info) {
    return guard("ucd_prepare", [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        const Type *resolved;
        UCD_TRY(resolve(type, "type", resolved));
        UCD_TRY(check_op(op, *resolved));
        uint64_t total;
        UCD_TRY(check_count(count, *resolved, "count", total));
        StreamTarget target;
        UCD_TRY(resolve_stream(*context, stream, target));
        if (total == 0) return success;
        UCD_TRY(check_supported(target.executor, static_cast<Op>(op), *resolved));
        const CallHints call_hints(*context, info);
        const Hints &hints = call_hints;
        Move move; // of no buffers and no range
        UCD_TRY(make_move({.executor = target.executor,
                           .settings = {.op = static_cast<Op>(op), .limits = hints.limits}},
                          {.type = resolved, .count = count}, move));
        return target.executor.backend->prepare(target.stream, move);
    });
}
