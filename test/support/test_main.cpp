// The main function of every Catch2 test program, for Catch2 2 and 3. What a random test may be
// told is in support/random_cases.hpp. Define UCD_TEST_NO_LIBRARY for programs that do not link the
// library (the oracle's own test).
#define CATCH_CONFIG_RUNNER
#include "support/catch.hpp"

#include "support/random_cases.hpp"

#include <cstdio>

namespace {

bool start_library() {
#ifndef UCD_TEST_NO_LIBRARY
    if (const int rc = ucd_init(UCD_INFO__NULL); rc != UCD_SUCCESS) {
        std::fprintf(stderr, "ucd_init: %s: %s\n", ucd_strerror(rc), ucd_last_error());
        return false;
    }
#endif
    return true;
}

bool stop_library() {
#ifndef UCD_TEST_NO_LIBRARY
    if (const int rc = ucd_finalize(); rc != UCD_SUCCESS) {
        std::fprintf(stderr, "ucd_finalize: %s: %s\n", ucd_strerror(rc), ucd_last_error());
        return false;
    }
#endif
    return true;
}

} // namespace

int main(int argc, char **argv) {
    ucdtest::report_case_on_crash();
    Catch::Session session;
    if (const int rc = session.applyCommandLine(argc, argv); rc != 0) return rc;
    if (!start_library()) return 2;
    std::fprintf(stderr, "UCD_TEST_SEED=%llu\n",
                 static_cast<unsigned long long>(ucdtest::session_seed()));
    const int failed = session.run();
    const bool stopped = stop_library();
    std::fprintf(stderr, "%zu random cases\n", ucdtest::cases_run());
    return failed != 0 ? failed : stopped ? 0 : 2;
}
