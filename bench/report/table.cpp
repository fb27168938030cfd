#include "report/table.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <stdexcept>
#include <unistd.h>

namespace bench {

Progress::Progress(bool silent) : silent_(silent), terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::say(const std::string &text) {
    if (silent_) return;
    if (terminal_) {
        fmt::print(stderr, "\r\033[K{}", text);
        std::fflush(stderr);
        shown_ = true;
    } else {
        fmt::print(stderr, "{}\n", text);
    }
}

void Progress::clear() {
    if (!shown_) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    shown_ = false;
}

Table::Table(Progress &progress, std::vector<Column> columns)
    : progress_(progress), columns_(std::move(columns)) {}

void Table::row(const Comparison &comparison, const std::vector<std::string> &given) {
    std::vector<std::string> cells;
    auto next = given.begin();
    for (const Column &c : columns_)
        cells.push_back(c.cell                ? c.cell(comparison)
                        : next != given.end() ? *next++
                                              : std::string());
    row(cells);
}

void Table::row(const std::vector<std::string> &cells) {
    if (progress_.silent()) return;
    progress_.clear();
    const auto print = [this](auto cell_of) {
        std::string line;
        for (std::size_t i = 0; i < columns_.size(); ++i)
            line += i == 0 ? fmt::format("{:<{}}", cell_of(i), columns_[i].width)
                           : fmt::format("  {:>{}}", cell_of(i), columns_[i].width);
        fmt::print("{}\n", line);
    };
    if (!has_header_) print([this](std::size_t i) { return columns_[i].title; });
    has_header_ = true;
    print([&](std::size_t i) { return i < cells.size() ? cells[i] : std::string(); });
    std::fflush(stdout);
}

namespace column {

Column subject(std::string title, unsigned width) {
    return {std::move(title), width,
            [](const Comparison &c) { return c.results().front().subject; }};
}

Column operation(unsigned width) {
    return {"", width, [](const Comparison &c) { return c.results().front().operation; }};
}

Column kib(unsigned width) {
    return {"KiB", width, [](const Comparison &c) {
                return fmt::format("{:.0f}", static_cast<double>(c.results().front().bytes) / 1024);
            }};
}

Column mib(unsigned width) {
    return {"MiB", width, [](const Comparison &c) {
                return three_digits(static_cast<double>(c.results().front().bytes) / (1 << 20));
            }};
}

Column rate(std::string contender, unsigned width, std::string title) {
    return {title.empty() ? contender : std::move(title), width,
            [contender](const Comparison &c) { return c.rate(contender); }};
}

Column time(std::string contender, unsigned width, std::string title) {
    return {title.empty() ? contender : std::move(title), width,
            [contender](const Comparison &c) { return c.time(contender); }};
}

Column speedup(std::string contender, std::string than, unsigned width, std::string title) {
    return {title.empty() ? contender + "/" + than : std::move(title), width,
            [contender, than](const Comparison &c) { return c.speedup(contender, than); }};
}

} // namespace column

std::string three_digits(double value) {
    const int digits = value < 0.9995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f}", value, digits);
}

std::string duration(double seconds) {
    const char *const units[] = {"ns", "us", "ms"};
    double value = seconds * 1e9;
    for (const char *unit : units) {
        if (value < 999.5) return fmt::format("{} {}", three_digits(value), unit);
        value /= 1000;
    }
    return fmt::format("{} s", three_digits(value));
}

std::string ratio(double value) {
    return fmt::format("{:.2f}", value);
}

const Result *Comparison::find(std::string_view name) const {
    const Result *best = nullptr;
    for (const Result &r : results_) {
        if (r.contender == name) return &r;
        if (r.contender.starts_with(fmt::format("{}, ", name)) &&
            (best == nullptr || r.seconds() < best->seconds()))
            best = &r;
    }
    return best;
}

double Comparison::seconds(std::string_view name) const {
    const Result *const r = find(name);
    if (r == nullptr) throw std::logic_error(fmt::format("no contender \"{}\"", name));
    return r->seconds();
}

std::optional<double> Comparison::speed(std::string_view contender, std::string_view than) const {
    const Result *const a = find(contender), *const b = find(than);
    if (a == nullptr || b == nullptr) return std::nullopt;
    return b->seconds() / a->seconds();
}

std::string Comparison::rate(std::string_view name) const {
    const Result *const r = find(name);
    return r == nullptr ? "-" : three_digits(r->gigabytes_per_second());
}

std::string Comparison::time(std::string_view name) const {
    const Result *const r = find(name);
    return r == nullptr ? "-" : duration(r->seconds());
}

std::string Comparison::speedup(std::string_view contender, std::string_view than) const {
    const std::optional<double> value = speed(contender, than);
    return value ? ratio(*value) : "-";
}

std::string Comparison::variant(std::string_view name) const {
    const Result *const r = find(name);
    if (r == nullptr) return "-";
    return r->contender.substr(std::min(name.size() + 2, r->contender.size()));
}

} // namespace bench
