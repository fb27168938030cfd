// The main function of every Catch2 test program, for Catch2 2 and 3. What a random test may be
// told is in support/random/random_cases.hpp.
#include "support/catch_session.hpp"
#include "support/random/random_cases.hpp"
#include "support/test_start.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// How a program tells Meson that it was skipped.
constexpr int skipped = 77;

// Whether the environment's variable, a list with commas, names the backend.
bool is_named(const char *variable, const std::string &name) {
    const char *names = std::getenv(variable);
    return names != nullptr &&
           ("," + std::string(names) + ",").find("," + name + ",") != std::string::npos;
}

// Why the tests cannot run; "" if they can. UCD_TEST_NEEDS_BACKEND names the backends that have to
// have a device. `required`: UCD_REQUIRE_BACKEND names one that has none, so that the tests fail.
std::string reason_to_skip([[maybe_unused]] bool &required) {
    std::string reason;
#ifndef UCD_TEST_NO_LIBRARY
    int count = 0;
    if (std::getenv("UCD_TEST_NEEDS_BACKEND") == nullptr ||
        ucd_backend_count(&count) != UCD_SUCCESS)
        return ""; // asking a backend initialises its driver
    for (int i = 0; i < count; ++i) {
        ucd_backend_desc_t desc{};
        desc.struct_size = sizeof desc;
        if (ucd_backend_get(i, &desc) != UCD_SUCCESS ||
            !is_named("UCD_TEST_NEEDS_BACKEND", desc.name) ||
            (desc.available != 0 && desc.devices > 0))
            continue;
        required = required || is_named("UCD_REQUIRE_BACKEND", desc.name);
        reason += (reason.empty() ? "" : "; ") + std::string(desc.name) + ": " + desc.reason;
    }
#endif
    return reason;
}

bool stop_library() {
    if (const int rc = ucd_finalize(); rc != UCD_SUCCESS) {
        std::fprintf(stderr, "ucd_finalize: %s: %s\n", ucd_strerror(rc), ucd_last_error());
        return false;
    }
    return true;
}

} // namespace

[[gnu::weak]] bool ucdtest::start_library() {
    if (const int rc = ucd_init(UCD_INFO__NULL); rc != UCD_SUCCESS) {
        std::fprintf(stderr, "ucd_init: %s: %s\n", ucd_strerror(rc), ucd_last_error());
        return false;
    }
    return true;
}

[[gnu::weak]] bool ucdtest::tests_can_fail() {
    return true;
}

int main(int argc, char **argv) {
    ucdtest::report_case_on_crash();
    if (const int rc = ucdtest::read_command_line(argc, argv); rc != 0) return rc;
    if (!ucdtest::start_library()) return 2;
    bool required = false;
    if (const std::string reason = reason_to_skip(required); !reason.empty()) {
        std::fprintf(stderr, "%s: %s\n", required ? "failed" : "skipped", reason.c_str());
        return stop_library() && !required ? skipped : 2;
    }
    if (!ucdtest::tests_can_fail()) return 2;
    std::fprintf(stderr, "UCD_TEST_SEED=%llu\n",
                 static_cast<unsigned long long>(ucdtest::session_seed()));
    const int failed = ucdtest::run_session();
    const bool stopped = stop_library();
    std::fprintf(stderr, "%zu random cases\n", ucdtest::cases_run());
    return failed != 0 ? failed : stopped ? 0 : 2;
}
