// ucd_test, ucd_wait, ucd_waitall. Requests stay valid after the last ucd_finalize, which completes
// their work.

#include "api/api_guard.h"
#include "transfer/context.h"
#include "transfer/progress.h"

#include <ucd.h>

namespace ucd {
namespace {

AsyncOperation &operation_of(ucd_request_t request) {
    return *reinterpret_cast<AsyncOperation *>(request);
}

bool test(AsyncOperation &operation) {
    if (operation.done()) return true;
    Context *context = running_context.load(std::memory_order_acquire);
    return context->progress->test(operation);
}

// Frees a request that is complete, and returns the status of its work.
Status end(ucd_request_t &request) {
    const std::unique_ptr<AsyncOperation> operation(&operation_of(request));
    request = UCD_REQUEST__NULL;
    return operation->outcome();
}

Status wait(ucd_request_t &request, const char *argument) {
    if (request == UCD_REQUEST__NULL) return success;
    UCD_TRY(check_handle(request, HandleKind::request, argument));
    AsyncOperation &operation = operation_of(request);
    if (!operation.done())
        running_context.load(std::memory_order_acquire)->progress->wait(operation);
    return end(request);
}

} // namespace
} // namespace ucd

using namespace ucd;

int ucd_test(ucd_request_t *request, int *completed) {
    return guard("ucd_test", [&]() -> Status {
        UCD_TRY(check_ever_initialised());
        UCD_TRY(require(request, "request"));
        UCD_TRY(require(completed, "completed"));
        UCD_TRY(check_handle(*request, HandleKind::request, "*request"));
        *completed = *request == UCD_REQUEST__NULL || test(operation_of(*request));
        if (*completed == 0 || *request == UCD_REQUEST__NULL) return success;
        return end(*request);
    });
}

int ucd_wait(ucd_request_t *request) {
    return guard("ucd_wait", [&]() -> Status {
        UCD_TRY(check_ever_initialised());
        UCD_TRY(require(request, "request"));
        return wait(*request, "*request");
    });
}

int ucd_waitall(uintptr_t count, ucd_request_t *requests) {
    return guard("ucd_waitall", [&]() -> Status {
        UCD_TRY(check_ever_initialised());
        UCD_TRY(require_list(requests, count, "requests"));
        Status first;
        LastError sentence;
        for (uintptr_t i = 0; i < count; ++i) {
            const Status status = wait(requests[i], "one of requests");
            if (status.ok() || !first.ok()) continue;
            first = status;
            sentence = last_error();
        }
        if (!first.ok()) last_error() = sentence;
        return first;
    });
}
