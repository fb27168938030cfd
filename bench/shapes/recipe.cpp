#include "shapes/recipe.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench {
namespace {

std::intptr_t product(const Ints &values) {
    std::intptr_t all = 1;
    for (const std::intptr_t v : values) all *= v;
    return all;
}

// Each overload calls visit(displacement in bytes, number of elements, old type) for each block of
// its constructor, in packed order.
template <class Visit>
void each_block(const Contig &n, Visit visit) {
    visit(0, n.count, *n.old);
}
template <class Visit>
void each_block(const HVector &n, Visit visit) {
    for (std::intptr_t i = 0; i < n.count; ++i) visit(i * n.stride, n.blocklength, *n.old);
}
template <class Visit>
void each_block(const Vector &n, Visit visit) {
    each_block(HVector{n.count, n.blocklength, n.stride * bounds_of(*n.old).extent, n.old}, visit);
}
template <class Visit>
void each_block(const IndexedBlock &n, Visit visit) {
    const std::intptr_t extent = bounds_of(*n.old).extent;
    for (const std::intptr_t d : n.displs) visit(d * extent, n.blocklength, *n.old);
}
template <class Visit>
void each_block(const Indexed &n, Visit visit) {
    const std::intptr_t extent = bounds_of(*n.old).extent;
    for (std::size_t i = 0; i < n.displs.size(); ++i)
        visit(n.displs[i] * extent, n.blocklengths[i], *n.old);
}
template <class Visit>
void each_block(const Struct &n, Visit visit) {
    for (std::size_t i = 0; i < n.displs.size(); ++i)
        visit(n.displs[i], n.blocklengths[i], *n.types[i]);
}
template <class Visit>
void each_block(const Subarray &n, Visit visit) {
    const std::size_t dims = n.sizes.size();
    const std::intptr_t extent = bounds_of(*n.old).extent;
    Ints index(dims, 0);
    const std::intptr_t rows = product(n.subsizes) / n.subsizes.back();
    for (std::intptr_t row = 0; row < rows; ++row) {
        std::intptr_t element = 0;
        for (std::size_t d = 0; d < dims; ++d)
            element = element * n.sizes[d] + n.starts[d] + index[d];
        visit(element * extent, n.subsizes.back(), *n.old);
        for (std::size_t d = dims - 1; d-- > 0 && ++index[d] == n.subsizes[d];) index[d] = 0;
    }
}
template <class Visit>
void each_block(const Resized &n, Visit visit) {
    visit(0, 1, *n.old);
}

Bounds bounds(const Predefined &n) {
    return {0, element_bytes(n.element)};
}
Bounds bounds(const Subarray &n) {
    return {0, product(n.sizes) * bounds_of(*n.old).extent};
}
Bounds bounds(const Resized &n) {
    return {n.lb, n.extent};
}
// The hull of all blocks.
template <class Node>
Bounds bounds(const Node &n) {
    std::intptr_t low = INTPTR_MAX, high = INTPTR_MIN;
    const Recipe *last = nullptr;
    Bounds element{};
    each_block(n, [&](std::intptr_t at, std::intptr_t count, const Recipe &old) {
        if (count == 0) return;
        if (&old != last) element = bounds_of(old);
        last = &old;
        const std::intptr_t end = at + (count - 1) * element.extent;
        low = std::min({low, at + element.lb, end + element.lb});
        high =
            std::max({high, at + element.lb + element.extent, end + element.lb + element.extent});
    });
    return low > high ? Bounds{0, 0} : Bounds{low, high - low};
}

class Segmenter {
public:
    explicit Segmenter(std::vector<Segment> &segments) : segments_(segments) {}

    void walk(const Recipe &recipe, std::intptr_t at) {
        std::visit([&](const auto &node) { visit(node, at); }, recipe.node);
    }

private:
    void visit(const Predefined &n, std::intptr_t at) { add(at, element_bytes(n.element)); }
    template <class Node>
    void visit(const Node &n, std::intptr_t start) {
        const Recipe *last = nullptr;
        std::intptr_t extent = 0;
        each_block(n, [&](std::intptr_t at, std::intptr_t count, const Recipe &old) {
            if (&old != last) extent = bounds_of(old).extent;
            last = &old;
            if (std::holds_alternative<Predefined>(old.node))
                add(start + at, count * extent);
            else
                for (std::intptr_t i = 0; i < count; ++i) walk(old, start + at + i * extent);
        });
    }

    void add(std::intptr_t at, std::intptr_t bytes) {
        if (bytes == 0) return;
        if (!segments_.empty() && segments_.back().displacement + segments_.back().bytes == at)
            segments_.back().bytes += bytes;
        else
            segments_.push_back({at, bytes});
    }

    std::vector<Segment> &segments_;
};

} // namespace

std::intptr_t element_bytes(Element element) {
    switch (element) {
    case Element::byte: return 1;
    case Element::int32:
    case Element::float32: return 4;
    case Element::float64: return 8;
    }
    throw std::logic_error("no such element");
}

RecipePtr nest_of(RecipePtr unit, std::int64_t block, std::span<const shapes::Level> levels) {
    const std::intptr_t bytes = bounds_of(*unit).extent;
    RecipePtr type = block == bytes ? unit : recipe(Contig{block / bytes, unit});
    for (std::size_t i = levels.size(); i-- > 0;)
        type = recipe(HVector{levels[i].count, 1, levels[i].stride, type});
    return type;
}

RecipePtr records_of(std::intptr_t count, std::intptr_t extent) {
    const RecipePtr ints = predefined(Element::int32);
    const RecipePtr fields = recipe(
        Struct{{1, 1, 1, 1}, {0, 8, 12, 16}, {doubles(), ints, ints, predefined(Element::byte)}});
    return recipe(Contig{count, recipe(Resized{0, extent, fields})});
}

RecipePtr lower_triangle(std::intptr_t side) {
    Ints lengths, displs;
    for (std::intptr_t i = 0; i < side; ++i) {
        lengths.push_back(i + 1);
        displs.push_back(i * side);
    }
    return recipe(Indexed{std::move(lengths), std::move(displs), doubles()});
}

RecipePtr transposed(std::intptr_t side) {
    const RecipePtr column = recipe(Resized{0, 8, recipe(Vector{side, 1, side, doubles()})});
    return recipe(Contig{side, column});
}

Bounds bounds_of(const Recipe &recipe) {
    return std::visit([](const auto &node) { return bounds(node); }, recipe.node);
}

std::vector<Segment> segments_of(const Recipe &recipe) {
    std::vector<Segment> segments;
    Segmenter(segments).walk(recipe, 0);
    return segments;
}

Extremes extremes_of(const std::vector<Segment> &segments) {
    if (segments.empty()) return {};
    Extremes all{INT64_MAX, INT64_MIN, 0};
    for (const Segment &s : segments) {
        all.low = std::min<std::int64_t>(all.low, s.displacement);
        all.high = std::max<std::int64_t>(all.high, s.displacement + s.bytes);
        all.bytes += s.bytes;
    }
    return all;
}

} // namespace bench
