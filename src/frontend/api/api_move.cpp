// Packing, unpacking and copying. Pack and unpack are one path with a direction, and
// so are the calls that wait and those that hand out a request.

#include "api/api_guard.h"
#include "prepared/element_match.h"
#include "transfer/arguments.h"
#include "transfer/device_copy.h"
#include "transfer/heap_and_stack.h"
#include "transfer/host_copy.h"
#include "transfer/host_submission.h"
#include "transfer/submission.h"

#include <ucd.h>

using namespace ucd;

namespace {

// Whether the data of a type is where drivers have no memory of devices; indices may be anywhere.
bool typed_in_heap_or_stack(const Transfer &t) {
    return !t.type->by_reference && in_heap_or_stack(first_byte(*t.type, t.typed));
}

// Whether both sides are, as far as hints do not say.
bool both_in_heap_or_stack(const Hints &hints, const Transfer &t) {
    return hints.inbuf == nullptr && hints.outbuf == nullptr && in_heap_or_stack(t.packed) &&
           typed_in_heap_or_stack(t);
}
bool both_in_heap_or_stack(const Hints &hints, const Transfer &from, const Transfer &to) {
    return hints.inbuf == nullptr && hints.outbuf == nullptr && typed_in_heap_or_stack(from) &&
           typed_in_heap_or_stack(to);
}

// Starts one checked transfer; waits for it if there is no request to hand out.
[[gnu::always_inline]] inline Status run(Context &context, const Transfer &t, Direction direction,
                                         Op op, ucd_info_t info, ucd_request_t *request) {
    const CallHints call_hints(context, info);
    const Hints &hints = call_hints;
    if (all_on_host(context, hints, *t.type) || both_in_heap_or_stack(hints, t)) [[likely]] {
        if (t.length > 0) UCD_TRY(run_on_host(context, t, direction, op, hints.limits));
        if (request != nullptr) *request = UCD_REQUEST__NULL;
        return success;
    }
    std::unique_ptr<AsyncOperation> operation;
    const Transfer member = t; // so that the address of `t` is not taken, see check_move()
    if (t.length > 0)
        UCD_TRY(Submission::start_one(context, member, direction, op, hints, operation));
    if (request == nullptr) return operation ? finish(context, std::move(operation)) : success;
    *request = operation ? hand_out(context, std::move(operation)) : UCD_REQUEST__NULL;
    return success;
}

// One copy for each function that calls it: a small call takes hardly longer than its checks.
[[gnu::always_inline]] inline int move(const char *function, const MoveArguments &arguments,
                                       Direction direction, uintptr_t *actual, ucd_info_t info,
                                       ucd_request_t *request) {
    return guard(
        function, [&]() __attribute__((always_inline))->Status {
            Context *context;
            UCD_TRY(current(context));
            UCD_TRY(require(actual, direction == Direction::pack ? "actual_pack_bytes"
                                                                 : "actual_unpack_bytes"));
            Transfer t;
            UCD_TRY(check_move(arguments, direction, t));
            UCD_TRY(run(*context, t, direction, static_cast<Op>(arguments.op), info, request));
            *actual = t.length;
            return success;
        });
}

// The nonblocking calls differ from the others only in that they must have a request.
int check_request(const char *function, ucd_request_t *request) {
    if (request != nullptr) [[likely]]
        return UCD_SUCCESS;
    return guard(function, [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        return require(request, "request");
    });
}

int copy(const char *function, const void *inbuf, uintptr_t incount, ucd_type_t intype,
         void *outbuf, uintptr_t outcount, ucd_type_t outtype, uintptr_t *actual, ucd_info_t info,
         ucd_op_t op, ucd_request_t *request) {
    return guard(function, [&]() -> Status {
        Context *context;
        UCD_TRY(current(context));
        Transfer from, to;
        UCD_TRY(resolve(intype, "intype", from.type));
        UCD_TRY(resolve(outtype, "outtype", to.type));
        UCD_TRY(require(actual, "actual_bytes"));
        UCD_TRY(check_op(op, *from.type));
        uint64_t in_total, out_total;
        UCD_TRY(check_count(incount, *from.type, "incount", in_total));
        UCD_TRY(check_count(outcount, *to.type, "outcount", out_total));
        if (in_total > out_total)
            return fail(UCD_ERR__TRUNCATED, "the output has room for %ju bytes of the input's %ju",
                        static_cast<uintmax_t>(out_total), static_cast<uintmax_t>(in_total));
        if (op != UCD_OP__REPLACE &&
            !same_elements(*from.type, incount, *to.type, outcount, in_total))
            return fail(
                UCD_ERR__INVALID_ARG,
                "outtype has other elements than intype; they must be equal under a reduction");
        from.count = incount;
        to.count = outcount;
        from.typed = static_cast<char *>(const_cast<void *>(inbuf));
        to.typed = static_cast<char *>(outbuf);
        from.length = to.length = in_total;
        const CallHints call_hints(*context, info);
        const Hints &hints = call_hints;
        std::unique_ptr<AsyncOperation> operation;
        if (in_total > 0) {
            const auto reduction = static_cast<Op>(op);
            if ((all_on_host(*context, hints, *from.type) &&
                 all_on_host(*context, hints, *to.type)) ||
                both_in_heap_or_stack(hints, from, to)) [[likely]]
                UCD_TRY(copy_on_host(*context, from, to, reduction, hints.limits));
            else
                UCD_TRY(start_copy(*context, from, to, reduction, hints, operation));
        }
        if (request != nullptr)
            *request = operation ? hand_out(*context, std::move(operation)) : UCD_REQUEST__NULL;
        else if (operation)
            UCD_TRY(finish(*context, std::move(operation)));
        *actual = in_total;
        return success;
    });
}

} // namespace

int ucd_pack(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
             void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes, ucd_info_t info,
             ucd_op_t op) {
    return move("ucd_pack", {inbuf, incount, type, inoffset, outbuf, max_pack_bytes, op},
                Direction::pack, actual_pack_bytes, info, nullptr);
}

int ucd_unpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
               ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
               ucd_info_t info, ucd_op_t op) {
    return move("ucd_unpack", {outbuf, outcount, type, outoffset, inbuf, insize, op},
                Direction::unpack, actual_unpack_bytes, info, nullptr);
}

int ucd_ipack(const void *inbuf, uintptr_t incount, ucd_type_t type, uintptr_t inoffset,
              void *outbuf, uintptr_t max_pack_bytes, uintptr_t *actual_pack_bytes, ucd_info_t info,
              ucd_op_t op, ucd_request_t *request) {
    if (const int rc = check_request("ucd_ipack", request); rc != UCD_SUCCESS) return rc;
    return move("ucd_ipack", {inbuf, incount, type, inoffset, outbuf, max_pack_bytes, op},
                Direction::pack, actual_pack_bytes, info, request);
}

int ucd_iunpack(const void *inbuf, uintptr_t insize, void *outbuf, uintptr_t outcount,
                ucd_type_t type, uintptr_t outoffset, uintptr_t *actual_unpack_bytes,
                ucd_info_t info, ucd_op_t op, ucd_request_t *request) {
    if (const int rc = check_request("ucd_iunpack", request); rc != UCD_SUCCESS) return rc;
    return move("ucd_iunpack", {outbuf, outcount, type, outoffset, inbuf, insize, op},
                Direction::unpack, actual_unpack_bytes, info, request);
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
