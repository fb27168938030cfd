#include "prepared/element_match.h"

namespace ucd {

bool same_elements(const Move &copy, const Type &from, const Type &to) {
    if (copy.length == 0) return true;
    if (from.element != Element::none && to.element != Element::none)
        return from.element == to.element;
    MatchedRuns runs(copy.from, elements_of(from), copy.length, copy.to, elements_of(to),
                     copy.length);
    uint64_t left = copy.length;
    for (MatchedRun run; left > 0; left -= run.from_bytes())
        if (!runs.next(left, left, run) || run.from != run.to) return false;
    return true;
}

} // namespace ucd
