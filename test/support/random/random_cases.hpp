// Random tests as numbered cases: each case has a seed of its own, made from the session's seed,
// the name of the test and the case's number, so that any one can be run again alone.
//
//   UCD_TEST_SEED=n|random   the session's seed; printed at the start and with each failure
//   UCD_TEST_CASES=x         factor on the number of cases of each test (0.1, 20, …)
//   UCD_TEST_CASE=i          run case i only, and print its recipes even if nothing fails
#pragma once

#include "support/oracle/recipe.hpp"
#include "support/random/rng.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace ucdtest {

std::uint64_t session_seed();

class Case {
public:
    Case(const char *test, std::size_t number);

    Rng &rng() { return rng_; }
    std::size_t number() const { return number_; }

    // Remembers what the case is about; put into words only when it fails.
    void about(const char *role, const RecipePtr &recipe, std::size_t count = 1);

    // Ends the test with the seed, the case's number, the recipes and this message.
    template <class... Parts>
    [[noreturn]] void fail(const Parts &...parts) const {
        std::ostringstream text;
        (text << ... << parts);
        fail_with(text.str());
    }

    // For calls that must succeed. `what` names the call. Inline, so that programs without the
    // library link.
    void succeed(int rc, const char *what) const {
        if (rc != UCD_SUCCESS) fail(what, " returned ", ucd_strerror(rc), ": ", ucd_last_error());
    }

private:
    [[noreturn]] void fail_with(const std::string &what) const;

    struct Subject {
        const char *role;
        RecipePtr recipe;
        std::size_t count;
    };
    static std::string describe(const Subject &subject);

    const char *test_;
    std::size_t number_;
    Rng rng_;
    std::vector<Subject> subjects_;
};

// How many of the random cases are run: UCD_TEST_CASES, or 1.
double case_factor();

// Runs `default_count` cases times UCD_TEST_CASES (or the one of UCD_TEST_CASE). An exception in
// the body, such as a recipe that cannot be built, is a failure of the case.
void run_cases(const char *test, std::size_t default_count,
               const std::function<void(Case &)> &body);

// The number of cases run so far by all tests, for the summary.
std::size_t cases_run();

// Lets a crash (a page guard that was hit) name the seed and the case before the process dies.
void report_case_on_crash();

} // namespace ucdtest
