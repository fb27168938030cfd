#include "support/random/random_cases.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <random>
#include <string_view>

#include <unistd.h>

namespace ucdtest {
namespace {

constexpr std::uint64_t default_seed = 20250101;

std::size_t cases_done = 0;

// What a signal handler can still read: set before each case, formatted in advance.
char crash_note[256];
volatile std::size_t crash_note_length = 0;

const char *environment(const char *name) {
    const char *value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

std::optional<std::size_t> only_case() {
    const char *value = environment("UCD_TEST_CASE");
    if (value == nullptr) return std::nullopt;
    return std::strtoull(value, nullptr, 0);
}

std::string how_to_replay(const char *test, std::size_t number) {
    return std::string("UCD_TEST_SEED=") + std::to_string(session_seed()) +
           " UCD_TEST_CASE=" + std::to_string(number) + " '" + test + "'";
}

void set_crash_note(const char *test, std::size_t number) {
    crash_note_length = 0;
    const int length =
        std::snprintf(crash_note, sizeof crash_note,
                      "\n*** crashed in a random case; replay with UCD_TEST_SEED=%llu "
                      "UCD_TEST_CASE=%zu '%.100s'\n",
                      static_cast<unsigned long long>(session_seed()), number, test);
    if (length > 0) crash_note_length = std::min<std::size_t>(length, sizeof crash_note - 1);
}

struct sigaction former_actions[NSIG];

// Writes the note and steps aside: the instruction faults again into whoever was there before us
// (a sanitizer, or the default).
void on_crash(int signal_number) {
    const std::size_t length = crash_note_length;
    if (length != 0) {
        [[maybe_unused]] const auto written = write(STDERR_FILENO, crash_note, length);
    }
    sigaction(signal_number, &former_actions[signal_number], nullptr);
}

} // namespace

double case_factor() {
    const char *value = environment("UCD_TEST_CASES");
    return value == nullptr ? 1.0 : std::max(0.0, std::strtod(value, nullptr));
}

std::uint64_t session_seed() {
    static const std::uint64_t seed = [] {
        const char *value = environment("UCD_TEST_SEED");
        if (value == nullptr) return default_seed;
        if (std::string_view(value) == "random") {
            std::random_device device;
            return static_cast<std::uint64_t>(device());
        }
        return static_cast<std::uint64_t>(std::strtoull(value, nullptr, 0));
    }();
    return seed;
}

Case::Case(const char *test, std::size_t number)
    : test_(test), number_(number), rng_(mix_seed(mix_seed(session_seed(), test), number)) {}

std::string Case::describe(const Subject &subject) {
    return std::string("  ") + subject.role + ": " + std::to_string(subject.count) + " x " +
           to_text(*subject.recipe) + "\n";
}

void Case::about(const char *role, const RecipePtr &recipe, std::size_t count) {
    subjects_.push_back({role, recipe, count});
    if (only_case()) std::fputs(describe(subjects_.back()).c_str(), stderr);
}

void Case::fail_with(const std::string &what) const {
    std::string text = what + "\n  replay: " + how_to_replay(test_, number_) + "\n";
    for (const Subject &subject : subjects_) text += describe(subject);
    FAIL(text);
    std::abort(); // not reached: FAIL throws
}

void run_cases(const char *test, std::size_t default_count,
               const std::function<void(Case &)> &body) {
    const auto scaled =
        static_cast<std::size_t>(static_cast<double>(default_count) * case_factor());
    const std::optional<std::size_t> only = only_case();
    const std::size_t begin = only.value_or(0);
    const std::size_t end = only ? *only + 1 : std::max<std::size_t>(1, scaled);
    for (std::size_t number = begin; number < end; ++number) {
        set_crash_note(test, number);
        Case one(test, number);
        try {
            body(one);
        } catch (const std::exception &error) {
            one.fail(error.what());
        }
        ++cases_done;
    }
    crash_note_length = 0;
    SUCCEED(); // Catch warns of tests that assert nothing
}

std::size_t cases_run() {
    return cases_done;
}

void report_case_on_crash() {
    // A stack of its own, as a crash may be a stack overflow.
    static char stack[64 * 1024];
    stack_t alternate = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (const int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        sigaction(signal_number, &action, &former_actions[signal_number]);
    }
}

} // namespace ucdtest
