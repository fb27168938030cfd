// A type expression as data, which the parser makes, the builder builds and the printer prints.
// Nodes come after the nodes that they refer to, so all code that walks an expression is a loop.
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

// A list of integers, either owned or mapped from a file.
struct Ints {
    std::span<const intptr_t> values;
    std::shared_ptr<const void> keep; // owns the memory of `values`
    std::string file;                 // the file's name; empty if the list was written out

    static Ints of(std::vector<intptr_t> list) {
        auto owned = std::make_shared<const std::vector<intptr_t>>(std::move(list));
        return {*owned, owned, {}};
    }
};

using Argument = std::variant<intptr_t, Ints, NodeId, std::vector<NodeId>, std::string>;

struct Node {
    const Constructor *constructor = nullptr; // null for a predefined type
    ucd_type_t predefined = UCD_TYPE__NULL;
    std::vector<Argument> arguments; // one for each parameter of the constructor
    std::size_t at = 0;              // position in the text, for error messages

    intptr_t number(std::size_t i) const { return std::get<intptr_t>(arguments[i]); }
    std::span<const intptr_t> list(std::size_t i) const {
        return std::get<Ints>(arguments[i]).values;
    }
    NodeId type(std::size_t i) const { return std::get<NodeId>(arguments[i]); }
};

struct Expression {
    std::vector<Node> nodes;                             // the last one is the root
    std::vector<std::pair<std::string, NodeId>> defined; // `name = type;`, in order
};

} // namespace ucdtool
