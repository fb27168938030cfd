#include "recipe.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench {
namespace {

// Grows around every block that is added.
class Hull {
public:
    void add(std::intptr_t at, std::intptr_t count, Bounds element) {
        if (count == 0) return;
        const std::intptr_t last = at + (count - 1) * element.extent;
        low_ = std::min({low_, at + element.lb, last + element.lb});
        high_ =
            std::max({high_, at + element.lb + element.extent, last + element.lb + element.extent});
    }
    Bounds bounds() const { return low_ > high_ ? Bounds{0, 0} : Bounds{low_, high_ - low_}; }

private:
    std::intptr_t low_ = INTPTR_MAX, high_ = INTPTR_MIN;
};

std::intptr_t product(const Ints &values) {
    std::intptr_t all = 1;
    for (const std::intptr_t v : values) all *= v;
    return all;
}

Bounds bounds(const Predefined &n) {
    return {0, element_bytes(n.element)};
}

Bounds bounds(const Contig &n) {
    Hull hull;
    hull.add(0, n.count, bounds_of(*n.old));
    return hull.bounds();
}

Bounds strided_bounds(std::intptr_t count, std::intptr_t blocklength, std::intptr_t stride,
                      Bounds old) {
    Hull hull;
    for (const std::intptr_t i : {std::intptr_t{0}, count - 1})
        if (count > 0) hull.add(i * stride, blocklength, old);
    return hull.bounds();
}

Bounds bounds(const Vector &n) {
    const Bounds old = bounds_of(*n.old);
    return strided_bounds(n.count, n.blocklength, n.stride * old.extent, old);
}

Bounds bounds(const HVector &n) {
    return strided_bounds(n.count, n.blocklength, n.stride, bounds_of(*n.old));
}

Bounds bounds(const IndexedBlock &n) {
    const Bounds old = bounds_of(*n.old);
    Hull hull;
    for (const std::intptr_t d : n.displs) hull.add(d * old.extent, n.blocklength, old);
    return hull.bounds();
}

Bounds bounds(const Indexed &n) {
    const Bounds old = bounds_of(*n.old);
    Hull hull;
    for (std::size_t i = 0; i < n.displs.size(); ++i)
        hull.add(n.displs[i] * old.extent, n.blocklengths[i], old);
    return hull.bounds();
}

Bounds bounds(const Struct &n) {
    Hull hull;
    for (std::size_t i = 0; i < n.displs.size(); ++i)
        hull.add(n.displs[i], n.blocklengths[i], bounds_of(*n.types[i]));
    return hull.bounds();
}

Bounds bounds(const Subarray &n) {
    return {0, product(n.sizes) * bounds_of(*n.old).extent};
}

Bounds bounds(const Resized &n) {
    return {n.lb, n.extent};
}

class Segmenter {
public:
    explicit Segmenter(std::vector<Segment> &segments) : segments_(segments) {}

    void walk(const Recipe &recipe, std::intptr_t at) {
        std::visit([&](const auto &node) { visit(node, at); }, recipe.node);
    }

private:
    void visit(const Predefined &n, std::intptr_t at) { add(at, element_bytes(n.element)); }
    void visit(const Contig &n, std::intptr_t at) { block(*n.old, n.count, at); }
    void visit(const Vector &n, std::intptr_t at) {
        const std::intptr_t stride = n.stride * bounds_of(*n.old).extent;
        for (std::intptr_t i = 0; i < n.count; ++i) block(*n.old, n.blocklength, at + i * stride);
    }
    void visit(const HVector &n, std::intptr_t at) {
        for (std::intptr_t i = 0; i < n.count; ++i) block(*n.old, n.blocklength, at + i * n.stride);
    }
    void visit(const IndexedBlock &n, std::intptr_t at) {
        const std::intptr_t extent = bounds_of(*n.old).extent;
        for (const std::intptr_t d : n.displs) block(*n.old, n.blocklength, at + d * extent);
    }
    void visit(const Indexed &n, std::intptr_t at) {
        const std::intptr_t extent = bounds_of(*n.old).extent;
        for (std::size_t i = 0; i < n.displs.size(); ++i)
            block(*n.old, n.blocklengths[i], at + n.displs[i] * extent);
    }
    void visit(const Struct &n, std::intptr_t at) {
        for (std::size_t i = 0; i < n.displs.size(); ++i)
            block(*n.types[i], n.blocklengths[i], at + n.displs[i]);
    }
    void visit(const Subarray &n, std::intptr_t at) {
        const std::size_t dims = n.sizes.size();
        const std::intptr_t extent = bounds_of(*n.old).extent;
        Ints index(dims, 0);
        const std::intptr_t rows = product(n.subsizes) / n.subsizes.back();
        for (std::intptr_t row = 0; row < rows; ++row) {
            std::intptr_t element = 0;
            for (std::size_t d = 0; d < dims; ++d)
                element = element * n.sizes[d] + n.starts[d] + index[d];
            block(*n.old, n.subsizes.back(), at + element * extent);
            for (std::size_t d = dims - 1; d-- > 0 && ++index[d] == n.subsizes[d];) index[d] = 0;
        }
    }
    void visit(const Resized &n, std::intptr_t at) { walk(*n.old, at); }

    void block(const Recipe &old, std::intptr_t count, std::intptr_t at) {
        if (const auto *element = std::get_if<Predefined>(&old.node))
            return add(at, count * element_bytes(element->element));
        const std::intptr_t extent = bounds_of(old).extent;
        for (std::intptr_t i = 0; i < count; ++i) walk(old, at + i * extent);
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

} // namespace bench
