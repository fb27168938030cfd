// Texts of the type language: a word, a number or a sign in the place of another, mostly of one
// that means the same kind of thing, so that a good part of the texts are types.
#include "inputs.hpp"

#include "support/oracle/recipe.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>

namespace ucdtest::fuzz {
namespace {

struct Token {
    std::size_t at, length;
};

std::vector<Token> tokens_of(const FlatBytes &text) {
    std::vector<Token> tokens;
    const auto is_word = [&](std::size_t i) {
        return std::isalnum(text[i]) != 0 || text[i] == '_' || text[i] == '-';
    };
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i + 1;
        while (is_word(i) && end < text.size() && is_word(end)) ++end;
        tokens.push_back({i, end - i});
        i = end;
    }
    return tokens;
}

constexpr std::string_view predefined[] = {"int", "double", "byte", "short_int", "float"};
constexpr std::string_view other_words[] = {
    "a", "C", "FORTRAN", "BLOCK", "CYCLIC", "NONE", "DFLT", "(", ")", "[", "]", ",", ":", ";", "="};

std::string_view drawn_word(Rng &rng) {
    const std::size_t n = rng.below(constructor_names.size() + std::size(other_words));
    return n < constructor_names.size() ? constructor_names[n]
                                        : other_words[n - constructor_names.size()];
}

std::string replacement(Rng &rng, const FlatBytes &text, const Token &token) {
    const bool number = std::isdigit(text[token.at]) != 0 || text[token.at] == '-';
    if (number && rng.chance(80))
        return std::to_string(rng.chance(10) ? interesting(rng) : rng.between(-8, 40));
    const std::string_view old(reinterpret_cast<const char *>(text.data()) + token.at,
                               token.length);
    const bool is_type = std::ranges::find(predefined, old) != std::end(predefined);
    if (is_type ? rng.chance(80) : rng.chance(10))
        return std::string(predefined[rng.below(std::size(predefined))]);
    return std::string(drawn_word(rng));
}

} // namespace

Corpus first_inputs() {
    return {};
}

void change(Rng &rng, FlatBytes &bytes, const Corpus &corpus) {
    const std::vector<Token> tokens = tokens_of(bytes);
    if (tokens.empty() || rng.chance(10)) return change_bytes(rng, bytes, corpus);
    Token token = tokens[rng.below(tokens.size())];
    // Half of the tokens are signs, and a text with another one is seldom a type.
    if (std::isalnum(bytes[token.at]) == 0 && rng.chance(70))
        token = tokens[rng.below(tokens.size())];
    const std::string other = replacement(rng, bytes, token);
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(token.at);
    const auto behind = bytes.erase(from, from + static_cast<std::ptrdiff_t>(token.length));
    bytes.insert(behind, other.begin(), other.end());
}

FlatBytes put_together(Rng &) {
    return {};
}

} // namespace ucdtest::fuzz
