// Fills in the blanks of sentences. Formatting libraries are not used, because the Python package
// also compiles the language, the files that this reads and the picture, where such libraries are
// not available.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

namespace ucdtool {

// A sentence with n blanks, {}. A sentence with another number of blanks does not compile.
template <std::size_t n>
class Sentence {
public:
    consteval Sentence(const char *text) : text_(text) {
        std::size_t blanks = 0;
        for (std::size_t at = 0; (at = text_.find("{}", at)) != std::string_view::npos; at += 2)
            ++blanks;
        if (blanks != n) throw "the sentence has another number of blanks";
    }
    constexpr std::string_view text() const { return text_; }

private:
    std::string_view text_;
};

inline std::string as_word(std::string_view text) {
    return std::string(text);
}
inline std::string as_word(char c) {
    return {c};
}
template <std::integral T>
std::string as_word(T number) {
    return std::to_string(number);
}

template <class... Words>
std::string filled(std::type_identity_t<Sentence<sizeof...(Words)>> sentence,
                   const Words &...words) {
    std::string_view rest = sentence.text();
    std::string text;
    const auto fill = [&](const std::string &word) {
        const std::size_t blank = rest.find("{}");
        text += rest.substr(0, blank);
        text += word;
        rest.remove_prefix(blank + 2);
    };
    (fill(as_word(words)), ...);
    text += rest;
    return text;
}

template <class List>
std::string joined(const List &list, std::string_view separator) {
    std::string text;
    for (bool first = true; const auto &entry : list) {
        if (!first) text += separator;
        text += as_word(entry);
        first = false;
    }
    return text;
}

} // namespace ucdtool
