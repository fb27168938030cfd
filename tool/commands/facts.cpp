#include "commands/facts.hpp"

#include <charconv>

namespace ucdtool {

Facts::Facts(ucd::TypeRef type) {
    const std::string text = type.describe();
    constexpr std::string_view separator = ": ";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const std::string_view line = std::string_view(text).substr(at, end - at);
        const std::size_t colon = line.find(separator);
        if (colon != std::string_view::npos)
            lines_.emplace_back(line.substr(0, colon), line.substr(colon + separator.size()));
        at = end + 1;
    }
}

std::vector<std::string> Facts::all(std::string_view key) const {
    std::vector<std::string> values;
    for (const auto &[k, value] : lines_)
        if (k == key) values.push_back(value);
    return values;
}

std::string Facts::one(std::string_view key) const {
    const std::vector<std::string> values = all(key);
    return values.empty() ? "" : values[0];
}

int64_t Facts::number(std::string_view key) const {
    const std::string value = one(key);
    int64_t n = 0;
    std::from_chars(value.data(), value.data() + value.size(), n);
    return n;
}

} // namespace ucdtool
