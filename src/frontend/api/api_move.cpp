// Packing, unpacking and copying. Pack and unpack share their code, with a direction, as do
// blocking and nonblocking calls.

#include "api/api_guard.h"
#include "api/resolve_stream.h"
#include "transfer/check.h"
#include "transfer/host.h"
#include "transfer/known_move.h"
#include "transfer/submission.h"

#include <ucd.h>

using namespace ucd;

namespace {

// Whether both sides are in the heap or the stack, and no hint says anything else.
bool both_in_heap_or_stack(const Hints &hints, const Type &type, const char *typed,
                           const char *packed) {
    return hints.inbuf == nullptr && hints.outbuf == nullptr && in_heap_or_stack(packed) &&
           in_heap_or_stack(type, typed);
}
bool both_in_heap_or_stack(const Hints &hints, const CheckedCopy &c) {
    return hints.inbuf == nullptr && hints.outbuf == nullptr &&
           in_heap_or_stack(*c.from_type, c.from.typed) && in_heap_or_stack(*c.to_type, c.to.typed);
}

[[gnu::always_inline]] inline CheckedMove decoded(Direction direction, const void *typed,
                                                  uintptr_t count, uintptr_t offset,
                                                  const void *packed, uintptr_t packed_bytes) {
    CheckedMove m;
    decode(m, direction, typed, count, offset, packed, packed_bytes);
    return m;
}

// Moves a whole object whose type the host has moved before, in host memory, without an op and
// without hints. Returns false if it is any other call, and did nothing then.
[[gnu::always_inline]] inline bool move_known(CheckedMove m, ucd_type_t handle, ucd_op_t op,
                                              uintptr_t *actual, ucd_info_t info) {
    const Context *const context = running_context.load(std::memory_order_acquire);
    if (context == nullptr || actual == nullptr || info != UCD_INFO__NULL || op != UCD_OP__REPLACE)
        return false;
    const KernelPlan *const plan = check_known(m, handle);
    if (plan == nullptr || context->defaults.limits.threads != 1) return false;
    if (!all_on_host(*context, context->defaults, *m.type) &&
        !both_in_heap_or_stack(context->defaults, *m.type, m.typed, m.packed))
        return false;
    move_whole(*plan, m.direction, m.typed, m.packed);
    *actual = m.length;
    return true;
}

// Starts a member that may be in device memory, or that goes into a stream.
template <class Member>
[[gnu::noinline]] Status submit(Context &context, const Member &member, Op op, const Hints &hints,
                                const StreamTarget *stream,
                                std::unique_ptr<AsyncOperation> &operation) {
    Submission submission(context, op, hints, stream);
    UCD_TRY(submission.add(member));
    return submission.start(operation);
}

// Returns a request for work that may not be complete. If the caller wants no request, waits.
[[gnu::always_inline]] inline Status
end(Context &context, std::unique_ptr<AsyncOperation> operation, ucd_request_t *request) {
    if (request == nullptr) return operation ? finish(context, std::move(operation)) : success;
    *request = operation ? hand_out(context, std::move(operation)) : UCD_REQUEST__NULL;
    return success;
}

// Starts one checked move. If the caller wants no request, waits.
[[gnu::always_inline]] inline Status run(Context &context, CheckedMove &m, ucd_info_t info,
                                         ucd_request_t *request) {
    const CallHints call_hints(context, info);
    const Hints &hints = call_hints;
    if (all_on_host(context, hints, *m.type) ||
        both_in_heap_or_stack(hints, *m.type, m.typed, m.packed)) [[likely]] {
        m.limits = hints.limits;
        if (m.length > 0) UCD_TRY(run_on_host(context, m));
        if (request != nullptr) *request = UCD_REQUEST__NULL;
        return success;
    }
    std::unique_ptr<AsyncOperation> operation;
    UCD_TRY(submit(context, m, m.op, hints, nullptr, operation));
    return end(context, std::move(operation), request);
}

// Checks the arguments and moves the data. Not inlined, so that calls of move_known() need few
// registers and little of the stack.
[[gnu::noinline]] Status move_checked(CheckedMove &m, ucd_type_t type, ucd_op_t op,
                                      uintptr_t *actual, ucd_info_t info, ucd_request_t *request) {
    Context *context;
    UCD_TRY(current(context));
    UCD_TRY(require(actual,
                    m.direction == Direction::pack ? "actual_pack_bytes" : "actual_unpack_bytes"));
    UCD_TRY(check_move(type, "type", op, m));
    UCD_TRY(run(*context, m, info, request));
    *actual = m.length;
    return success;
}

// Moves the data, with a request or blocking. Inlined in each function that calls it, because a
// small call takes hardly longer than its checks.
[[gnu::always_inline]] inline int move(const char *function, Direction direction, const void *typed,
                                       uintptr_t count, uintptr_t offset, const void *packed,
                                       uintptr_t packed_bytes, ucd_type_t type, ucd_op_t op,
                                       uintptr_t *actual, ucd_info_t info, ucd_request_t *request) {
    return guard(
        function, [&]() __attribute__((always_inline))->Status {
            CheckedMove m = decoded(direction, typed, count, offset, packed, packed_bytes);
            if (move_known(m, type, op, actual, info)) [[likely]] {
                if (request != nullptr) *request = UCD_REQUEST__NULL;
                return success;
            }
            return move_checked(m, type, op, actual, info, request);
        });
}

int move_in_stream(const char *function, CheckedMove m, ucd_type_t type, ucd_op_t op,
                   uintptr_t *actual, ucd_info_t info, const ucd_stream_t &stream) {
    return guard(function, [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        UCD_TRY(require(actual, m.direction == Direction::pack ? "actual_pack_bytes"
                                                               : "actual_unpack_bytes"));
        StreamTarget target;
        UCD_TRY(resolve_stream(*context, stream, target));
        UCD_TRY(check_move(type, "type", op, m));
        const CallHints hints(*context, info);
        std::unique_ptr<AsyncOperation> none; // stays null: the work is in the stream
        UCD_TRY(submit(*context, m, m.op, hints, &target, none));
        *actual = m.length;
        return success;
    });
}

// The only difference of nonblocking calls is that they require a request.
int check_request(const char *function, ucd_request_t *request) {
    if (request != nullptr) [[likely]]
        return UCD_SUCCESS;
    return guard(function, [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        return require(request, "request");
    });
}

// A copy moves the whole input.
Status check_copy(ucd_type_t intype, ucd_type_t outtype, ucd_op_t op, const uintptr_t *actual,
                  CheckedCopy &c) {
    uint64_t in_total, out_total;
    UCD_TRY(check_sides(intype, outtype, op, c, in_total, out_total));
    UCD_TRY(require(actual, "actual_bytes"));
    if (in_total > out_total && !is_conversion(c.op))
        return fail(UCD_ERR__TRUNCATED, "the output has room for %ju bytes of the input's %ju",
                    static_cast<uintmax_t>(out_total), static_cast<uintmax_t>(in_total));
    if (op != UCD_OP__REPLACE) UCD_TRY(check_elements(c, in_total, out_total));
    if (c.length < in_total)
        return fail(UCD_ERR__TRUNCATED, "the output has elements for %ju bytes of the input's %ju",
                    static_cast<uintmax_t>(c.length), static_cast<uintmax_t>(in_total));
    return success;
}

int copy(const char *function, CheckedCopy &c, ucd_type_t intype, ucd_type_t outtype,
         uintptr_t *actual, ucd_info_t info, ucd_op_t op, ucd_request_t *request) {
    return guard(function, [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        UCD_TRY(check_copy(intype, outtype, op, actual, c));
        const CallHints call_hints(*context, info);
        const Hints &hints = call_hints;
        const auto reduction = static_cast<Op>(op);
        std::unique_ptr<AsyncOperation> operation;
        if (c.length > 0) {
            if ((all_on_host(*context, hints, *c.from_type) &&
                 all_on_host(*context, hints, *c.to_type)) ||
                both_in_heap_or_stack(hints, c)) [[likely]]
                UCD_TRY(copy_on_host(*context, c, reduction, hints.limits));
            else
                UCD_TRY(submit(*context, c, reduction, hints, nullptr, operation));
        }
        UCD_TRY(end(*context, std::move(operation), request));
        *actual = c.to_length;
        return success;
    });
}

CheckedCopy copy_of(const void *inbuf, uintptr_t incount, void *outbuf, uintptr_t outcount) {
    CheckedCopy c;
    decode(c, inbuf, incount, 0, outbuf, outcount, 0, UINTPTR_MAX);
    return c;
}

} // namespace

int ucd_pack(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
             void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes, ucd_info_t info,
             ucd_op_t op) {
    return move("ucd_pack", Direction::pack, inbuf, incount, inoffset, outbuf, max_pack_bytes, type,
                op, actual_pack_bytes, info, nullptr);
}

int ucd_unpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
               ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
               ucd_info_t info, ucd_op_t op) {
    return move("ucd_unpack", Direction::unpack, outbuf, outcount, outoffset, inbuf, insize, type,
                op, actual_unpack_bytes, info, nullptr);
}

int ucd_ipack(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
              void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes, ucd_info_t info,
              ucd_op_t op, ucd_request_t *request) {
    if (const int rc = check_request("ucd_ipack", request); rc != UCD_SUCCESS) return rc;
    return move("ucd_ipack", Direction::pack, inbuf, incount, inoffset, outbuf, max_pack_bytes,
                type, op, actual_pack_bytes, info, request);
}

int ucd_iunpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                ucd_info_t info, ucd_op_t op, ucd_request_t *request) {
    if (const int rc = check_request("ucd_iunpack", request); rc != UCD_SUCCESS) return rc;
    return move("ucd_iunpack", Direction::unpack, outbuf, outcount, outoffset, inbuf, insize, type,
                op, actual_unpack_bytes, info, request);
}

int ucd_copy(const void *inbuf, uintptr_t incount, ucd_type_t intype, void *outbuf,
             uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual_bytes, ucd_info_t info,
             ucd_op_t op) {
    CheckedCopy c = copy_of(inbuf, incount, outbuf, outcount);
    return copy("ucd_copy", c, intype, outtype, actual_bytes, info, op, nullptr);
}

int ucd_icopy(const void *inbuf, uintptr_t incount, ucd_type_t intype, void *outbuf,
              uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual_bytes, ucd_info_t info,
              ucd_op_t op, ucd_request_t *request) {
    if (const int rc = check_request("ucd_icopy", request); rc != UCD_SUCCESS) return rc;
    CheckedCopy c = copy_of(inbuf, incount, outbuf, outcount);
    return copy("ucd_icopy", c, intype, outtype, actual_bytes, info, op, request);
}

int ucd_pack_stream(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
                    void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes,
                    ucd_info_t info, ucd_op_t op, ucd_stream_t stream) {
    return move_in_stream(
        "ucd_pack_stream",
        decoded(Direction::pack, inbuf, incount, inoffset, outbuf, max_pack_bytes), type, op,
        actual_pack_bytes, info, stream);
}

int ucd_unpack_stream(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                      ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                      ucd_info_t info, ucd_op_t op, ucd_stream_t stream) {
    return move_in_stream("ucd_unpack_stream",
                          decoded(Direction::unpack, outbuf, outcount, outoffset, inbuf, insize),
                          type, op, actual_unpack_bytes, info, stream);
}

int ucd_copy_stream(const void *inbuf, uintptr_t incount, ucd_type_t intype, void *outbuf,
                    uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual_bytes,
                    ucd_info_t info, ucd_op_t op, ucd_stream_t stream) {
    return guard("ucd_copy_stream", [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        CheckedCopy c = copy_of(inbuf, incount, outbuf, outcount);
        UCD_TRY(check_copy(intype, outtype, op, actual_bytes, c));
        StreamTarget target;
        UCD_TRY(resolve_stream(*context, stream, target));
        const CallHints hints(*context, info);
        std::unique_ptr<AsyncOperation> none; // stays null: the work is in the stream
        UCD_TRY(submit(*context, c, static_cast<Op>(op), hints, &target, none));
        *actual_bytes = c.to_length;
        return success;
    });
}
