#include "prepared/element_match.h"

#include "layout_walk.h"

#include <algorithm>

namespace ucd {
namespace {

// The stretches of one element kind that a stream is made of.
class Runs {
public:
    Runs(const Elements &elements, uint64_t count, uint64_t length)
        : kind_(elements.kind), length_(length),
          top_(kind_ == Element::none
                   ? repeat(elements.runs.top(), elements.runs.root, count, elements.extent)
                   : Node{}),
          walk_(elements.runs, top_, 0, is_block) {
        if (kind_ == Element::none) walk_.start(0, length);
    }

    // The next one, while there are bytes left.
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

bool same_elements(const Type &a, uint64_t a_count, const Type &b, uint64_t b_count,
                   uint64_t length) {
    if (length == 0) return true;
    if (a.element != Element::none && b.element != Element::none) return a.element == b.element;
    Runs left(elements_of(a), a_count, length), right(elements_of(b), b_count, length);
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
