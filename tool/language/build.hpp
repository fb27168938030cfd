// From expression to type, by the constructors of ucd.h.
#pragma once

#include "language/expression.hpp"

#include <ucd.hpp>

#include <vector>

namespace ucdtool {

// Builds an expression's nodes as they come; a node refers to earlier ones.
class TypeBuilder {
public:
    // Builds the next node. Throws SyntaxError at the node's place if UCD refuses it.
    ucd_type_t add(const Node &node);
    ucd_type_t at(NodeId id) const { return handles_[id]; }
    // The last node's type, to be owned; a predefined one is duplicated.
    ucd::Type take_last();

private:
    ucd::Type make(const Node &node) const;

    std::vector<ucd_type_t> handles_;
    std::vector<ucd::Type> owned_;
};

ucd::Type build(const Expression &expression);

} // namespace ucdtool
