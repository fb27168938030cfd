// Splits the text of an expression into tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ucdtool {

struct Token {
    enum class Kind : uint8_t { end, word, number, path, mark };
    Kind kind = Kind::end;
    std::size_t at = 0;
    std::string_view text; // for words and marks: as written
    intptr_t number = 0;
    std::string path; // without the @ and quotes

    bool is(char mark) const { return kind == Kind::mark && text[0] == mark; }
};

class Tokens {
public:
    explicit Tokens(std::string_view text) : text_(text) { advance(); }
    const Token &peek() const { return token_; }
    Token take();
    std::string shown() const; // words the next token for messages

private:
    void advance();
    void skip_space();
    Token path();
    Token word_or_number(bool negative);

    std::string_view text_;
    std::size_t at_ = 0;
    Token token_;
};

} // namespace ucdtool
