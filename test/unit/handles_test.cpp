// Requests in the table of handles. Host memory has none, so here a class stands for their work.
#include "support/catch.hpp"

#include "transfer/progress.h"

#include <ucd.h>

#include <memory>
#include <string>

namespace handles_test {
namespace {

struct Work : ucd::AsyncOperation {
    bool progress() noexcept override { return true; }
    bool staged() const noexcept override { return false; }
};

} // namespace

TEST_CASE("With ucd.check=handles, requests that were freed or are none are refused") {
    ucd::check_handles(true);
    auto work = std::make_unique<Work>();
    ucd_request_t request = work->handle();
    std::uintptr_t size;
    CHECK(ucd_get_size(reinterpret_cast<ucd_type_t>(request), &size) == UCD_ERR__INVALID_ARG);
    CHECK(std::string(ucd_last_error()).ends_with("which is a request and not a type"));
    CHECK(ucd::look_up_handle(request, ucd::HandleKind::request, "r").ok());
    work.reset();
    int completed = 7;
    const ucd_request_t freed = request;
    for (int i = 0; i < 3; ++i) {
        CHECK((i == 0   ? ucd_test(&request, &completed)
               : i == 1 ? ucd_wait(&request)
                        : ucd_waitall(1, &request)) == UCD_ERR__INVALID_ARG);
        CHECK(std::string(ucd_last_error()).ends_with("which was freed"));
    }
    CHECK((request == freed && completed == 7));
    // At the same address, something of another kind.
    ucd::HandleEntry entry;
    entry.add(freed, ucd::HandleKind::plan);
    CHECK(ucd_wait(&request) == UCD_ERR__INVALID_ARG);
    CHECK(std::string(ucd_last_error()).ends_with("which is a plan and not a request"));
    ucd::check_handles(false);
}

} // namespace handles_test
