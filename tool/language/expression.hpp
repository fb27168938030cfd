// A type expression as data: what the parser makes, the builder builds and the printer prints.
// Nodes stand behind those that they name, so everything that walks an expression is a loop.
#pragma once

#include "language/constructors.hpp"

#include <ucd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ucdtool {

using NodeId = std::size_t;

// A list of integers: of its own, or mapped from a file.
struct Ints {
    std::span<const intptr_t> values;
    std::shared_ptr<const void> keep; // what `values` lie in
    std::string file;                 // where it came from; empty if it was written out

    static Ints of(std::vector<intptr_t> list) {
        auto owned = std::make_shared<const std::vector<intptr_t>>(std::move(list));
        return {*owned, owned, {}};
    }
};

using Argument = std::variant<intptr_t, Ints, NodeId, std::vector<NodeId>, std::string>;

struct Node {
    const Constructor *constructor = nullptr; // null: a predefined type
    ucd_type_t predefined = UCD_TYPE__NULL;
    std::vector<Argument> arguments; // one for each of the constructor's parameters
    std::size_t at = 0;              // byte of the text, for errors

    intptr_t number(std::size_t i) const { return std::get<intptr_t>(arguments[i]); }
    std::span<const intptr_t> list(std::size_t i) const {
        return std::get<Ints>(arguments[i]).values;
    }
    NodeId type(std::size_t i) const { return std::get<NodeId>(arguments[i]); }
};

struct Expression {
    std::vector<Node> nodes;                             // the last one is the type
    std::vector<std::pair<std::string, NodeId>> defined; // `name = type;`, in order
};

} // namespace ucdtool
