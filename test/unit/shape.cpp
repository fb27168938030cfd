// Shapes: makers, random ones, and their plainest recipe.
#include "unit/disguise.hpp"

#include <algorithm>

namespace ucdtest {

using Kind = Shape::Kind;

namespace {

void include(Shape &s, bool first, std::intptr_t low, std::intptr_t high) {
    s.low = first ? low : std::min(s.low, low);
    s.high = first ? high : std::max(s.high, high);
}

// Places `times` children, `stride` apart, the first at `at`.
void place(Shape &s, bool first, const Shape &child, std::intptr_t at, std::intptr_t times,
           std::intptr_t stride) {
    const std::intptr_t last = at + (times - 1) * stride;
    include(s, first, std::min(at, last) + child.low, std::max(at, last) + child.high);
    s.blocks += static_cast<std::size_t>(times) * child.blocks;
    s.bytes += times * child.bytes;
}

} // namespace

namespace shapes {

ShapePtr block(std::intptr_t bytes) {
    Shape s;
    s.count = s.bytes = s.high = bytes;
    s.blocks = 1;
    return std::make_shared<const Shape>(std::move(s));
}

ShapePtr strided(std::intptr_t count, std::intptr_t stride, ShapePtr child) {
    Shape s;
    s.kind = Kind::strided;
    s.count = count;
    s.stride = stride;
    place(s, true, *child, 0, count, stride);
    s.child = std::move(child);
    return std::make_shared<const Shape>(std::move(s));
}

ShapePtr list(Ints displs, ShapePtr child) {
    Shape s;
    s.kind = Kind::list;
    for (std::size_t i = 0; i < displs.size(); ++i) place(s, i == 0, *child, displs[i], 1, 0);
    s.displs = std::move(displs);
    s.child = std::move(child);
    return std::make_shared<const Shape>(std::move(s));
}

ShapePtr pieces(Ints lengths, Ints displs) {
    Shape s;
    s.kind = Kind::pieces;
    for (std::size_t i = 0; i < displs.size(); ++i) {
        include(s, i == 0, displs[i], displs[i] + lengths[i]);
        s.bytes += lengths[i];
    }
    s.blocks = displs.size();
    s.lengths = std::move(lengths);
    s.displs = std::move(displs);
    return std::make_shared<const Shape>(std::move(s));
}

ShapePtr runs(Ints lengths, Ints displs, std::intptr_t stride, ShapePtr child) {
    Shape s;
    s.kind = Kind::runs;
    s.stride = stride;
    for (std::size_t i = 0; i < displs.size(); ++i)
        place(s, i == 0, *child, displs[i], lengths[i], stride);
    s.lengths = std::move(lengths);
    s.displs = std::move(displs);
    s.child = std::move(child);
    return std::make_shared<const Shape>(std::move(s));
}

ShapePtr fields(Ints displs, std::vector<ShapePtr> children) {
    Shape s;
    s.kind = Kind::fields;
    for (std::size_t i = 0; i < displs.size(); ++i) place(s, i == 0, *children[i], displs[i], 1, 0);
    s.displs = std::move(displs);
    s.children = std::move(children);
    return std::make_shared<const Shape>(std::move(s));
}

} // namespace shapes

namespace {

class Maker {
public:
    // Few sizes and gaps make regular layouts, many of them irregular ones.
    Maker(Rng &rng, const ShapeOptions &options) : rng_(rng), options_(options) {
        for (std::size_t n = 1 + rng.mostly_small(15); n > 0; --n)
            sizes_.push_back(rng.pick(Ints{1, 2, 3, 4, 4, 5, 8, 8, 8, 12, 16, 24, 32, 36, 40, 64}));
        for (std::size_t n = 1 + rng.mostly_small(7); n > 0; --n)
            gaps_.push_back(rng.pick(Ints{8, 8, 8, 4, 4, 16, 24, 1, 3, 40}));
    }

    ShapePtr make(int depth, std::size_t max_blocks) {
        if (depth == 0 || max_blocks < 2) return shapes::block(block_bytes());
        switch (rng_.below(options_.fields ? 6 : 5)) {
        case 0: return pieces(entries(max_blocks));
        case 1: {
            const std::size_t n = entries(max_blocks);
            const ShapePtr child = make(depth - 1, max_blocks / n);
            return shapes::list(places(n, [&](std::size_t) { return child.get(); }), child);
        }
        case 2: return runs(depth, max_blocks);
        default: {
            const auto n = static_cast<std::intptr_t>(entries(max_blocks));
            ShapePtr child = make(depth - 1, max_blocks / static_cast<std::size_t>(n));
            const std::intptr_t stride = stride_over(*child);
            return shapes::strided(n, stride, std::move(child));
        }
        case 5: {
            const std::size_t n = std::min<std::size_t>(2 + rng_.below(5), max_blocks);
            std::vector<ShapePtr> children;
            for (std::size_t i = 0; i < n; ++i)
                children.push_back(i > 0 && rng_.chance(30) ? rng_.pick(children)
                                                            : make(depth - 1, max_blocks / n));
            Ints displs = places(n, [&](std::size_t i) { return children[i].get(); });
            return shapes::fields(std::move(displs), std::move(children));
        }
        }
    }

private:
    std::size_t entries(std::size_t max_blocks) {
        const std::size_t most = std::min(options_.max_entries, max_blocks);
        return most <= 2 || rng_.chance(40) ? most : 2 + rng_.below(most - 1);
    }

    std::intptr_t block_bytes() { return rng_.pick(sizes_); }

    // Between neighbours: none at all if they may touch.
    std::intptr_t gap() { return options_.touching && rng_.chance(15) ? 0 : rng_.pick(gaps_); }

    std::intptr_t stride_over(const Shape &child) {
        const std::intptr_t length = child.high - child.low;
        if (options_.touching && rng_.chance(3)) return 0;
        if (rng_.chance(10)) return -(length + gap());
        if (rng_.chance(30)) return (length + gap() + 7) / 8 * 8 + 8;
        return length + gap();
    }

    // Displacements for n children: one after the other, with gaps, now and then in another order.
    template <class ChildOf>
    Ints places(std::size_t n, ChildOf child_of) {
        Ints displs;
        std::intptr_t end = rng_.chance(30) ? 8 * rng_.between(-10, 10) : 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Shape &c = *child_of(i);
            displs.push_back(end - c.low);
            end += c.high - c.low + gap();
        }
        return displs;
    }

    ShapePtr pieces(std::size_t n) {
        Ints lengths, displs;
        std::intptr_t end = rng_.chance(30) ? 8 * rng_.between(-10, 10) : 0;
        for (std::size_t i = 0; i < n; ++i) {
            lengths.push_back(block_bytes());
            displs.push_back(end);
            end += lengths.back() + gap();
        }
        return shapes::pieces(std::move(lengths), std::move(displs));
    }

    ShapePtr runs(int depth, std::size_t max_blocks) {
        const std::size_t n = std::max<std::size_t>(2, entries(max_blocks) / 4);
        const std::intptr_t longest = 1 + static_cast<std::intptr_t>(rng_.below(8));
        ShapePtr child = make(depth - 1, max_blocks / n / static_cast<std::size_t>(longest));
        const std::intptr_t stride = child->high - child->low + gap();
        Ints lengths, displs;
        std::intptr_t end = 0;
        for (std::size_t i = 0; i < n; ++i) {
            lengths.push_back(rng_.between(1, longest));
            displs.push_back(end);
            end += lengths.back() * stride + gap();
        }
        return shapes::runs(std::move(lengths), std::move(displs), stride, std::move(child));
    }

    Rng &rng_;
    const ShapeOptions &options_;
    Ints sizes_, gaps_;
};

} // namespace

ShapePtr random_shape(Rng &rng, const ShapeOptions &options) {
    return Maker(rng, options).make(options.depth, options.max_blocks);
}

RecipePtr plainly(const Shape &s) {
    using namespace recipes;
    const auto sized = [](const Shape &c, std::intptr_t extent) {
        return resized(plainly(c), 0, extent);
    };
    switch (s.kind) {
    case Kind::block: return contig(s.count, leaf(UCD_TYPE__BYTE));
    case Kind::strided: return hvector(s.count, 1, s.stride, plainly(*s.child));
    case Kind::list: return hindexed_block(1, s.displs, plainly(*s.child));
    case Kind::pieces: return hindexed(s.lengths, s.displs, leaf(UCD_TYPE__BYTE));
    case Kind::runs: return hindexed(s.lengths, s.displs, sized(*s.child, s.stride));
    case Kind::fields: break;
    }
    std::vector<RecipePtr> members;
    for (const ShapePtr &c : s.children) members.push_back(plainly(*c));
    return structure(Ints(s.displs.size(), 1), s.displs, std::move(members));
}

} // namespace ucdtest
