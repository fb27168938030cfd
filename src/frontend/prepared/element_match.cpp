#include "prepared/element_match.h"

#include "layout_walk.h"

#include <algorithm>

namespace ucd {
namespace {

// The stretches of one element kind that a stream is made of.
class Runs {
public:
    Runs(const Elements &elements, uint64_t count, uint64_t length)
        : kind_(elements.kind), left_(length),
          top_(kind_ == Element::none
                   ? repeat(elements.runs.top(), elements.runs.root, count, elements.extent)
                   : Node{}),
          walk_(elements.runs, top_, 0, is_block) {
        if (kind_ == Element::none) walk_.start(0, length);
    }

    bool next(Element &element, uint64_t &bytes) {
        if (kind_ != Element::none) {
            element = kind_;
            bytes = left_;
            left_ = 0;
            return bytes > 0;
        }
        Piece piece;
        if (!walk_.next(piece)) return false;
        element = piece.node->element;
        bytes = piece.end - piece.begin;
        return true;
    }

private:
    Element kind_;
    uint64_t left_;
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
    for (;;) {
        if (e_bytes == 0 && !left.next(e, e_bytes)) return true;
        if (f_bytes == 0 && !right.next(f, f_bytes)) return true;
        if (e != f) return false;
        const uint64_t common = std::min(e_bytes, f_bytes);
        e_bytes -= common;
        f_bytes -= common;
    }
}

} // namespace ucd
