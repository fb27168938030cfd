// ucd completion: completion scripts for shells, generated from the commands.

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

using Offers = CommandArgument::Offers;

std::string joined(const std::vector<std::string> &words) {
    return fmt::format("{}", fmt::join(words, " "));
}

std::vector<std::string> words_for_types() {
    std::vector<std::string> words;
    for (const Constructor &c : constructors()) words.push_back(c.name + std::string("("));
    for (const PredefinedName &p : predefined_names()) words.emplace_back(p.name);
    return words;
}

std::vector<std::string> words_for_elements() {
    std::vector<std::string> words;
    for (const PredefinedName &p : predefined_names()) words.emplace_back(p.name);
    return words;
}

// ---- bash ----

// The statement that sets COMPREPLY to the completions of a value.
std::string bash_reply(const CommandArgument &a) {
    if (!a.choices.empty()) return fmt::format("_ucd_words '{}'", joined(a.choices));
    switch (a.offers) {
    case Offers::nothing: return ":";
    case Offers::files: return "_ucd_files";
    case Offers::types: return "_ucd_types";
    case Offers::elements: return fmt::format("_ucd_words '{}'", joined(words_for_elements()));
    }
    return ":";
}

std::string bash_case(const Command &c) {
    std::string options, with_value, values, positions;
    for (const CommandArgument &a : c.options()) {
        const std::vector<std::string> names = a.each_name();
        options += fmt::format("{}{}", options.empty() ? "" : " ", joined(names));
        if (a.is_flag()) continue;
        with_value += joined(names) + " ";
        values += fmt::format("        {}) {}; return ;;\n", fmt::join(names, "|"), bash_reply(a));
    }
    const std::vector<CommandArgument> positionals = c.positionals();
    for (std::size_t i = 0; i < positionals.size(); ++i)
        positions += fmt::format("        {}) {} ;;\n", i, bash_reply(positionals[i]));
    return fmt::format("    {})\n"
                       "        case $prev in\n"
                       "{}"
                       "        *) ;;\n"
                       "        esac\n"
                       "        if [[ $cur == -* ]]; then\n"
                       "            _ucd_words '{}'\n"
                       "            return\n"
                       "        fi\n"
                       "        _ucd_position ' {}'\n"
                       "        case $position in\n"
                       "{}"
                       "        *) ;;\n"
                       "        esac ;;\n",
                       c.name, values, options, with_value, positions);
}

std::string bash(const std::vector<Command> &all) {
    std::vector<std::string> names;
    std::string cases;
    for (const Command &c : all) {
        names.push_back(c.name);
        cases += bash_case(c);
    }
    return fmt::format(
        R"(# bash completion for ucd
_ucd_words() {{
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}}
_ucd_files() {{
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}}
# An expression, or @ and a file that holds a type.
_ucd_types() {{
    if [[ $cur == @* ]]; then
        mapfile -t COMPREPLY < <(compgen -P @ -f -- "${{cur#@}}")
    else
        compopt -o nospace
        _ucd_words '{}'
    fi
}}
# How many arguments that are no options stand before the cursor. $1: the options with a value.
_ucd_position() {{
    local i
    position=0
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ $1 == *" ${{COMP_WORDS[i]}} "* ]]; then
            ((++i))
        elif [[ ${{COMP_WORDS[i]}} != -?* ]]; then
            ((++position))
        fi
    done
}}
_ucd() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} position
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        _ucd_words '{} --help --version'
        return
    fi
    case ${{COMP_WORDS[1]}} in
{}    *) ;;
    esac
}}
complete -F _ucd ucd
)",
        joined(words_for_types()), joined(names), cases);
}

// ---- zsh ----

// Quotes text with single quotes, as zsh and fish do.
std::string quoted(std::string text) {
    for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4)
        text.replace(at, 1, "'\\''");
    return fmt::format("'{}'", text);
}

std::string zsh_escaped(const std::string &text) {
    std::string out;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':') out += '\\';
        out += c;
    }
    return out;
}

// The action in zsh's _arguments that completes a value.
std::string zsh_action(const CommandArgument &a) {
    if (!a.choices.empty()) return fmt::format("({})", joined(a.choices));
    switch (a.offers) {
    case Offers::nothing: return " ";
    case Offers::files: return "_files";
    case Offers::types: return R"(compadd -S "" -a types)";
    case Offers::elements: return "($elements)";
    }
    return " ";
}

std::string zsh_case(const Command &c) {
    std::string text = fmt::format("    {})\n        _arguments", c.name);
    for (const CommandArgument &a : c.options())
        for (const std::string &name : a.each_name()) {
            std::string spec = fmt::format("{}[{}]", name, zsh_escaped(a.description));
            if (!a.is_flag()) spec += ":value:" + zsh_action(a);
            text += " \\\n            " + quoted(spec);
        }
    int place = 0;
    for (const CommandArgument &a : c.positionals())
        text +=
            " \\\n            " + quoted(fmt::format("{}:{}:{}", ++place, a.names, zsh_action(a)));
    return text + " ;;\n";
}

std::string zsh(const std::vector<Command> &all) {
    std::string commands, types, cases;
    for (const Command &c : all) {
        commands += fmt::format("        {}\n", quoted(c.name + ":" + zsh_escaped(c.description)));
        cases += zsh_case(c);
    }
    for (const std::string &w : words_for_types())
        types += fmt::format("{}{}", types.empty() ? "" : " ", quoted(w));
    return fmt::format(R"(#compdef ucd
_ucd() {{
    local -a commands types elements
    commands=(
{}    )
    types=({})
    elements=({})
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words; (( CURRENT-- ))
    case $command in
{}    esac
}}
_ucd "$@"
)",
                       commands, types, joined(words_for_elements()), cases);
}

// ---- fish ----

// The options of fish's complete that say where the values come from.
std::string fish_values(const CommandArgument &a) {
    if (!a.choices.empty()) return " -x -a " + quoted(joined(a.choices));
    switch (a.offers) {
    case Offers::nothing: return " -x";
    case Offers::files: return " -r -F";
    case Offers::types: return " -r -F -a " + quoted(joined(words_for_types()));
    case Offers::elements: return " -x -a " + quoted(joined(words_for_elements()));
    }
    return "";
}

std::string fish(const std::vector<Command> &all) {
    std::string text = "# fish completion for ucd\n";
    for (const Command &c : all)
        text += fmt::format("complete -c ucd -n __fish_use_subcommand -f -a {} -d {}\n", c.name,
                            quoted(c.description));
    for (const Command &c : all) {
        const std::string start =
            fmt::format("complete -c ucd -n '__fish_seen_subcommand_from {}'", c.name);
        for (const CommandArgument &a : c.options()) {
            text += start;
            for (const std::string &name : a.each_name())
                text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            if (!a.is_flag()) text += fish_values(a);
            text += " -d " + quoted(a.description) + "\n";
        }
        bool takes_files = false;
        for (const CommandArgument &a : c.positionals()) {
            takes_files = takes_files || a.offers == Offers::files || a.offers == Offers::types;
            const std::vector<std::string> words =
                a.offers == Offers::types ? words_for_types() : a.choices;
            if (!words.empty()) text += start + " -a " + quoted(joined(words)) + "\n";
        }
        if (!takes_files) text += start + " -f\n";
    }
    return text;
}

} // namespace

Command completion_command(const std::vector<Command> &all) {
    const auto shell = std::make_shared<std::string>();
    return {
        "completion",
        "Print the completion script of a shell",
        {{.names = "SHELL",
          .target = shell.get(),
          .description = "bash, zsh or fish",
          .required = true,
          .choices = {"bash", "zsh", "fish"}}},
        [&all, shell] {
            print(*shell == "bash" ? bash(all) : *shell == "zsh" ? zsh(all) : fish(all));
        },
        {"eval \"$(ucd completion bash)\""},
    };
}

} // namespace ucdtool
