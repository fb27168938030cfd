// Texts of the type language: a word, a number or a sign in the place of another.
#include "inputs.hpp"

#include <cctype>
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

constexpr std::string_view words[] = {"contig",
                                      "dup",
                                      "vector",
                                      "hvector",
                                      "indexed_block",
                                      "hindexed_block",
                                      "indexed",
                                      "hindexed",
                                      "struct",
                                      "resized",
                                      "subarray",
                                      "darray",
                                      "ndarray",
                                      "int",
                                      "double",
                                      "byte",
                                      "short_int",
                                      "a",
                                      "C",
                                      "FORTRAN",
                                      "BLOCK",
                                      "CYCLIC",
                                      "NONE",
                                      "DFLT",
                                      "(",
                                      ")",
                                      "[",
                                      "]",
                                      ",",
                                      ":",
                                      ";",
                                      "="};

std::string replacement(Rng &rng, const FlatBytes &text, const Token &token) {
    const bool number = std::isdigit(text[token.at]) != 0 || text[token.at] == '-';
    if (number && rng.chance(80))
        return std::to_string(rng.chance(10) ? interesting(rng) : rng.between(-8, 40));
    return std::string(words[rng.below(std::size(words))]);
}

} // namespace

Corpus first_inputs() {
    return {};
}

void change(Rng &rng, FlatBytes &bytes, const Corpus &corpus) {
    const std::vector<Token> tokens = tokens_of(bytes);
    if (tokens.empty() || rng.chance(10)) return change_bytes(rng, bytes, corpus);
    const Token token = tokens[rng.below(tokens.size())];
    const std::string other = replacement(rng, bytes, token);
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(token.at);
    const auto behind = bytes.erase(from, from + static_cast<std::ptrdiff_t>(token.length));
    bytes.insert(behind, other.begin(), other.end());
}

FlatBytes put_together(Rng &) {
    return {};
}

} // namespace ucdtest::fuzz
