#include "language/tokens.hpp"

#include "failure.hpp"
#include "filled.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace ucdtool {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

} // namespace

Token Tokens::take() {
    Token taken = std::move(token_);
    advance();
    return taken;
}

std::string Tokens::shown() const {
    switch (token_.kind) {
    case Token::Kind::end: return "the end";
    case Token::Kind::number: return std::to_string(token_.number);
    case Token::Kind::path: return "@" + token_.path;
    case Token::Kind::word:
    case Token::Kind::mark: break;
    }
    constexpr std::size_t most = 40;
    const bool cut = token_.text.size() > most;
    return filled("'{}{}'", token_.text.substr(0, most), cut ? "..." : "");
}

void Tokens::skip_space() {
    for (; at_ < text_.size(); ++at_) {
        if (text_[at_] == '#')
            at_ = std::min(text_.find('\n', at_), text_.size() - 1);
        else if (!is_space(text_[at_]))
            return;
    }
}

void Tokens::advance() {
    skip_space();
    token_ = {};
    token_.at = at_;
    if (at_ >= text_.size()) return;
    const char c = text_[at_];
    if (is_word(c)) {
        token_ = word_or_number(false);
    } else if (c == '-' && at_ + 1 < text_.size() &&
               std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0) {
        token_ = word_or_number(true);
    } else if (c == '@') {
        token_ = path();
    } else if (std::string_view("()[],:;=").find(c) != std::string_view::npos) {
        token_.kind = Token::Kind::mark;
        token_.text = text_.substr(at_++, 1);
    } else {
        const auto byte = static_cast<unsigned char>(c);
        throw SyntaxError(at_, std::isprint(byte) != 0
                                   ? filled("'{}' is no part of the language", c)
                                   : filled("byte {} is no part of the language", byte));
    }
}

// 2int and 2float are words, although they begin with a digit.
Token Tokens::word_or_number(bool negative) {
    Token t;
    t.at = at_;
    const std::size_t begin = at_ + negative;
    std::size_t end = begin;
    while (end < text_.size() && is_word(text_[end])) ++end;
    t.text = text_.substr(at_, end - at_);
    const std::string_view digits = text_.substr(begin, end - begin);
    at_ = end;
    if (!std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c) != 0; })) {
        if (negative) throw SyntaxError(t.at, filled("'{}' is no integer", t.text));
        t.kind = Token::Kind::word;
        return t;
    }
    t.kind = Token::Kind::number;
    const auto [rest, error] =
        std::from_chars(t.text.data(), t.text.data() + t.text.size(), t.number);
    if (error != std::errc())
        throw SyntaxError(t.at, filled("{} does not fit a 64-bit integer", t.text));
    return t;
}

Token Tokens::path() {
    Token t;
    t.kind = Token::Kind::path;
    t.at = at_++;
    if (at_ < text_.size() && text_[at_] == '"') {
        const std::size_t end = text_.find('"', at_ + 1);
        if (end == std::string_view::npos)
            throw SyntaxError(t.at, "the file name has no closing '\"'");
        t.path = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
    } else {
        const std::size_t begin = at_;
        while (at_ < text_.size() && !is_space(text_[at_]) &&
               std::string_view("()[],;").find(text_[at_]) == std::string_view::npos)
            ++at_;
        t.path = text_.substr(begin, at_ - begin);
    }
    if (t.path.empty()) throw SyntaxError(t.at, "expected a file name after '@'");
    return t;
}

} // namespace ucdtool
