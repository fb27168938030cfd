#include "prepared/element_match.h"

#include "layout_walk.h"

#include <algorithm>

namespace ucd {
namespace {

// Iterates over the stretches of equal elements in a stream.
class Runs {
public:
    Runs(const CopyMove::Side &side, const Elements &elements, uint64_t length)
        : kind_(elements.kind), length_(length),
          top_(kind_ == Element::none
                   ? repeat(elements.runs.top(), elements.runs.root, side.count, elements.extent)
                   : Node{}),
          walk_(elements.runs, top_, 0, is_block) {
        if (kind_ == Element::none) walk_.start(side.offset, length);
    }

    // Sets the next stretch. There must be bytes left.
    void next(Element &element, uint64_t &bytes) {
        element = kind_;
        bytes = length_;
        Piece piece;
        if (kind_ != Element::none || !walk_.next(piece)) return;
        element = piece.node->element;
        bytes = piece.end - piece.begin;
    }

private:
    Element kind_;
    uint64_t length_;
    Node top_;
    Walk<decltype(is_block)> walk_;
};

} // namespace

bool same_elements(const CopyMove &copy, const Type &from, const Type &to) {
    uint64_t length = copy.length;
    if (length == 0) return true;
    if (from.element != Element::none && to.element != Element::none)
        return from.element == to.element;
    Runs left(copy.from, elements_of(from), length), right(copy.to, elements_of(to), length);
    Element e{}, f{};
    uint64_t e_bytes = 0, f_bytes = 0;
    while (length > 0) {
        if (e_bytes == 0) left.next(e, e_bytes);
        if (f_bytes == 0) right.next(f, f_bytes);
        if (e != f) return false;
        const uint64_t common = std::min(e_bytes, f_bytes);
        e_bytes -= common;
        f_bytes -= common;
        length -= common;
    }
    return true;
}

} // namespace ucd
