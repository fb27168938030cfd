#include "language/parse.hpp"

#include "failure.hpp"
#include "filled.hpp"
#include "language/constructors.hpp"
#include "language/list_file.hpp"
#include "language/nearest.hpp"
#include "language/tokens.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace ucdtool {
namespace {

// Ranges in lists are expanded. Longer lists belong in a file, or should be regular constructors.
constexpr uint64_t max_in_ranges = uint64_t{1} << 27; // in all ranges of one text

// A constructor whose arguments are being read.
struct Open {
    const Constructor *constructor;
    std::size_t at;
    std::vector<Argument> arguments;
    bool in_list = false; // within a list of types, the last argument
};

class Parser {
public:
    Parser(std::string_view text, NamedFiles files) : tokens_(text), files_(files) {}

    Expression run() {
        for (;;) {
            const NodeId id = type();
            if (!name_.empty()) {
                if (!tokens_.peek().is(';')) expected("';' after the definition of " + name_);
                tokens_.take();
                expression_.defined.emplace_back(name_, id);
                defined_[std::exchange(name_, {})] = id;
                continue;
            }
            if (tokens_.peek().kind != Token::Kind::end) expected("the end of the expression");
            place_last(id);
            return std::move(expression_);
        }
    }

private:
    [[noreturn]] void expected(const std::string &what) const {
        throw SyntaxError(tokens_.peek().at,
                          filled("expected {}, found {}", what, tokens_.shown()));
    }

    // Makes `id` the root, which must be the last node. If it is an earlier one, that is copied.
    void place_last(NodeId id) {
        if (id + 1 == expression_.nodes.size()) return;
        Node copy = expression_.nodes[id];
        expression_.nodes.push_back(std::move(copy));
    }

    NodeId add(Node node) {
        expression_.nodes.push_back(std::move(node));
        return expression_.nodes.size() - 1;
    }

    // Reads one type without recursion: constructors that wait for arguments are in `open_`.
    NodeId type() {
        for (;;) {
            NodeId value;
            if (!start_type(value)) {
                if (!read_arguments()) continue; // up to the next type
                value = close();
            }
            while (deliver(value)) value = close();
            if (open_.empty()) return value;
        }
    }

    // Reads the beginning of a type. If that is a name, the type is complete, and this returns
    // true. If it is a constructor, pushes it on `open_`.
    bool start_type(NodeId &value) {
        if (tokens_.peek().kind != Token::Kind::word) expected("a type" + what_for());
        const Token word = tokens_.take();
        if (tokens_.peek().is('=')) {
            define(word);
            return start_type(value);
        }
        if (const auto known = defined_.find(word.text); known != defined_.end()) {
            value = known->second;
            return true;
        }
        if (const PredefinedName *p = predefined_named(word.text)) {
            value = add({.predefined = p->type, .at = word.at});
            return true;
        }
        const Constructor *c = constructor_named(word.text);
        if (c == nullptr) unknown(word);
        if (!tokens_.peek().is('(')) expected(filled("'(' after {}", c->name));
        tokens_.take();
        open_.push_back({c, word.at, {}});
        return false;
    }

    void define(const Token &word) {
        if (!open_.empty() || !name_.empty())
            throw SyntaxError(word.at, "a definition stands before the type, not within it");
        if (predefined_named(word.text) != nullptr || constructor_named(word.text) != nullptr)
            throw SyntaxError(word.at,
                              filled("{} has a meaning already; expected a new name", word.text));
        if (defined_.contains(word.text))
            throw SyntaxError(word.at, filled("{} is defined already", word.text));
        name_ = word.text;
        tokens_.take();
    }

    [[noreturn]] void unknown(const Token &word) const {
        throw SyntaxError(
            word.at, filled("unknown type '{}'; expected a constructor or a predefined type{}{}",
                            word.text.substr(0, 40), what_for(),
                            did_you_mean(word.text, words_of_the_language())));
    }

    // For messages, for example ", the oldtype of vector".
    std::string what_for() const {
        if (open_.empty()) return "";
        const Open &o = open_.back();
        const std::size_t i = o.in_list ? o.arguments.size() - 1 : o.arguments.size();
        return filled(", the {} of {}", o.constructor->parameters[i].name, o.constructor->name);
    }

    // Reads arguments of the innermost constructor up to a type. Returns true if there are no more
    // arguments.
    bool read_arguments() {
        Open &o = open_.back();
        while (o.arguments.size() < o.constructor->parameters.size()) {
            if (!o.arguments.empty()) separator(o);
            const Parameter &p = o.constructor->parameters[o.arguments.size()];
            if (p.part == Part::type) return false;
            if (p.part == Part::types) {
                if (!tokens_.peek().is('[')) expected("'['" + what_for());
                tokens_.take();
                o.arguments.emplace_back(std::vector<NodeId>());
                if (tokens_.peek().is(']')) {
                    tokens_.take();
                    continue;
                }
                o.in_list = true;
                return false;
            }
            o.arguments.push_back(plain_argument(p));
        }
        if (!tokens_.peek().is(')'))
            expected(filled("')' after the {} of {}", o.constructor->parameters.back().name,
                            o.constructor->name));
        tokens_.take();
        return true;
    }

    void separator(const Open &o) {
        const std::size_t i = o.arguments.size();
        if (!tokens_.peek().is(','))
            expected(filled("',' and the {} of {} ({} of {} arguments)",
                            o.constructor->parameters[i].name, o.constructor->name, i + 1,
                            o.constructor->parameters.size()));
        tokens_.take();
    }

    // Passes a type to the innermost constructor. Returns true if that has all its arguments now.
    bool deliver(NodeId value) {
        if (open_.empty()) return false;
        Open &o = open_.back();
        if (!o.in_list) {
            o.arguments.emplace_back(value);
            return read_arguments();
        }
        std::get<std::vector<NodeId>>(o.arguments.back()).push_back(value);
        if (tokens_.peek().is(',')) {
            tokens_.take();
            return false;
        }
        if (!tokens_.peek().is(']')) expected("',' or ']' in the types of struct");
        tokens_.take();
        o.in_list = false;
        return read_arguments();
    }

    NodeId close() {
        Open o = std::move(open_.back());
        open_.pop_back();
        return add({.constructor = o.constructor, .arguments = std::move(o.arguments), .at = o.at});
    }

    Argument plain_argument(const Parameter &p) {
        switch (p.part) {
        case Part::number: return number("an integer");
        case Part::list: return list([&] { return number("an integer"); });
        case Part::order: return order();
        case Part::distributions: return list([&] { return distribution(); });
        case Part::distribution_args: return list([&] { return distribution_argument(); });
        default: break;
        }
        if (tokens_.peek().kind != Token::Kind::path) expected("@ and a file name" + what_for());
        return path();
    }

    std::string path() {
        if (files_ == NamedFiles::refused)
            throw SyntaxError(tokens_.peek().at, "files that a text names are not opened here");
        return tokens_.take().path;
    }

    intptr_t number(const char *what) {
        if (tokens_.peek().kind != Token::Kind::number) expected(what + what_for());
        return tokens_.take().number;
    }

    bool take_word(std::string_view word) {
        if (tokens_.peek().kind != Token::Kind::word || tokens_.peek().text != word) return false;
        tokens_.take();
        return true;
    }

    intptr_t order() {
        if (take_word("C")) return UCD_ORDER__C;
        if (take_word("FORTRAN") || take_word("F")) return UCD_ORDER__FORTRAN;
        expected("C or FORTRAN" + what_for());
    }
    intptr_t distribution() {
        if (take_word("BLOCK")) return UCD_DISTRIBUTE__BLOCK;
        if (take_word("CYCLIC")) return UCD_DISTRIBUTE__CYCLIC;
        if (take_word("NONE")) return UCD_DISTRIBUTE__NONE;
        expected("BLOCK, CYCLIC or NONE" + what_for());
    }
    intptr_t distribution_argument() {
        if (take_word("DFLT")) return UCD_DISTRIBUTE__DFLT_DARG;
        return number("an integer or DFLT");
    }

    // Reads a list, for example [1,2,4:10:2] or @file.npy.
    template <class Entry>
    Ints list(Entry entry) {
        const std::size_t at = tokens_.peek().at;
        if (tokens_.peek().kind == Token::Kind::path) {
            const std::string file = path();
            try {
                return list_from_file(file);
            } catch (const Failure &f) {
                throw SyntaxError(at, f.what());
            }
        }
        if (!tokens_.peek().is('[')) expected("'[' or @file.npy" + what_for());
        tokens_.take();
        std::vector<intptr_t> values;
        while (!tokens_.peek().is(']')) {
            if (!values.empty()) {
                if (!tokens_.peek().is(',')) expected("',' or ']'" + what_for());
                tokens_.take();
            }
            const std::size_t from = tokens_.peek().at;
            const intptr_t first = entry();
            if (tokens_.peek().is(':'))
                range(first, from, values);
            else
                values.push_back(first);
        }
        tokens_.take();
        return Ints::of(std::move(values));
    }

    // Reads start:stop:step, which excludes the stop, as in Python.
    void range(intptr_t first, std::size_t at, std::vector<intptr_t> &values) {
        tokens_.take();
        const intptr_t stop = number("the end of the range, an integer");
        intptr_t step = 1;
        if (tokens_.peek().is(':')) {
            tokens_.take();
            step = number("the step of the range, an integer");
        }
        if (step == 0) throw SyntaxError(at, "the step of the range is 0");
        if (step > 0 ? first >= stop : first <= stop)
            throw SyntaxError(at, "the range has no entries");
        const auto distance = [](intptr_t low, intptr_t high) {
            return static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
        };
        const uint64_t by = step > 0 ? distance(0, step) : distance(step, 0);
        const uint64_t span = step > 0 ? distance(first, stop) : distance(stop, first);
        const uint64_t count = (span - 1) / by + 1;
        if (count > max_in_ranges)
            throw SyntaxError(
                at, filled("the range has {} entries; the most is {}", count, max_in_ranges));
        if (count > max_in_ranges - in_ranges_)
            throw SyntaxError(at, filled("the ranges up to here have {} entries; the most is {}",
                                         in_ranges_ + count, max_in_ranges));
        in_ranges_ += count;
        auto value = static_cast<uint64_t>(first);
        for (uint64_t i = 0; i < count; ++i, value += static_cast<uint64_t>(step))
            values.push_back(static_cast<intptr_t>(value));
    }

    Tokens tokens_;
    NamedFiles files_;
    uint64_t in_ranges_ = 0; // entries expanded so far
    Expression expression_;
    std::vector<Open> open_;
    std::string name_; // of the definition that is being read
    std::map<std::string, NodeId, std::less<>> defined_;
};

} // namespace

Expression parse(std::string_view text, NamedFiles files) {
    return Parser(text, files).run();
}

std::string point_at(std::string_view text, std::size_t at) {
    constexpr std::size_t before = 60, after = 40;
    at = std::min(at, text.size());
    std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    std::size_t end = std::min(text.find('\n', at), text.size());
    const bool cut_before = at - begin > before, cut_after = end - at > after;
    if (cut_before) begin = at - before;
    if (cut_after) end = at + after;
    std::string line(text.substr(begin, end - begin));
    std::ranges::replace_if(
        line, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
    const std::string_view dots = "...";
    const std::string margin(at - begin + (cut_before ? dots.size() : 0), ' ');
    return filled("  {}{}{}\n  {}^\n", cut_before ? dots : "", line, cut_after ? dots : "", margin);
}

} // namespace ucdtool
