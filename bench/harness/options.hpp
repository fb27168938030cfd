// The options of a program, as data.
#pragma once

#include "harness/run.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace bench {

struct Option {
    const char *name;
    // Where its value goes, and where its default is. Lists are separated by commas.
    std::variant<bool *, unsigned *, std::int64_t *, double *, std::string *,
                 std::vector<std::int64_t> *, std::vector<std::string> *>
        value;
    std::string text;
    const char *group = "Options";
    std::vector<std::string> choices = {}; // of a text
    std::int64_t least = 1;                // of whole numbers; others are positive
};

// --repetitions, --min-time, --budget, --filter, --csv.
std::vector<Option> common_options(Settings &settings);

// The program's exit status if it has nothing to do: after --help, or for a wrong option.
std::optional<int> parse(int argc, char **argv, const std::string &name,
                         const std::string &description, const std::vector<Option> &options);

// Runs body(), and says why it failed if it did. The exit status.
int run_program(const std::string &name, const std::function<int()> &body);

} // namespace bench
