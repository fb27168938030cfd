// Builds types from expressions, with the constructors of ucd.h.
#pragma once

#include "language/expression.hpp"

#include <ucd.hpp>

#include <vector>

namespace ucdtool {

// Builds the nodes of an expression in order. A node may refer to earlier ones.
class TypeBuilder {
public:
    // Builds the next node. Throws SyntaxError with the node's position if UCD rejects it.
    ucd_type_t add(const Node &node);
    ucd_type_t at(NodeId id) const { return handles_[id]; }
    // Returns the last node's type, which the caller owns; a predefined type is duplicated.
    ucd::Type take_last();

private:
    ucd::Type make(const Node &node) const;

    std::vector<ucd_type_t> handles_;
    std::vector<ucd::Type> owned_;
};

ucd::Type build(const Expression &expression);

} // namespace ucdtool
