#include "harness/options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <limits>
#include <type_traits>

namespace bench {
namespace {

template <class Value>
constexpr bool is_list = false;
template <class Element>
constexpr bool is_list<std::vector<Element>> = true;

template <class Value>
void declare(CLI::App &app, const Option &option, Value &value) {
    if constexpr (std::is_same_v<Value, bool>) {
        app.add_flag(option.name, value, option.text)->group(option.group);
    } else {
        CLI::Option *const o = app.add_option(option.name, value, option.text)->group(option.group);
        if constexpr (is_list<Value>) o->delimiter(',');
        if constexpr (std::is_same_v<Value, double>)
            o->check(CLI::PositiveNumber);
        else if constexpr (std::is_same_v<Value, unsigned>)
            o->check(CLI::Range(static_cast<unsigned>(option.least), 1'000'000u));
        else if constexpr (std::is_same_v<Value, std::int64_t> ||
                           std::is_same_v<Value, std::vector<std::int64_t>>)
            o->check(CLI::Range(option.least, std::numeric_limits<std::int64_t>::max()));
        if constexpr (!is_list<Value>)
            o->capture_default_str();
        else if (!value.empty())
            o->capture_default_str();
        if (!option.choices.empty()) o->check(CLI::IsMember(option.choices));
    }
}

} // namespace

std::vector<Option> common_options(Settings &settings) {
    return {
        {"--repetitions", &settings.effort.repetitions, "Repetitions, of which the median counts"},
        {"--min-time", &settings.effort.seconds, "Seconds that a repetition takes at least"},
        {"--budget", &settings.budget, "Seconds after which no new row starts"},
        {"--filter", &settings.filter, "Only rows with this text in their names"},
        {"--csv", &settings.csv, "Write the results to this file"},
    };
}

std::optional<int> parse(int argc, char **argv, const std::string &name,
                         const std::string &description, const std::vector<Option> &options) {
    CLI::App app(description, name);
    for (const Option &option : options)
        std::visit([&](auto *value) { declare(app, option, *value); }, option.value);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &e) {
        return app.exit(e);
    }
    return std::nullopt;
}

int run_program(const std::string &name, const std::function<int()> &body) {
    try {
        return body();
    } catch (const std::exception &e) {
        fmt::print(stderr, "{}: {}\n", name, e.what());
        return 1;
    }
}

} // namespace bench
