#include "plan/tuning_file.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace ucd::gpu {
namespace {

struct Figure {
    std::string_view name;
    double CopyEngine::*member;
};
constexpr Figure figures[] = {
    {"earlier", &CopyEngine::earlier},           {"per_row", &CopyEngine::per_row},
    {"per_odd_row", &CopyEngine::per_odd_row},   {"kernel_per_byte", &CopyEngine::kernel_per_byte},
    {"row_per_byte", &CopyEngine::row_per_byte}, {"list_block", &CopyEngine::list_block}};

// An upper limit for all values, which no measurement exceeds.
constexpr double most = 1e18;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The figure of a name such as "to_host.per_row", or null.
double *find(std::string_view name, CopyEngines &engines) {
    const std::size_t dot = name.find('.');
    const std::string_view direction = name.substr(0, dot);
    CopyEngine *engine = direction == "to_host"     ? &engines.to_host
                         : direction == "from_host" ? &engines.from_host
                                                    : nullptr;
    if (engine == nullptr || dot == std::string_view::npos) return nullptr;
    for (const Figure &figure : figures)
        if (figure.name == name.substr(dot + 1)) return &(engine->*figure.member);
    return nullptr;
}

// Parses a line "name = value"; false if it is invalid. Lines in sections of other devices are
// checked, too.
bool apply_line(std::string_view line, CopyEngines &engines) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return false;
    double *const figure = find(trimmed(line.substr(0, equals)), engines);
    const std::string_view number = trimmed(line.substr(equals + 1));
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    // The comparison is false for NaN.
    if (figure == nullptr || error != std::errc{} || end != number.data() + number.size() ||
        !(value >= 0 && value <= most))
        return false;
    *figure = value;
    return true;
}

} // namespace

Status apply_tuning(std::string_view text, const char *file, std::string_view device,
                    CopyEngines &engines) {
    CopyEngines others{}, mine = engines; // changed only if all lines are valid
    CopyEngines *section = nullptr;
    for (unsigned number = 1; !text.empty(); ++number) {
        const std::size_t length = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, length));
        text.remove_prefix(std::min(length + 1, text.size()));
        if (line.empty() || line.front() == '#') continue;
        if (line.front() == '[' && line.back() == ']') {
            section = line.substr(1, line.size() - 2) == device ? &mine : &others;
        } else if (section == nullptr || !apply_line(line, *section)) {
            return fail(UCD_ERR__INVALID_ARG,
                        "line %u of the tuning file %s is neither [device] nor a figure and its "
                        "value below one",
                        number, file);
        }
    }
    engines = mine;
    return success;
}

Status apply_tuning_file(const char *file, std::string_view device, CopyEngines &engines) {
    struct Close {
        void operator()(std::FILE *f) const { (void)std::fclose(f); }
    };
    const std::unique_ptr<std::FILE, Close> open(std::fopen(file, "re"));
    if (open == nullptr)
        return fail(UCD_ERR__INVALID_ARG, "UCD_TUNING names %s: %s", file, std::strerror(errno));
    std::string text(max_tuning_bytes + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), open.get()));
    if (std::ferror(open.get()) != 0)
        return fail(UCD_ERR__INVALID_ARG, "UCD_TUNING names %s, which cannot be read", file);
    if (text.size() > max_tuning_bytes)
        return fail(UCD_ERR__INVALID_ARG, "UCD_TUNING names %s, which is longer than %zu bytes",
                    file, max_tuning_bytes);
    return apply_tuning(text, file, device, engines);
}

} // namespace ucd::gpu
