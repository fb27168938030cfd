// The writer: converts a type to shapes, and writes those that the root needs.

#include "flatten/writer.h"

#include "flatten/shapes.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

namespace ucd {
namespace {

using namespace flat;

// Converts a type to shapes in post-order, with an explicit stack, because a million levels are
// legal.
class Dissection {
public:
    explicit Dissection(Shapes &shapes) : shapes_(shapes) {}

    PlacedShape run(const Type &root) {
        // Only members of structs can be reached by more than one path.
        shared_ = root.nested_structs > 0;
        stack_.push_back({&root});
        while (!stack_.empty()) {
            auto &[t, visited] = stack_.back();
            if (!std::exchange(visited, true)) {
                visit(*t);
                continue;
            }
            result_ = combine(*t);
            if (shared_) known_.emplace(t, result_);
            stack_.pop_back();
        }
        return result_;
    }

private:
    struct PendingType {
        const Type *type;
        bool visited = false;
    };

    static bool contributes(const StructureType &t, int64_t member) {
        return t.block_length(member) > 0 && t.member(member).size > 0;
    }

    // Puts the children of the last type on the stack, unless its shape is known.
    void visit(const Type &t) {
        if (const auto known = shared_ ? known_.find(&t) : known_.end(); known != known_.end()) {
            result_ = known->second;
            return stack_.pop_back();
        }
        if (t.form == Form::element) return;
        if (t.form != Form::structure) return stack_.push_back({t.child});
        const auto &structure = as<StructureType>(t);
        const Type *previous = nullptr;
        for (int64_t i = 0, count = structure.count(); i < count; ++i) {
            const Type *const child = &structure.member(i);
            if (child == previous || !contributes(structure, i)) continue;
            stack_.push_back({child});
            previous = child; // performance only: saves a look-up of the same child
        }
    }

    // If the type has one child, `result_` is its shape.
    PlacedShape combine(const Type &t) {
        const PlacedShape c = result_;
        switch (t.form) {
        case Form::element: return {0, shapes_.element(t)};
        case Form::nest: {
            const auto &nest = as<NestType>(t);
            ShapeId id = c.id;
            for (const StrideLevel &level : nest.levels)
                id = shapes_.strided(level.count, level.stride, id);
            return {displace(c.at, nest.at), id};
        }
        // Such a type is never written; its shape is used for an upper limit of the size.
        case Form::by_reference: {
            const auto &list = as<ByReferenceType>(t);
            return {c.at, shapes_.strided(list.count, 0, blocks(list.blocklength, t, c))};
        }
        case Form::indexed_block: {
            const auto &list = as<ListType>(t);
            if (list.has_lengths()) return indexed(list, c);
            std::vector<int64_t> displs;
            displs.reserve(list.displs.size());
            const int64_t first = displace(c.at, list.at);
            for (const int64_t displ : list.displs) displs.push_back(displace(first, displ));
            return shapes_.indexed_block(displs, blocks(list.blocklength, t, c));
        }
        case Form::indexed: return indexed(as<ListType>(t), c);
        case Form::structure: break;
        }
        return combine_structure(as<StructureType>(t));
    }

    // Blocks whose lengths the user listed.
    PlacedShape indexed(const ListType &list, const PlacedShape &child) {
        std::vector<int64_t> displs, lengths;
        displs.reserve(list.displs.size());
        lengths.reserve(list.displs.size());
        for (int64_t i = 0; i < list.count(); ++i) {
            if (list.block_length(i) == 0) continue;
            displs.push_back(displace(child.at, list.displacement(i)));
            lengths.push_back(list.block_length(i));
        }
        return shapes_.indexed(displs, lengths, list.child->extent(), child.id);
    }

    ShapeId blocks(int64_t blocklength, const Type &list, const PlacedShape &child) {
        return shapes_.strided(blocklength, list.child->extent(), child.id);
    }

    PlacedShape combine_structure(const StructureType &t) {
        std::vector<int64_t> displs, lengths, extents;
        std::vector<ShapeId> children;
        const Type *previous = nullptr;
        PlacedShape c;
        for (int64_t i = 0, count = t.count(); i < count; ++i) {
            if (!contributes(t, i)) continue;
            const Type *const child = &t.member(i);
            if (child != previous) c = known_.find(child)->second;
            previous = child;
            displs.push_back(displace(c.at, t.displacement(i)));
            lengths.push_back(t.block_length(i));
            extents.push_back(previous->extent());
            children.push_back(c.id);
        }
        const std::size_t n = children.size();
        const auto all_same = [&] {
            return std::all_of(children.begin(), children.end(),
                               [&](ShapeId id) { return id == children[0]; });
        };
        // A struct of dense blocks is written as indexed: with one list of lengths instead of a
        // shape for each.
        const FlatShape &first = shapes_[children[0]];
        bool dense = first.dense && all_same();
        for (std::size_t i = 0; i < n && dense; ++i)
            dense = lengths[i] == 1 || extents[i] == first.end;
        if (dense) return shapes_.indexed(displs, lengths, first.end, children[0]);
        for (std::size_t i = 0; i < n; ++i)
            children[i] = shapes_.strided(lengths[i], extents[i], children[i]);
        if (all_same()) return shapes_.indexed_block(displs, children[0]);
        return shapes_.structure(displs, children);
    }

    Shapes &shapes_;
    bool shared_ = false;
    std::vector<PendingType> stack_;
    PlacedShape result_;
    std::unordered_map<const Type *, PlacedShape> known_;
};

} // namespace

std::vector<uint8_t> flatten(const Type &type) {
    Shapes shapes;
    PlacedShape root;
    if (type.size > 0) root = Dissection(shapes).run(type);
    const int64_t bounds[] = {root.at, type.lb, type.extent()};
    uint8_t width = 0;
    for (const int64_t value : bounds) width = std::max(width, width_of_signed(value));

    std::vector<uint8_t> bytes(header_bytes + (std::size_t{3} << width));
    uint8_t *to = bytes.data() + header_bytes;
    for (const int64_t value : bounds) to = store(to, static_cast<uint64_t>(value), width);
    Shapes::Written written;
    if (root.id != no_shape) written = shapes.write(root.id, bytes);

    uint8_t *header = bytes.data();
    std::copy_n(magic, sizeof magic, header);
    store(header + version_at, written.version, 1);
    header[flags_at] = static_cast<uint8_t>((type.explicit_bounds ? explicit_flag : 0) |
                                            width << root_width_shift);
    header[alignment_at] = static_cast<uint8_t>(std::countr_zero(type.alignment));
    store(header + total_at, bytes.size(), 3);
    store(header + node_count_at, written.nodes, 2);
    store(header + checksum_at, checksum(header, bytes.size()), 2);
    return bytes;
}

} // namespace ucd
