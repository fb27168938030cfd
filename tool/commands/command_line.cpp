// No other file includes CLI11, because it takes seconds to compile.
#include "commands/command_line.hpp"

#include "commands/output.hpp"
#include "failure.hpp"
#include "language/nearest.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

namespace ucdtool {
namespace {

CLI::Validator one_of(const std::vector<std::string> &choices) {
    const auto check = [choices](const std::string &word) -> std::string {
        if (std::ranges::find(choices, word) != choices.end()) return "";
        return fmt::format("'{}' is none of {}{}", word, fmt::join(choices, ", "),
                           did_you_mean(word, choices));
    };
    return {check, fmt::format("{{{}}}", fmt::join(choices, ","))};
}

// Not CLI::NonNegativeNumber, because its message contains all digits of the largest double.
CLI::Range range_of(const CommandArgument &a) {
    const bool any = a.least == 0 && a.most == INT64_MAX;
    return {a.least, a.most, any ? "NONNEGATIVE" : fmt::format("{} to {}", a.least, a.most)};
}

std::string example_lines(const std::vector<std::string> &examples) {
    return fmt::format("Examples:\n  {}", fmt::join(examples, "\n  "));
}

void add(CLI::App &app, const Command &command) {
    CLI::App *c = app.add_subcommand(command.name, command.description);
    c->footer(example_lines(command.examples));
    for (const CommandArgument &a : command.arguments) {
        CLI::Option *option = std::visit(
            [&](auto *target) {
                if constexpr (std::is_same_v<decltype(target), bool *>)
                    return c->add_flag(a.names, *target, a.description);
                else
                    return c->add_option(a.names, *target, a.description);
            },
            a.target);
        option->required(a.required);
        if (!a.choices.empty())
            option->check(one_of(a.choices));
        else if (!a.is_flag() && !std::holds_alternative<std::string *>(a.target) &&
                 !std::holds_alternative<int64_t *>(a.target))
            option->check(range_of(a));
    }
    for (const CommandArgument &a : command.arguments) {
        const std::string name = a.each_name().back();
        for (const std::string &other : a.needs) c->get_option(name)->needs(other);
        for (const std::string &other : a.excludes) c->get_option(name)->excludes(other);
    }
}

const Command *chosen(const CLI::App &app, const Program &program) {
    const std::vector<const CLI::App *> named =
        app.get_subcommands([](const CLI::App *c) { return c->parsed(); });
    if (named.empty()) return nullptr;
    return &*std::ranges::find(program.commands, named[0]->get_name(), &Command::name);
}

// The error message for arguments that no command accepts, in the order given; "" if there are
// none.
std::string what_is_left_over(const CLI::App &app, const Program &program) {
    std::vector<std::string> rest = app.remaining(true);
    std::erase(rest, "--");
    if (rest.empty()) return "";
    const Command *command = chosen(app, program);
    std::vector<std::string> known = {"--help"};
    if (command == nullptr) known.emplace_back("--version");
    for (const CommandArgument &a :
         command == nullptr ? std::vector<CommandArgument>{} : command->options())
        known.push_back(a.each_name().back());
    std::vector<std::string> unknown;
    for (const std::string &word : rest)
        if (word.size() > 1 && word[0] == '-') {
            const std::string name = word.substr(0, word.find('='));
            unknown.push_back(fmt::format("unknown option {}{}", name, did_you_mean(name, known)));
        }
    // Do not report words besides an unknown option, since they may be meant as its value.
    if (!unknown.empty()) return fmt::format("{}", fmt::join(unknown, "\n"));
    if (command != nullptr)
        return fmt::format("{} takes no more arguments: {}", command->name, fmt::join(rest, " "));
    std::vector<std::string> names;
    for (const Command &c : program.commands) names.push_back(c.name);
    return fmt::format("unknown command '{}'{}", rest[0], did_you_mean(rest[0], names));
}

} // namespace

const Command *read_command_line(int argc, const char *const *argv, const Program &program) {
    CLI::App app(program.description, program.name);
    // At least one command is required, too, but CLI11 would report a missing command instead of an
    // unknown one.
    app.require_subcommand(0, 1);
    app.set_version_flag("--version", program.version);
    std::vector<std::string> examples;
    for (const Command &command : program.commands) {
        add(app, command);
        examples.push_back(command.examples.front());
    }
    app.footer(fmt::format("{}\n\n{}", program.footer, example_lines(examples)));
    std::string wrong;
    try {
        app.parse(argc, argv);
        if (const Command *command = chosen(app, program)) return command;
        wrong = "a subcommand is required";
    } catch (const CLI::CallForHelp &) {
        print(app.help());
        return nullptr;
    } catch (const CLI::CallForVersion &) {
        print(program.version + "\n");
        return nullptr;
    } catch (const CLI::ExtrasError &) {
        wrong = what_is_left_over(app, program);
    } catch (const CLI::RequiredError &e) {
        wrong = what_is_left_over(app, program);
        if (wrong.empty()) wrong = e.what();
    } catch (const CLI::ParseError &e) {
        wrong = e.what();
    }
    const Command *command = chosen(app, program);
    throw Failure(Exit::usage,
                  fmt::format("{}\n{}{} --help says more", wrong, program.name,
                              command == nullptr ? "" : fmt::format(" {}", command->name)));
}

} // namespace ucdtool
