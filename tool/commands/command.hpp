// A command as data: what it takes, and what it does. The parser, the completion scripts and the
// manual are made from it.
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
    // What a shell offers for the value, beside `choices`.
    enum class Offers { nothing, files, types, elements };

    std::string names; // "-t,--type"; without dashes, "TYPE": positional
    Target target;     // a bool: a flag without a value
    std::string description;
    bool required = false;
    Offers offers = Offers::nothing;
    std::vector<std::string> choices;             // if there are any, the value is one of them
    uint64_t least = 0, most = INT64_MAX;         // of a number without a sign
    std::vector<std::string> needs{}, excludes{}; // names of options

    bool is_positional() const { return names[0] != '-'; }
    bool is_flag() const { return std::holds_alternative<bool *>(target); }
    // Each name; the last one is the long one.
    std::vector<std::string> each_name() const;
};

struct Command {
    std::string name, description;
    std::vector<CommandArgument> arguments;
    std::function<void()> run;
    std::vector<std::string> examples; // for a shell

    std::vector<CommandArgument> positionals() const;
    // With --help, which every command has.
    std::vector<CommandArgument> options() const;
};

} // namespace ucdtool
