#include "c_api/refusal.hpp"

#include "c_api/allocations.hpp"

namespace ucdtest {

void Refusals::refused(const char *function, int status, std::string_view words, CallRef call) {
    // What is kept for the next call is there after two: a batch is remembered when it comes again.
    for (int i = 0; i < 2; ++i) {
        out.reset();
        call();
    }
    out.reset();
    const Outputs before = out;
    const std::ptrdiff_t live = live_allocations();
    const int rc = call();
    const std::ptrdiff_t left = live_allocations() - live;
    const std::string message = ucd_last_error();
    INFO(message);
    CHECK(std::string(ucd_strerror(rc)) == ucd_strerror(status));
    CHECK(message.substr(0, std::strlen(function) + 2) == std::string(function) + ": ");
    CHECK(message.find(words) != std::string::npos);
    const bool unchanged = std::memcmp(&out, &before, sizeof out) == 0;
    CHECK(unchanged);
    CHECK(left == 0);
}

void Refusals::invalid(const char *function, std::string_view words, CallRef call) {
    refused(function, UCD_ERR__INVALID_ARG, words, call);
}

void Outputs::reset() {
    std::memset(static_cast<void *>(this), pattern, sizeof *this);
    layout.struct_size = sizeof layout;
    backend.struct_size = sizeof backend;
}

} // namespace ucdtest
