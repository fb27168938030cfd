#include "yaksa_oracle.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ucdtest {
namespace {

#define UCD_TEST_LEAF(NAME)                                                                        \
    { YAKSA_TYPE__##NAME, UCD_TYPE__##NAME, #NAME }
const YaksaLeaf leaves[] = {
    UCD_TEST_LEAF(_BOOL),
    UCD_TEST_LEAF(CHAR),
    UCD_TEST_LEAF(SIGNED_CHAR),
    UCD_TEST_LEAF(UNSIGNED_CHAR),
    UCD_TEST_LEAF(WCHAR_T),
    UCD_TEST_LEAF(INT8_T),
    UCD_TEST_LEAF(INT16_T),
    UCD_TEST_LEAF(INT32_T),
    UCD_TEST_LEAF(INT64_T),
    UCD_TEST_LEAF(UINT8_T),
    UCD_TEST_LEAF(UINT16_T),
    UCD_TEST_LEAF(UINT32_T),
    UCD_TEST_LEAF(UINT64_T),
    UCD_TEST_LEAF(INT),
    UCD_TEST_LEAF(UNSIGNED),
    UCD_TEST_LEAF(SHORT),
    UCD_TEST_LEAF(UNSIGNED_SHORT),
    UCD_TEST_LEAF(LONG),
    UCD_TEST_LEAF(UNSIGNED_LONG),
    UCD_TEST_LEAF(LONG_LONG),
    UCD_TEST_LEAF(UNSIGNED_LONG_LONG),
    UCD_TEST_LEAF(INT_FAST8_T),
    UCD_TEST_LEAF(INT_FAST16_T),
    UCD_TEST_LEAF(INT_FAST32_T),
    UCD_TEST_LEAF(INT_FAST64_T),
    UCD_TEST_LEAF(UINT_FAST8_T),
    UCD_TEST_LEAF(UINT_FAST16_T),
    UCD_TEST_LEAF(UINT_FAST32_T),
    UCD_TEST_LEAF(UINT_FAST64_T),
    UCD_TEST_LEAF(INT_LEAST8_T),
    UCD_TEST_LEAF(INT_LEAST16_T),
    UCD_TEST_LEAF(INT_LEAST32_T),
    UCD_TEST_LEAF(INT_LEAST64_T),
    UCD_TEST_LEAF(UINT_LEAST8_T),
    UCD_TEST_LEAF(UINT_LEAST16_T),
    UCD_TEST_LEAF(UINT_LEAST32_T),
    UCD_TEST_LEAF(UINT_LEAST64_T),
    UCD_TEST_LEAF(BYTE),
    UCD_TEST_LEAF(INTMAX_T),
    UCD_TEST_LEAF(UINTMAX_T),
    UCD_TEST_LEAF(SIZE_T),
    UCD_TEST_LEAF(INTPTR_T),
    UCD_TEST_LEAF(UINTPTR_T),
    UCD_TEST_LEAF(PTRDIFF_T),
    UCD_TEST_LEAF(FLOAT),
    UCD_TEST_LEAF(DOUBLE),
    UCD_TEST_LEAF(LONG_DOUBLE),
    UCD_TEST_LEAF(C_COMPLEX),
    UCD_TEST_LEAF(C_DOUBLE_COMPLEX),
    UCD_TEST_LEAF(C_LONG_DOUBLE_COMPLEX),
    UCD_TEST_LEAF(FLOAT_INT),
    UCD_TEST_LEAF(DOUBLE_INT),
    UCD_TEST_LEAF(LONG_INT),
    UCD_TEST_LEAF(2INT),
    UCD_TEST_LEAF(SHORT_INT),
    UCD_TEST_LEAF(LONG_DOUBLE_INT),
};

const YaksaOp ops[] = {
    {YAKSA_OP__MAX, UCD_OP__MAX, "MAX"},    {YAKSA_OP__MIN, UCD_OP__MIN, "MIN"},
    {YAKSA_OP__SUM, UCD_OP__SUM, "SUM"},    {YAKSA_OP__PROD, UCD_OP__PROD, "PROD"},
    {YAKSA_OP__LAND, UCD_OP__LAND, "LAND"}, {YAKSA_OP__BAND, UCD_OP__BAND, "BAND"},
    {YAKSA_OP__LOR, UCD_OP__LOR, "LOR"},    {YAKSA_OP__BOR, UCD_OP__BOR, "BOR"},
    {YAKSA_OP__LXOR, UCD_OP__LXOR, "LXOR"}, {YAKSA_OP__BXOR, UCD_OP__BXOR, "BXOR"},
};

// The types of a pair's members; none if it is no pair.
std::vector<ucd_type_t> members(const Predefined &type) {
    if (type.handle == UCD_TYPE__FLOAT_INT) return {UCD_TYPE__FLOAT, UCD_TYPE__INT};
    if (type.handle == UCD_TYPE__DOUBLE_INT) return {UCD_TYPE__DOUBLE, UCD_TYPE__INT};
    if (type.handle == UCD_TYPE__LONG_INT) return {UCD_TYPE__LONG, UCD_TYPE__INT};
    if (type.handle == UCD_TYPE__2INT) return {UCD_TYPE__INT, UCD_TYPE__INT};
    if (type.handle == UCD_TYPE__SHORT_INT) return {UCD_TYPE__SHORT, UCD_TYPE__INT};
    if (type.handle == UCD_TYPE__LONG_DOUBLE_INT) return {UCD_TYPE__LONG_DOUBLE, UCD_TYPE__INT};
    return {};
}

// BYTE is an integer in yaksa.
const Predefined &calculated(const Predefined &type) {
    return type.handle == UCD_TYPE__BYTE ? predefined(UCD_TYPE__UINT8_T) : type;
}

// What yaksa takes for one type has one name.
std::string identity(const Recipe &recipe) {
    if (const auto *leaf = std::get_if<Leaf>(&recipe.node)) {
        const Predefined &type = predefined(leaf->type);
        const std::string name = type.name;
        if (name.ends_with("CHAR")) return "char";
        if (type.type_class == TypeClass::integer || type.type_class == TypeClass::byte)
            return "integer of " + std::to_string(type.size);
        return name;
    }
    if (const auto *dup = std::get_if<Dup>(&recipe.node)) return identity(*dup->old);
    const auto of_one = [&](std::intptr_t count, const RecipePtr &old) {
        return count == 1 && yaksa_map(*old).size != 0 ? identity(*old) : "";
    };
    std::string same;
    if (const auto *node = std::get_if<Contig>(&recipe.node)) same = of_one(node->count, node->old);
    if (const auto *node = std::get_if<Vector>(&recipe.node); node && node->count == 1)
        same = of_one(node->blocklength, node->old);
    if (const auto *node = std::get_if<HVector>(&recipe.node); node && node->count == 1)
        same = of_one(node->blocklength, node->old);
    if (const auto *node = std::get_if<Resized>(&recipe.node)) {
        const TypeMap old = yaksa_map(*node->old);
        if (node->lb == old.lb && node->extent == old.extent) same = identity(*node->old);
    }
    if (!same.empty()) return same;
    if (!std::holds_alternative<Resized>(recipe.node) && yaksa_map(recipe).size == 0) return "null";
    return std::to_string(reinterpret_cast<std::uintptr_t>(&recipe));
}

// Placed copies of other maps, and the bounds of all of them.
class Placing {
public:
    void place(const TypeMap &old, std::intptr_t at) {
        for (const Entry &entry : old.entries)
            map_.entries.push_back({entry.type, entry.displ + at});
        low_ = std::min(low_.value_or(at + old.lb), at + old.lb);
        high_ = std::max(high_.value_or(at + old.ub()), at + old.ub());
        map_.align = std::max(map_.align, old.align);
    }
    void place_block(const TypeMap &old, std::intptr_t length, std::intptr_t at) {
        for (std::intptr_t i = 0; i < length; ++i) place(old, at + i * old.extent);
    }
    void round_up() {
        const auto align = static_cast<std::intptr_t>(map_.align);
        while (high_ && (*high_ - *low_) % align != 0) ++*high_;
    }
    void set_bounds(std::intptr_t lb, std::intptr_t ub) {
        low_ = lb;
        high_ = ub;
    }

    TypeMap finish(bool keeps_bounds) {
        for (const Entry &entry : map_.entries) {
            const std::intptr_t end = entry.displ + entry.type->true_end();
            const bool first = map_.size == 0;
            const std::intptr_t high = first ? end : std::max(map_.true_ub(), end);
            map_.true_lb = first ? entry.displ : std::min(map_.true_lb, entry.displ);
            map_.true_extent = high - map_.true_lb;
            map_.size += entry.type->size;
        }
        if (map_.size == 0 && !keeps_bounds) return {};
        map_.lb = low_.value_or(0);
        map_.extent = high_.value_or(0) - map_.lb;
        return std::move(map_);
    }

private:
    TypeMap map_;
    std::optional<std::intptr_t> low_, high_;
};

// An overload for each constructor that yaksa has.
void place_all(Placing &map, const Contig &node) {
    map.place_block(yaksa_map(*node.old), node.count, 0);
}
void place_all(Placing &map, const Dup &node) {
    map.place(yaksa_map(*node.old), 0);
}
void place_all(Placing &map, const HVector &node) {
    const TypeMap old = yaksa_map(*node.old);
    for (std::intptr_t i = 0; i < node.count; ++i)
        map.place_block(old, node.blocklength, i * node.stride);
}
void place_all(Placing &map, const Vector &node) {
    const TypeMap old = yaksa_map(*node.old);
    for (std::intptr_t i = 0; i < node.count; ++i)
        map.place_block(old, node.blocklength, i * node.stride * old.extent);
}
void place_all(Placing &map, const IndexedBlock &node) {
    const TypeMap old = yaksa_map(*node.old);
    for (const std::intptr_t displ : node.displs)
        map.place_block(old, node.blocklength, displ * old.extent);
}
void place_all(Placing &map, const HIndexedBlock &node) {
    const TypeMap old = yaksa_map(*node.old);
    for (const std::intptr_t displ : node.displs) map.place_block(old, node.blocklength, displ);
}
void place_all(Placing &map, const Indexed &node) {
    const TypeMap old = yaksa_map(*node.old);
    for (std::size_t i = 0; i < node.displs.size(); ++i)
        map.place_block(old, node.blocklengths[i], node.displs[i] * old.extent);
}
void place_all(Placing &map, const HIndexed &node) {
    const TypeMap old = yaksa_map(*node.old);
    for (std::size_t i = 0; i < node.displs.size(); ++i)
        map.place_block(old, node.blocklengths[i], node.displs[i]);
}
void place_all(Placing &map, const Struct &node) {
    bool one_type = true;
    for (std::size_t i = 0; i < node.displs.size(); ++i) {
        map.place_block(yaksa_map(*node.types[i]), node.blocklengths[i], node.displs[i]);
        one_type = one_type && identity(*node.types[i]) == identity(*node.types[0]);
    }
    if (!one_type) map.round_up();
}
void place_all(Placing &map, const Resized &node) {
    map.place(yaksa_map(*node.old), 0);
    map.set_bounds(node.lb, node.lb + node.extent);
}
void place_all(Placing &map, const Subarray &node) {
    const TypeMap old = yaksa_map(*node.old);
    // Dimensions from the one that varies slowest.
    std::vector<std::size_t> dims(node.sizes.size());
    for (std::size_t k = 0; k < dims.size(); ++k)
        dims[k] = node.order == UCD_ORDER__C ? k : dims.size() - 1 - k;
    const std::function<void(std::size_t, std::intptr_t)> go = [&](std::size_t k,
                                                                   std::intptr_t index) {
        if (k == dims.size()) return map.place(old, index * old.extent);
        for (std::intptr_t i = 0; i < node.subsizes[dims[k]]; ++i)
            go(k + 1, index * node.sizes[dims[k]] + node.starts[dims[k]] + i);
    };
    go(0, 0);
    std::intptr_t elements = 1;
    for (const std::intptr_t size : node.sizes) elements *= size;
    map.set_bounds(0, elements * old.extent);
}

template <class Node>
concept InYaksa = std::is_same_v<Node, Leaf> || requires(Placing &map, const Node &node) {
    place_all(map, node);
};

} // namespace

std::span<const YaksaLeaf> yaksa_leaves() {
    return leaves;
}

yaksa_type_t yaksa_leaf(ucd_type_t type) {
    for (const YaksaLeaf &leaf : leaves) {
        if (leaf.type == type) return leaf.handle;
    }
    throw std::logic_error("yaksa has no such predefined type");
}

std::vector<ucd_type_t> yaksa_elements() {
    std::vector<ucd_type_t> types;
    for (const YaksaLeaf &leaf : leaves) types.push_back(leaf.type);
    return types;
}

bool fits_yaksa(const Recipe &recipe) {
    const auto known = []<class Node>(const Node &) { return InYaksa<Node>; };
    if (!std::visit(known, recipe.node)) return false;
    const std::vector<RecipePtr> old = children(recipe);
    return std::all_of(old.begin(), old.end(),
                       [](const RecipePtr &child) { return fits_yaksa(*child); });
}

TypeMap yaksa_map(const Recipe &recipe) {
    if (std::holds_alternative<Leaf>(recipe.node)) return type_map(recipe);
    Placing map;
    std::visit(
        [&]<class Node>(const Node &node) {
            if constexpr (InYaksa<Node> && !std::is_same_v<Node, Leaf>)
                place_all(map, node);
            else
                throw std::logic_error("yaksa has no such constructor");
        },
        recipe.node);
    return map.finish(std::holds_alternative<Resized>(recipe.node) ||
                      std::holds_alternative<Dup>(recipe.node));
}

std::span<const YaksaOp> yaksa_ops() {
    return ops;
}

bool yaksa_supports(const YaksaOp &op, const Predefined &type) {
    const std::vector<ucd_type_t> both = members(type);
    if (both.empty()) return is_supported(op.same, calculated(type));
    return is_supported(op.same, predefined(both[0])) && is_supported(op.same, predefined(both[1]));
}

void yaksa_reduce(const YaksaOp &op, const Predefined &type, void *out, const void *in) {
    const std::vector<ucd_type_t> both = members(type);
    if (both.empty()) return reduce_element(op.same, calculated(type), out, in);
    const std::size_t second = predefined(both[0]).size;
    reduce_element(op.same, predefined(both[0]), out, in);
    reduce_element(op.same, predefined(both[1]), static_cast<std::byte *>(out) + second,
                   static_cast<const std::byte *>(in) + second);
}

} // namespace ucdtest
