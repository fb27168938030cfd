// Derives the expression of a type from its flattened bytes.

#include "filled.hpp"
#include "language/build.hpp"
#include "language/flat_form.hpp"
#include "language/print.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace ucdtool {
namespace {

using Representation = std::tuple<uint8_t, uint8_t, uint8_t>; // class, packed bytes, alignment

// The predefined type for each representation. Types of fixed width have precedence, because their
// names are the same on all machines.
const std::map<Representation, ucd_type_t> &representations() {
    static const auto known = [] {
        std::map<Representation, ucd_type_t> map;
        const auto add = [&](ucd_type_t type) {
            const std::vector<std::byte> flat = ucd::flatten(type);
            FlatReader reader(flat);
            if (reader.header().nodes != 1) return;
            const FlatNode n = reader.next();
            map.emplace(Representation{n.element_class, n.packed_bytes, n.alignment}, type);
        };
        for (auto v = reinterpret_cast<uintptr_t>(UCD_TYPE__INT8_T);
             v <= reinterpret_cast<uintptr_t>(UCD_TYPE__UINT64_T); ++v)
            add(reinterpret_cast<ucd_type_t>(v));
        for (const PredefinedName &p : predefined_names()) add(p.type);
        return map;
    }();
    return known;
}

class Recovery {
public:
    Expression run(ucd::TypeRef type) {
        const std::vector<std::byte> flat = ucd::flatten(type);
        FlatReader reader(flat);
        explicit_ = reader.header().explicit_bounds;
        start_ = reader.header().start;
        if (!reader.more()) empty();
        while (reader.more()) {
            FlatNode node = reader.next();
            const bool root = !reader.more();
            shapes_.push_back(shape(node, root ? start_ : 0));
            if (root) place(shapes_.back(), node.kind);
        }
        set_bounds(reader.header());
        name_shared();
        return std::move(e_);
    }

private:
    struct Shape {
        NodeId id;
        intptr_t extent;
        // A shape contig(length, of): lists can use it as a block.
        intptr_t length = 1;
        NodeId of = 0;
    };

    Shape add(Node node) {
        const ucd_type_t type = builder_.add(node);
        e_.nodes.push_back(std::move(node));
        const NodeId id = e_.nodes.size() - 1;
        return {id, ucd::TypeRef(type).extent().extent, 1, id};
    }
    template <class... A>
    Shape make(const char *constructor, A... arguments) {
        return add(
            {.constructor = constructor_named(constructor), .arguments = {Argument(arguments)...}});
    }
    intptr_t extent_of(NodeId id) const { return ucd::TypeRef(builder_.at(id)).extent().extent; }

    void empty() { make("contig", intptr_t{0}, leaf(UCD_TYPE__BYTE).id); }

    Shape leaf(ucd_type_t type) {
        const auto [known, is_new] = leaves_.try_emplace(type);
        if (is_new) known->second = add({.predefined = type});
        return known->second;
    }

    // `start` is the displacement of the first entry of a list.
    Shape shape(const FlatNode &n, intptr_t start) {
        switch (n.kind) {
        case FlatNode::Kind::element: return element(n);
        case FlatNode::Kind::nest: return nest(n);
        case FlatNode::Kind::indexed_block: return indexed_block(n, start);
        case FlatNode::Kind::indexed: return indexed(n, start);
        case FlatNode::Kind::structure: break;
        }
        return structure(n, start);
    }

    Shape element(const FlatNode &n) {
        const auto known = representations().find({n.element_class, n.packed_bytes, n.alignment});
        if (known != representations().end()) return leaf(known->second);
        return make("element", intptr_t{n.element_class}, intptr_t{n.packed_bytes},
                    intptr_t{1} << n.alignment);
    }

    Shape nest(const FlatNode &n) {
        const Shape child = shapes_[n.children[0]];
        const auto &levels = n.levels;
        const bool dense = levels.back().stride == child.extent;
        if (levels.size() == 1 && dense) {
            Shape s = make("contig", levels[0].count, child.id);
            s.length = levels[0].count;
            s.of = child.id;
            return s;
        }
        if (levels.size() == 1 || (levels.size() == 2 && dense)) {
            const intptr_t block = dense ? levels[1].count : 1, stride = levels[0].stride;
            if (child.extent > 0 && stride % child.extent == 0)
                return make("vector", levels[0].count, block, stride / child.extent, child.id);
            return make("hvector", levels[0].count, block, stride, child.id);
        }
        std::vector<intptr_t> shape, strides;
        for (const FlatNode::Level &l : levels) {
            shape.push_back(l.count);
            strides.push_back(l.stride);
        }
        return make("ndarray", Ints::of(shape), Ints::of(strides), child.id);
    }

    static std::vector<intptr_t> shifted(const FlatNode &n, intptr_t start) {
        std::vector<intptr_t> displs(n.displs.begin(), n.displs.end());
        for (intptr_t &d : displs)
            d = static_cast<intptr_t>(static_cast<uint64_t>(d) + static_cast<uint64_t>(start));
        return displs;
    }

    // Converts displacements to multiples of the extent, if all of them are multiples.
    static bool in_extents(std::vector<intptr_t> &displs, intptr_t extent) {
        if (extent <= 0 ||
            !std::ranges::all_of(displs, [&](intptr_t d) { return d % extent == 0; }))
            return false;
        for (intptr_t &d : displs) d /= extent;
        return true;
    }

    Shape indexed_block(const FlatNode &n, intptr_t start) {
        const Shape child = shapes_[n.children[0]];
        std::vector<intptr_t> displs = shifted(n, start);
        const char *const name =
            in_extents(displs, extent_of(child.of)) ? "indexed_block" : "hindexed_block";
        return make(name, child.length, Ints::of(std::move(displs)), child.of);
    }

    Shape indexed(const FlatNode &n, intptr_t start) {
        Shape child = shapes_[n.children[0]];
        if (child.extent != n.stride) child = with_extent(child, n.stride);
        std::vector<intptr_t> displs = shifted(n, start);
        const char *const name = in_extents(displs, child.extent) ? "indexed" : "hindexed";
        std::vector<intptr_t> lengths(n.lengths.begin(), n.lengths.end());
        return make(name, Ints::of(std::move(lengths)), Ints::of(std::move(displs)), child.id);
    }

    // Bounds of inner types need not be explicit, unless the type as a whole has explicit ones.
    Shape with_extent(const Shape &child, intptr_t extent) {
        if (explicit_) return make("resized", child.id, intptr_t{0}, extent);
        return make("bounds", child.id, intptr_t{0}, extent);
    }

    Shape structure(const FlatNode &n, intptr_t start) {
        std::vector<intptr_t> lengths;
        std::vector<NodeId> types;
        for (const uint32_t c : n.children) {
            lengths.push_back(shapes_[c].length);
            types.push_back(shapes_[c].of);
        }
        // If all blocks have the same type, a struct would be normalised to another shape, so its
        // blocks get length 1.
        if (std::ranges::adjacent_find(types, std::not_equal_to()) == types.end()) {
            std::ranges::fill(lengths, 1);
            for (std::size_t i = 0; i < types.size(); ++i) types[i] = shapes_[n.children[i]].id;
        }
        return make("struct", Ints::of(std::move(lengths)), Ints::of(shifted(n, start)),
                    std::move(types));
    }

    // Lists include the start in their displacements.
    void place(const Shape &root, FlatNode::Kind kind) {
        const bool list = kind != FlatNode::Kind::element && kind != FlatNode::Kind::nest;
        if (start_ != 0 && !list) make("hindexed_block", intptr_t{1}, Ints::of({start_}), root.id);
    }

    void set_bounds(const FlatHeader &wanted) {
        const auto last = [&] { return e_.nodes.size() - 1; };
        const auto found = [&] { return read_header(ucd::flatten(builder_.at(last()))); };
        if (explicit_) {
            make("resized", last(), wanted.lb, wanted.extent);
        } else if (const FlatHeader h = found(); h.lb != wanted.lb || h.extent != wanted.extent) {
            make("bounds", last(), wanted.lb, wanted.extent);
        }
        if (found().alignment != wanted.alignment)
            make("aligned", last(), intptr_t{1} << wanted.alignment);
    }

    // Defines types that are used several times, so that the text is no longer than the flattened
    // type.
    void name_shared() {
        std::vector<uint32_t> uses(e_.nodes.size());
        uses.back() = 1;
        const auto use = [&](NodeId id) { uses[id] += uses[id] < 2; };
        for (NodeId id = e_.nodes.size(); id-- > 0;) {
            if (uses[id] == 0) continue;
            for (const Argument &a : e_.nodes[id].arguments) {
                if (const auto *type = std::get_if<NodeId>(&a)) use(*type);
                if (const auto *types = std::get_if<std::vector<NodeId>>(&a))
                    std::ranges::for_each(*types, use);
            }
        }
        for (NodeId id = 0; id < e_.nodes.size(); ++id)
            if (uses[id] > 1 && e_.nodes[id].constructor != nullptr)
                e_.defined.emplace_back(filled("t{}", e_.defined.size() + 1), id);
    }

    Expression e_;
    TypeBuilder builder_;
    std::vector<Shape> shapes_; // of the flattened nodes
    std::map<ucd_type_t, Shape> leaves_;
    bool explicit_ = false;
    intptr_t start_ = 0;
};

} // namespace

Expression recover(ucd::TypeRef type) {
    return Recovery().run(type);
}

} // namespace ucdtool
