// Case of random_cases.hpp for programs without Catch2, whose main function is an engine's:
// failures are exceptions.
#include "support/random/random_cases.hpp"

#include <stdexcept>

namespace ucdtest {

std::uint64_t session_seed() {
    return 1;
}

Case::Case(const char *test, std::size_t number)
    : test_(test), number_(number), rng_(mix_seed(mix_seed(session_seed(), test), number)) {}

std::string Case::describe(const Subject &subject) {
    return std::string("  ") + subject.role + ": " + std::to_string(subject.count) + " x " +
           to_text(*subject.recipe) + "\n";
}

void Case::about(const char *role, const RecipePtr &recipe, std::size_t count) {
    subjects_.push_back({role, recipe, count});
}

void Case::fail_with(const std::string &what) const {
    std::string text = std::string(test_) + ": " + what + "\n";
    for (const Subject &subject : subjects_) text += describe(subject);
    throw std::runtime_error(text);
}

} // namespace ucdtest
