#include "support/oracle/type_map.hpp"

#include <algorithm>
#include <functional>
#include <list>
#include <type_traits>

namespace ucdtest {
namespace {

std::intptr_t round_up(std::intptr_t value, std::intptr_t unit) {
    const std::intptr_t rest = value % unit;
    return rest == 0 ? value : value - rest + unit;
}

// Collects placed copies of other maps, entries and markers alike, and then works out the bounds.
class MapBuilder {
public:
    void place(const TypeMap &old, std::intptr_t at) {
        for (const Entry &entry : old.entries)
            map_.entries.push_back({entry.type, entry.displ + at});
        if (old.by_reference && old.size > 0)
            include_true_bounds(at + old.true_lb, at + old.true_ub());
        if (!old.explicit_bounds) return;
        lb_marker_ = marked_ ? std::min(lb_marker_, at + old.lb) : at + old.lb;
        ub_marker_ = marked_ ? std::max(ub_marker_, at + old.ub()) : at + old.ub();
        marked_ = true;
    }

    // `blocklength` copies, one extent of the old type apart.
    void place_block(const TypeMap &old, std::intptr_t blocklength, std::intptr_t at) {
        for (std::intptr_t i = 0; i < blocklength; ++i) place(old, at + i * old.extent);
    }

    void place_element(const Predefined &type) { map_.entries.push_back({&type, 0}); }

    // New markers in place of all that the copies brought along (resized, subarray, darray).
    void replace_bounds(std::intptr_t lb, std::intptr_t ub) {
        marked_ = true;
        lb_marker_ = lb;
        ub_marker_ = ub;
    }

    // Of the whole, whatever the entries are.
    void include_true_bounds(std::intptr_t low, std::intptr_t high) {
        true_low_ = true_marked_ ? std::min(true_low_, low) : low;
        true_high_ = true_marked_ ? std::max(true_high_, high) : high;
        true_marked_ = true;
    }

    TypeMap finish() {
        bool first = !true_marked_ || map_.entries.empty();
        std::intptr_t low = first ? 0 : true_low_, high = first ? 0 : true_high_;
        for (const Entry &entry : map_.entries) {
            const std::intptr_t end = entry.displ + entry.type->true_end();
            low = first ? entry.displ : std::min(low, entry.displ);
            high = first ? end : std::max(high, end);
            first = false;
            map_.size += entry.type->size;
            map_.align = std::max(map_.align, entry.type->align);
        }
        map_.true_lb = low;
        map_.true_extent = high - low;
        map_.explicit_bounds = marked_;
        if (marked_) {
            map_.lb = lb_marker_;
            map_.extent = ub_marker_ - lb_marker_;
        } else {
            // The standard's epsilon. An empty map has low = high = 0 and stays so.
            map_.lb = low;
            map_.extent = round_up(high - low, static_cast<std::intptr_t>(map_.align));
        }
        return std::move(map_);
    }

private:
    TypeMap map_;
    bool marked_ = false;
    std::intptr_t lb_marker_ = 0, ub_marker_ = 0;
    bool true_marked_ = false;
    std::intptr_t true_low_ = 0, true_high_ = 0;
};

using ChildMaps = std::vector<const TypeMap *>;

void place_all(MapBuilder &map, const Leaf &node, const ChildMaps &) {
    map.place_element(predefined(node.type));
}

void place_all(MapBuilder &map, const Contig &node, const ChildMaps &old) {
    map.place_block(*old[0], node.count, 0);
}

void place_all(MapBuilder &map, const Dup &, const ChildMaps &old) {
    map.place(*old[0], 0);
}

void place_all(MapBuilder &map, const Vector &node, const ChildMaps &old) {
    for (std::intptr_t i = 0; i < node.count; ++i) {
        map.place_block(*old[0], node.blocklength, i * node.stride * old[0]->extent);
    }
}

void place_all(MapBuilder &map, const HVector &node, const ChildMaps &old) {
    for (std::intptr_t i = 0; i < node.count; ++i) {
        map.place_block(*old[0], node.blocklength, i * node.stride);
    }
}

void place_all(MapBuilder &map, const IndexedBlock &node, const ChildMaps &old) {
    for (const std::intptr_t displ : node.displs) {
        map.place_block(*old[0], node.blocklength, displ * old[0]->extent);
    }
}

void place_all(MapBuilder &map, const HIndexedBlock &node, const ChildMaps &old) {
    for (const std::intptr_t displ : node.displs) {
        map.place_block(*old[0], node.blocklength, displ);
    }
}

void place_all(MapBuilder &map, const IndexedBlockRef &node, const ChildMaps &old) {
    for (const std::int64_t index : node.indices) {
        const auto wrapped =
            static_cast<std::uint64_t>(index) * static_cast<std::uint64_t>(node.unit);
        map.place_block(*old[0], node.blocklength, static_cast<std::intptr_t>(wrapped));
    }
    map.include_true_bounds(node.lb, node.lb + node.extent);
    map.replace_bounds(node.lb, node.lb + node.extent);
}

void place_all(MapBuilder &map, const Indexed &node, const ChildMaps &old) {
    for (std::size_t i = 0; i < node.displs.size(); ++i) {
        map.place_block(*old[0], node.blocklengths[i], node.displs[i] * old[0]->extent);
    }
}

void place_all(MapBuilder &map, const HIndexed &node, const ChildMaps &old) {
    for (std::size_t i = 0; i < node.displs.size(); ++i) {
        map.place_block(*old[0], node.blocklengths[i], node.displs[i]);
    }
}

void place_all(MapBuilder &map, const Struct &node, const ChildMaps &old) {
    for (std::size_t i = 0; i < node.displs.size(); ++i) {
        map.place_block(*old[i], node.blocklengths[i], node.displs[i]);
    }
}

// Calls visit(index) for every multi-index below `shape`; dimensions are given slowest first.
void for_each_index(const Ints &shape, const std::function<void(const Ints &)> &visit) {
    if (std::any_of(shape.begin(), shape.end(), [](std::intptr_t n) { return n <= 0; })) return;
    Ints index(shape.size(), 0);
    for (;;) {
        visit(index);
        std::size_t dim = shape.size();
        while (dim > 0 && ++index[dim - 1] == shape[dim - 1]) index[--dim] = 0;
        if (dim == 0) return;
    }
}

// Element strides of a dense array whose dimensions are given in memory order `order`.
Ints dense_strides(const Ints &sizes, int order) {
    const std::size_t ndims = sizes.size();
    Ints strides(ndims);
    std::intptr_t stride = 1;
    for (std::size_t k = 0; k < ndims; ++k) {
        const std::size_t dim = order == UCD_ORDER__C ? ndims - 1 - k : k;
        strides[dim] = stride;
        stride *= sizes[dim];
    }
    return strides;
}

// Places, in storage order, the elements of a global array whose index in each dimension is
// in `owned` (ascending), and gives the whole array's bounds.
void place_global_array(MapBuilder &map, const Ints &sizes, const std::vector<Ints> &owned,
                        int order, const TypeMap &old) {
    const std::size_t ndims = sizes.size();
    const Ints strides = dense_strides(sizes, order);
    Ints shape(ndims);
    // Packed order is storage order, so Fortran's first dimension is the fastest one.
    const auto dim_of = [&](std::size_t k) { return order == UCD_ORDER__C ? k : ndims - 1 - k; };
    std::intptr_t total = 1;
    for (std::size_t k = 0; k < ndims; ++k) {
        shape[k] = static_cast<std::intptr_t>(owned[dim_of(k)].size());
        total *= sizes[k];
    }
    for_each_index(shape, [&](const Ints &index) {
        std::intptr_t element = 0;
        for (std::size_t k = 0; k < ndims; ++k) {
            element += owned[dim_of(k)][static_cast<std::size_t>(index[k])] * strides[dim_of(k)];
        }
        map.place(old, element * old.extent);
    });
    map.replace_bounds(0, total * old.extent);
}

void place_all(MapBuilder &map, const Subarray &node, const ChildMaps &old) {
    std::vector<Ints> owned(node.sizes.size());
    for (std::size_t dim = 0; dim < node.sizes.size(); ++dim) {
        for (std::intptr_t i = 0; i < node.subsizes[dim]; ++i) {
            owned[dim].push_back(node.starts[dim] + i);
        }
    }
    place_global_array(map, node.sizes, owned, node.order, *old[0]);
}

// The size of the distribution's blocks, MPI-4.1 5.1.4: block with the default argument gives every
// process at most ceil(gsize / psize) elements, cyclic deals blocks of one, none keeps everything.
std::intptr_t block_size(const Darray &node, std::size_t dim) {
    const std::intptr_t gsize = node.gsizes[dim], psize = node.psizes[dim];
    if (node.distribs[dim] == UCD_DISTRIBUTE__NONE) return gsize;
    if (node.dargs[dim] != UCD_DISTRIBUTE__DFLT_DARG) return node.dargs[dim];
    return node.distribs[dim] == UCD_DISTRIBUTE__BLOCK ? (gsize + psize - 1) / psize : 1;
}

void place_all(MapBuilder &map, const Darray &node, const ChildMaps &old) {
    const std::size_t ndims = node.gsizes.size();
    // The process grid is row-major whatever the storage order: the last coordinate varies fastest.
    Ints coordinates(ndims);
    std::intptr_t rest = node.rank;
    for (std::size_t dim = ndims; dim-- > 0;) {
        coordinates[dim] = rest % node.psizes[dim];
        rest /= node.psizes[dim];
    }
    std::vector<Ints> owned(ndims);
    for (std::size_t dim = 0; dim < ndims; ++dim) {
        for (std::intptr_t g = 0; g < node.gsizes[dim]; ++g) {
            const std::intptr_t owner = g / block_size(node, dim) % node.psizes[dim];
            if (owner == coordinates[dim]) owned[dim].push_back(g);
        }
    }
    place_global_array(map, node.gsizes, owned, node.order, *old[0]);
}

void place_all(MapBuilder &map, const Ndarray &node, const ChildMaps &old) {
    for_each_index(node.shape, [&](const Ints &index) {
        std::intptr_t at = 0;
        for (std::size_t k = 0; k < index.size(); ++k) at += index[k] * node.byte_strides[k];
        map.place(*old[0], at);
    });
}

void place_all(MapBuilder &map, const Resized &node, const ChildMaps &old) {
    map.place(*old[0], 0);
    map.replace_bounds(node.lb, node.lb + node.extent);
}

// A predefined type is no entry plus epsilon only: its extent is its C type's (already rounded).
TypeMap bounded(const Recipe &top, MapBuilder &map) {
    TypeMap result = map.finish();
    if (const auto *leaf = std::get_if<Leaf>(&top.node)) {
        result.extent = static_cast<std::intptr_t>(predefined(leaf->type).extent);
    }
    return result;
}

} // namespace

TypeMap type_map(const Recipe &top, const ChildMaps &child_maps) {
    MapBuilder map;
    std::visit([&](const auto &node) { place_all(map, node, child_maps); }, top.node);
    TypeMap made = bounded(top, map);
    made.by_reference = std::holds_alternative<IndexedBlockRef>(top.node) ||
                        std::any_of(child_maps.begin(), child_maps.end(),
                                    [](const TypeMap *child) { return child->by_reference; });
    return made;
}

TypeMap type_map(const Recipe &recipe) {
    std::list<TypeMap> owned;
    ChildMaps maps;
    for (const RecipePtr &child : children(recipe)) {
        owned.push_back(type_map(*child));
        maps.push_back(&owned.back());
    }
    return type_map(recipe, maps);
}

} // namespace ucdtest
