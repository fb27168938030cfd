// ucd_prepare: does in advance what the first use of a type in a stream would do.

#include "api/api_guard.h"
#include "api/resolve_stream.h"
#include "transfer/check.h"
#include "transfer/submission_builder.h"

#include <ucd.h>

using namespace ucd;

int ucd_prepare(uintptr_t count, ucd_type_t type, ucd_op_t op, ucd_stream_t stream,
                ucd_info_t info) {
    return guard("ucd_prepare", info, [&](Context &context) -> Status {
        const Type *resolved;
        UCD_TRY(resolve(type, "type", resolved));
        UCD_TRY(check_op(op));
        if ((resolved->ops & op_bit(static_cast<Op>(op))) == 0)
            return fail_unsupported(static_cast<Op>(op), *resolved);
        uint64_t total;
        UCD_TRY(check_count(count, *resolved, "count", total));
        StreamTarget target;
        UCD_TRY(resolve_stream(context, stream, target));
        if (total == 0) return success;
        UCD_TRY(check_supported(target.executor, static_cast<Op>(op), *resolved));
        const CallHints call_hints(context, info);
        const Hints &hints = call_hints;
        return prepare_in(target, *resolved, count, static_cast<Op>(op), hints.limits);
    });
}
