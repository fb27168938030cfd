// ucd completion: scripts for shells, made from the arguments themselves.

#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "language/constructors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

namespace ucdtool {
namespace {

std::vector<const CLI::App *> commands_of(const CLI::App &app) {
    return app.get_subcommands([](const CLI::App *) { return true; });
}

std::vector<std::string> names_of(const CLI::Option &o) {
    std::vector<std::string> names;
    for (const std::string &s : o.get_snames()) names.push_back("-" + s);
    for (const std::string &l : o.get_lnames()) names.push_back("--" + l);
    return names;
}

std::vector<const CLI::Option *> options_of(const CLI::App &command) {
    return command.get_options([](const CLI::Option *o) { return !o->get_positional(); });
}

bool takes_value(const CLI::Option &o) {
    return o.get_items_expected_max() > 0;
}

// What may follow: {a,b,c} in the description of CLI11's IsMember, else nothing.
std::vector<std::string> choices_of(const CLI::Option &o) {
    const std::string type = o.get_type_name();
    const std::size_t open = type.find('{'), close = type.find('}');
    if (open == std::string::npos || close == std::string::npos) return {};
    return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

std::vector<std::string> words_of_the_language() {
    std::vector<std::string> words;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(Kind::flattened); ++i)
        words.push_back(constructor_of(static_cast<Kind>(i)).name + std::string("("));
    for (const PredefinedName &p : predefined_names()) words.emplace_back(p.name);
    return words;
}

bool starts_with_type(const CLI::App &command) {
    return !command
                .get_options([](const CLI::Option *o) {
                    return o->get_positional() && o->get_name(true) == "TYPE";
                })
                .empty();
}

std::string bash(const CLI::App &app) {
    std::string text = "# bash completion for ucd\n_ucd() {\n"
                       "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                       "    COMPREPLY=()\n";
    std::string commands, cases;
    for (const CLI::App *c : commands_of(app)) {
        commands += (commands.empty() ? "" : " ") + c->get_name();
        std::string options, values;
        for (const CLI::Option *o : options_of(*c)) {
            const std::vector<std::string> names = names_of(*o);
            options += fmt::format(" {}", fmt::join(names, " "));
            if (!takes_value(*o)) continue;
            const std::vector<std::string> choices = choices_of(*o);
            const bool type = names.back().ends_with("type");
            const std::string reply =
                !choices.empty() ? fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))",
                                               fmt::join(choices, " "))
                : type
                    ? fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\")); compopt -o nospace",
                                  fmt::join(words_of_the_language(), " "))
                    : "COMPREPLY=($(compgen -f -- \"$cur\"))";
            values += fmt::format("            {}) {}; return ;;\n", fmt::join(names, "|"), reply);
        }
        cases +=
            fmt::format("    {})\n        case $prev in\n{}        esac\n"
                        "        if [[ $cur == -* ]]; then\n"
                        "            COMPREPLY=($(compgen -W '{}' -- \"$cur\"))\n        else\n",
                        c->get_name(), values, options.substr(options.empty() ? 0 : 1));
        cases += starts_with_type(*c)
                     ? fmt::format("            COMPREPLY=($(compgen -W '{}' -- \"$cur\"))\n"
                                   "            compopt -o nospace\n",
                                   fmt::join(words_of_the_language(), " "))
                     : "            COMPREPLY=($(compgen -f -- \"$cur\"))\n";
        cases += "        fi ;;\n";
    }
    text += fmt::format("    if [[ $COMP_CWORD -eq 1 ]]; then\n"
                        "        COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\"))\n"
                        "        return\n    fi\n"
                        "    case ${{COMP_WORDS[1]}} in\n{}    esac\n}}\n"
                        "complete -o filenames -F _ucd ucd\n",
                        commands, cases);
    return text;
}

// In single quotes for zsh and fish.
std::string quoted(std::string text) {
    for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4)
        text.replace(at, 1, "'\\''");
    return "'" + text + "'";
}

std::string zsh_escaped(const std::string &text) {
    std::string out;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':') out += '\\';
        out += c;
    }
    return out;
}

std::string zsh(const CLI::App &app) {
    std::string text = "#compdef ucd\n_ucd() {\n    local -a commands types\n    commands=(\n";
    for (const CLI::App *c : commands_of(app))
        text += "        " + quoted(c->get_name() + ":" + zsh_escaped(c->get_description())) + "\n";
    text += fmt::format("    )\n    types=({})\n", [] {
        std::string words;
        for (const std::string &w : words_of_the_language())
            words += (words.empty() ? "" : " ") + quoted(w);
        return words;
    }());
    text += "    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n"
            "    fi\n    local command=$words[2]\n    shift words; (( CURRENT-- ))\n"
            "    case $command in\n";
    for (const CLI::App *c : commands_of(app)) {
        text += fmt::format("    {})\n        _arguments", c->get_name());
        for (const CLI::Option *o : options_of(*c)) {
            const std::vector<std::string> choices = choices_of(*o);
            for (const std::string &name : names_of(*o)) {
                std::string spec = fmt::format("{}[{}]", name, zsh_escaped(o->get_description()));
                if (takes_value(*o))
                    spec += !choices.empty() ? fmt::format(":value:({})", fmt::join(choices, " "))
                            : name.ends_with("type") ? ":type:($types)"
                                                     : ":value:_files";
                text += " \\\n            " + quoted(spec);
            }
        }
        text += starts_with_type(*c) ? " \\\n            '1:type:compadd -S \"\" -a types'"
                                     : " \\\n            '*:file:_files'";
        text += " ;;\n";
    }
    return text + "    esac\n}\n_ucd \"$@\"\n";
}

std::string fish(const CLI::App &app) {
    std::string text = "# fish completion for ucd\n";
    const std::string none = "complete -c ucd -n __fish_use_subcommand";
    for (const CLI::App *c : commands_of(app))
        text +=
            fmt::format("{} -f -a {} -d {}\n", none, c->get_name(), quoted(c->get_description()));
    for (const CLI::App *c : commands_of(app)) {
        const std::string start =
            fmt::format("complete -c ucd -n '__fish_seen_subcommand_from {}'", c->get_name());
        for (const CLI::Option *o : options_of(*c)) {
            text += start;
            for (const std::string &s : o->get_snames()) text += " -s " + s;
            for (const std::string &l : o->get_lnames()) text += " -l " + l;
            if (takes_value(*o)) text += " -r";
            const std::vector<std::string> choices = choices_of(*o);
            if (!choices.empty())
                text += " -f -a " + quoted(fmt::format("{}", fmt::join(choices, " ")));
            text += " -d " + quoted(o->get_description()) + "\n";
        }
        if (starts_with_type(*c))
            text += fmt::format("{} -f -a {}\n", start,
                                quoted(fmt::format("{}", fmt::join(words_of_the_language(), " "))));
    }
    return text;
}

} // namespace

void add_completion(CLI::App &app) {
    const auto shell = std::make_shared<std::string>();
    CLI::App *c = app.add_subcommand("completion", "Print the completion script of a shell");
    c->add_option("SHELL", *shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    c->callback([&app, shell] {
        print(*shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app));
    });
}

} // namespace ucdtool
