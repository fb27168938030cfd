#include "request.h"

#include "failure.h"
#include "handle_table.h"
#include "life_cycle.h"

#include <cstddef>
#include <new>

namespace ucd_yaksa {
namespace {

constexpr std::uint32_t max_requests = 1 << 20;

// Never destroyed, like the table of types.
HandleTable<ucd_request_t> &started_requests() {
    alignas(HandleTable<ucd_request_t>) static std::byte memory[sizeof(HandleTable<ucd_request_t>)];
    static auto *const made = new (memory) HandleTable<ucd_request_t>(1, max_requests);
    return *made;
}

int find_request(yaksa_request_t request, ucd_request_t *&started) {
    if (!is_initialized()) return fail(YAKSA_ERR__INTERNAL, "yaksa_init was not called");
    started = started_requests().find(request);
    if (started != nullptr) return YAKSA_SUCCESS;
    return fail(YAKSA_ERR__INTERNAL, "request is 0x%llx, which is no request",
                static_cast<unsigned long long>(request));
}

void remove_request(yaksa_request_t request) {
    ucd_request_t complete = UCD_REQUEST__NULL;
    started_requests().remove(request, complete);
}

int test(yaksa_request_t request, int *completed) {
    if (completed == nullptr) return fail(YAKSA_ERR__INTERNAL, "completed is NULL; it must not be");
    if (request == YAKSA_REQUEST__NULL) {
        *completed = 1;
        return YAKSA_SUCCESS;
    }
    ucd_request_t *started = nullptr;
    UCD_TRY(find_request(request, started));
    const int rc = from_ucd(ucd_test(started, completed));
    if (*completed != 0) remove_request(request);
    return rc;
}

int wait(yaksa_request_t request) {
    if (request == YAKSA_REQUEST__NULL) return YAKSA_SUCCESS;
    ucd_request_t *started = nullptr;
    UCD_TRY(find_request(request, started));
    const int rc = from_ucd(ucd_wait(started));
    remove_request(request);
    return rc;
}

} // namespace

int add_request(ucd_request_t started, yaksa_request_t *request) {
    *request = YAKSA_REQUEST__NULL;
    if (started == UCD_REQUEST__NULL) return YAKSA_SUCCESS;
    try {
        *request = started_requests().insert(ucd_request_t(started));
    } catch (const std::bad_alloc &) {
        // The work has been started and must complete: waited for below.
    }
    return *request != YAKSA_REQUEST__NULL ? YAKSA_SUCCESS : from_ucd(ucd_wait(&started));
}

void complete_all_requests() {
    started_requests().clear([](ucd_request_t started) { ucd_wait(&started); });
}

} // namespace ucd_yaksa

using namespace ucd_yaksa;

int yaksa_request_test(yaksa_request_t request, int *completed) {
    return guarded(__func__, [&] { return test(request, completed); });
}

int yaksa_request_wait(yaksa_request_t request) {
    return guarded(__func__, [&] { return wait(request); });
}
