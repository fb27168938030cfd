// Commands as data: their arguments, and the functions that run them. The parser, the completion
// scripts and the manual are generated from this data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ucdtool {

struct CommandArgument {
    using Target = std::variant<bool *, std::string *, unsigned *, uint64_t *, int64_t *,
                                std::optional<uint64_t> *>;
    // What a shell completes the value with, in addition to `choices`.
    enum class Offers { nothing, files, types, elements };

    std::string names; // "-t,--type"; without dashes, as in "TYPE", positional
    Target target;     // bool for a flag without a value
    std::string description;
    bool required = false;
    Offers offers = Offers::nothing;
    std::vector<std::string> choices;             // if not empty, the value must be one of these
    uint64_t least = 0, most = INT64_MAX;         // limits of an unsigned number
    std::vector<std::string> needs{}, excludes{}; // names of options

    bool is_positional() const { return names[0] != '-'; }
    bool is_flag() const { return std::holds_alternative<bool *>(target); }
    // All names; the long one is last.
    std::vector<std::string> each_name() const;
};

struct Command {
    std::string name, description;
    std::vector<CommandArgument> arguments;
    std::function<void()> run;
    std::vector<std::string> examples; // shell commands

    std::vector<CommandArgument> positionals() const;
    // Includes --help, which every command has.
    std::vector<CommandArgument> options() const;
};

} // namespace ucdtool
