// Packing, unpacking and copying, which share their code from the checks on, as do blocking and
// nonblocking calls.

#include "api/api_guard.h"
#include "api/resolve_stream.h"
#include "transfer/check.h"
#include "transfer/host.h"
#include "transfer/known_move.h"
#include "transfer/submission_builder.h"

#include <ucd.h>

// In a file that is compiled as all of the library is. Sources of kernels have arguments of their
// own.
#if !defined(__OPTIMIZE__) && !defined(UCD_UNOPTIMISED)
#pragma GCC warning                                                                                \
    "UCD is compiled without optimisation and moves data up to 100 times slower. If that is wanted: -DUCD_UNOPTIMISED"
#endif

using namespace ucd;

namespace {

// Moves a whole object whose type the host has moved before, in host memory, without an op and
// without hints but for that memory. Returns false if it is any other call, and did nothing then.
[[gnu::always_inline]] inline bool move_known(Direction direction, const void *typed,
                                              uintptr_t count, uintptr_t offset, const void *packed,
                                              uintptr_t packed_bytes, ucd_type_t handle,
                                              ucd_op_t op, uintptr_t *actual, ucd_info_t info) {
    const Context *const context = running_context.load(std::memory_order_acquire);
    if (context == nullptr || actual == nullptr || op != UCD_OP__REPLACE) return false;
    const bool is_hinted = info != UCD_INFO__NULL;
    if (is_hinted && (is_checked(info) || !info_of(info)->names_host_only)) return false;
    const KnownMove known = find_known(handle, count, offset, packed, packed_bytes);
    if (known.plan == nullptr || context->defaults.limits.threads != 1) return false;
    auto *const at = static_cast<char *>(const_cast<void *>(typed));
    auto *const stream = static_cast<char *>(const_cast<void *>(packed));
    // A hint is about the buffers: the indices of a type by reference may be in other memory.
    if (is_hinted ? known.type->by_reference && context->devices
                  : !all_on_host(*context, context->defaults, known.type, at, nullptr, stream))
        return false;
    move_whole(*known.plan, direction, at, stream);
    *actual = known.type->size;
    return true;
}

// Starts a move that may be in device memory, or that goes into a stream, where `operation` stays
// null: the stream has the work.
[[gnu::noinline]] Status submit(Context &context, const CheckedMove &m, const Hints &hints,
                                const StreamTarget *stream,
                                std::unique_ptr<AsyncOperation> &operation) {
    bool started;
    UCD_TRY(start_known(context, m, hints, stream, operation, started));
    if (started) return success;
    Router router(context, hints, stream);
    SubmissionBuilder builder(router);
    UCD_TRY(builder.add(m));
    return builder.start(operation);
}

// Starts one checked move, by run_on_host(m) if both of its sides are in host memory. If the caller
// wants no request, waits.
template <class RunOnHost>
[[gnu::always_inline]] inline Status run(Context &context, CheckedMove &m, ucd_info_t info,
                                         ucd_request_t *request, const RunOnHost &run_on_host) {
    const CallHints call_hints(context, info);
    const Hints &hints = call_hints;
    if (all_on_host(context, hints, m.from_type, m.from.address, m.to_type, m.to.address))
        [[likely]] {
        m.limits = hints.limits;
        if (m.length > 0) UCD_TRY(run_on_host(m));
        return end_call(context, nullptr, request);
    }
    std::unique_ptr<AsyncOperation> operation;
    UCD_TRY(submit(context, m, hints, nullptr, operation));
    return end_call(context, std::move(operation), request);
}

const char *actual_name(Direction direction) {
    return direction == Direction::pack ? "actual_pack_bytes" : "actual_unpack_bytes";
}

// Checks the arguments and moves the data. Not inlined, so that calls of move_known() need few
// registers and little of the stack. For each direction by itself, because small calls would notice
// that it has to be looked up.
template <Direction direction>
[[gnu::noinline]] Status move_checked(CheckedMove &m, ucd_type_t type, ucd_op_t op,
                                      uintptr_t *actual, ucd_info_t info, ucd_request_t *request) {
    Context *context;
    UCD_TRY(current(context, info));
    UCD_TRY(require(actual, actual_name(direction)));
    UCD_TRY(check_move(type, "type", op, direction, m));
    // The checks have set both to this, which calls in them hide from the compiler.
    (direction == Direction::pack ? m.to_type : m.from_type) = nullptr;
    UCD_TRY(run(
        *context, m, info, request, [&](CheckedMove & checked) __attribute__((always_inline)) {
            return run_on_host(*context, direction, checked);
        }));
    *actual = m.length;
    return success;
}

// Moves the data, with a request or blocking. Inlined in each function that calls it, because a
// small call takes hardly longer than its checks.
template <Direction direction>
[[gnu::always_inline]] inline int move(const char *function, const void *typed, uintptr_t count,
                                       uintptr_t offset, const void *packed, uintptr_t packed_bytes,
                                       ucd_type_t type, ucd_op_t op, uintptr_t *actual,
                                       ucd_info_t info, ucd_request_t *request) {
    return guard(
        function, [&]() __attribute__((always_inline))->Status {
            if (move_known(direction, typed, count, offset, packed, packed_bytes, type, op, actual,
                           info)) [[likely]] {
                if (request != nullptr) *request = UCD_REQUEST__NULL;
                return success;
            }
            CheckedMove m = decoded(direction, typed, count, offset, packed, packed_bytes);
            return move_checked<direction>(m, type, op, actual, info, request);
        });
}

int move_in_stream(const char *function, Direction direction, const void *typed, uintptr_t count,
                   uintptr_t offset, const void *packed, uintptr_t packed_bytes, ucd_type_t type,
                   ucd_op_t op, uintptr_t *actual, ucd_info_t info, const ucd_stream_t &stream) {
    return guard(function, info, [&](Context &context) -> Status {
        UCD_TRY(require(actual, actual_name(direction)));
        StreamTarget target;
        std::unique_ptr<AsyncOperation> in_stream;
        UCD_TRY(resolve_stream(context, stream, target));
        CheckedMove m = decoded(direction, typed, count, offset, packed, packed_bytes);
        UCD_TRY(check_move(type, "type", op, direction, m));
        UCD_TRY(submit(context, m, CallHints(context, info), &target, in_stream));
        *actual = m.length;
        return success;
    });
}

// The only difference of nonblocking calls is that they require a request.
int check_request(const char *function, ucd_request_t *request) {
    if (request != nullptr) [[likely]]
        return UCD_SUCCESS;
    return guard(function, [&](Context &) -> Status { return require(request, "request"); });
}

CheckedMove decoded_copy(const void *inbuf, uintptr_t incount, void *outbuf, uintptr_t outcount) {
    return {inbuf, incount, 0, outbuf, outcount, 0, UINTPTR_MAX};
}

// Checks a decoded copy, which moves the whole input.
Status check_copy(ucd_type_t intype, ucd_type_t outtype, ucd_op_t op, const uintptr_t *actual,
                  CheckedMove &m) {
    uint64_t in_total, out_total;
    UCD_TRY(check_sides(intype, outtype, op, m, in_total, out_total));
    UCD_TRY(require(actual, "actual_bytes"));
    if (in_total > out_total && !is_conversion(m.op))
        return fail(UCD_ERR__TRUNCATED, "the output has room for %ju bytes of the input's %ju",
                    static_cast<uintmax_t>(out_total), static_cast<uintmax_t>(in_total));
    if (op != UCD_OP__REPLACE) UCD_TRY(check_elements(m, in_total, out_total));
    if (m.length < in_total)
        return fail(UCD_ERR__TRUNCATED, "the output has elements for %ju bytes of the input's %ju",
                    static_cast<uintmax_t>(m.length), static_cast<uintmax_t>(in_total));
    return success;
}

// Copies within the call, with a request, or in a stream if there is one.
int copy(const char *function, const void *inbuf, uintptr_t incount, ucd_type_t intype,
         void *outbuf, uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual, ucd_info_t info,
         ucd_op_t op, ucd_request_t *request, const ucd_stream_t *stream = nullptr) {
    return guard(function, info, [&](Context &context) -> Status {
        CheckedMove m = decoded_copy(inbuf, incount, outbuf, outcount);
        UCD_TRY(check_copy(intype, outtype, op, actual, m));
        if (stream != nullptr) {
            StreamTarget target;
            std::unique_ptr<AsyncOperation> in_stream;
            UCD_TRY(resolve_stream(context, *stream, target));
            UCD_TRY(submit(context, m, CallHints(context, info), &target, in_stream));
        } else {
            UCD_TRY(run(context, m, info, request, [&](const CheckedMove &checked) {
                return copy_on_host(context, checked);
            }));
        }
        *actual = m.to_length;
        return success;
    });
}

} // namespace

int ucd_pack(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
             void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes, ucd_info_t info,
             ucd_op_t op) {
    return move<Direction::pack>("ucd_pack", inbuf, incount, inoffset, outbuf, max_pack_bytes, type,
                                 op, actual_pack_bytes, info, nullptr);
}

int ucd_unpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
               ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
               ucd_info_t info, ucd_op_t op) {
    return move<Direction::unpack>("ucd_unpack", outbuf, outcount, outoffset, inbuf, insize, type,
                                   op, actual_unpack_bytes, info, nullptr);
}

int ucd_ipack(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
              void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes, ucd_info_t info,
              ucd_op_t op, ucd_request_t *request) {
    if (const int rc = check_request("ucd_ipack", request); rc != UCD_SUCCESS) return rc;
    return move<Direction::pack>("ucd_ipack", inbuf, incount, inoffset, outbuf, max_pack_bytes,
                                 type, op, actual_pack_bytes, info, request);
}

int ucd_iunpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                ucd_info_t info, ucd_op_t op, ucd_request_t *request) {
    if (const int rc = check_request("ucd_iunpack", request); rc != UCD_SUCCESS) return rc;
    return move<Direction::unpack>("ucd_iunpack", outbuf, outcount, outoffset, inbuf, insize, type,
                                   op, actual_unpack_bytes, info, request);
}

int ucd_copy(const void *inbuf, uintptr_t incount, ucd_type_t intype, void *outbuf,
             uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual_bytes, ucd_info_t info,
             ucd_op_t op) {
    return copy("ucd_copy", inbuf, incount, intype, outbuf, outcount, outtype, actual_bytes, info,
                op, nullptr);
}

int ucd_icopy(const void *inbuf, uintptr_t incount, ucd_type_t intype, void *outbuf,
              uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual_bytes, ucd_info_t info,
              ucd_op_t op, ucd_request_t *request) {
    if (const int rc = check_request("ucd_icopy", request); rc != UCD_SUCCESS) return rc;
    return copy("ucd_icopy", inbuf, incount, intype, outbuf, outcount, outtype, actual_bytes, info,
                op, request);
}

int ucd_pack_stream(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
                    void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes,
                    ucd_info_t info, ucd_op_t op, ucd_stream_t stream) {
    return move_in_stream("ucd_pack_stream", Direction::pack, inbuf, incount, inoffset, outbuf,
                          max_pack_bytes, type, op, actual_pack_bytes, info, stream);
}

int ucd_unpack_stream(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                      ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                      ucd_info_t info, ucd_op_t op, ucd_stream_t stream) {
    return move_in_stream("ucd_unpack_stream", Direction::unpack, outbuf, outcount, outoffset,
                          inbuf, insize, type, op, actual_unpack_bytes, info, stream);
}

int ucd_copy_stream(const void *inbuf, uintptr_t incount, ucd_type_t intype, void *outbuf,
                    uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual_bytes,
                    ucd_info_t info, ucd_op_t op, ucd_stream_t stream) {
    return copy("ucd_copy_stream", inbuf, incount, intype, outbuf, outcount, outtype, actual_bytes,
                info, op, nullptr, &stream);
}
