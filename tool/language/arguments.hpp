// The arguments of a node, as the functions of ucd.hpp take them.
#pragma once

#include "language/expression.hpp"

#include <ucd.hpp>

#include <span>
#include <string>
#include <vector>

namespace ucdtool {

// Number i stands for parameter i of the node's constructor, of whose part it must be.
class Arguments {
public:
    // `built`: the types of the expression's nodes up to this one.
    Arguments(const Node &node, std::span<const ucd_type_t> built) : node_(node), built_(built) {}

    intptr_t number(std::size_t i) const { return node_.number(i); }
    std::span<const intptr_t> list(std::size_t i) const { return node_.list(i); }
    const std::string &path(std::size_t i) const {
        return std::get<std::string>(node_.arguments[i]);
    }
    ucd::TypeRef type(std::size_t i) const { return built_[node_.type(i)]; }
    std::vector<ucd_type_t> types(std::size_t i) const;

    // These throw a SyntaxError if a number is no int.
    int small_number(std::size_t i) const;
    std::vector<int> small_list(std::size_t i) const;

    [[noreturn]] void refuse(const std::string &why) const;
    const char *name(std::size_t i) const { return node_.constructor->parameters[i].name; }

private:
    const Node &node_;
    std::span<const ucd_type_t> built_;
};

} // namespace ucdtool
