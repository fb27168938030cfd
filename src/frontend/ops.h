// Which reductions a type takes, and the words for it.
#pragma once

#include "derived.h"
#include "status.h"
#include "type.h"

#include <string_view>

namespace ucd {

std::string_view op_name(Op op);

// NOT_SUPPORTED, naming the op and the first element of the type that does not take it.
Status fail_unsupported(Op op, const Type &type);

// Calls visit(element) for every representation that the type is made of, more than once for some.
template <class Visit>
void for_each_element_kind(const Type &type, Visit visit) {
    if (type.size == 0) return;
    const Elements &elements = elements_of(type);
    if (elements.kind != Element::none) return visit(elements.kind);
    for (const Node &n : elements.runs.nodes)
        if (n.kind == NodeKind::block) visit(n.element);
}

} // namespace ucd
