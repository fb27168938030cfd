#include "support/oracle/recipe.hpp"

#include "support/oracle/predefined.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace ucdtest {
namespace {

template <class Node>
RecipePtr make(Node node) {
    return std::make_shared<const Recipe>(Recipe{std::move(node)});
}

template <class T>
std::string list(const std::vector<T> &values) {
    std::string text = "{";
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i != 0) text += ", ";
        text += std::to_string(values[i]);
    }
    return text + "}";
}

std::string number(std::intptr_t value) {
    return std::to_string(value);
}

std::string order_name(int order) {
    return order == UCD_ORDER__C ? "UCD_ORDER__C" : "UCD_ORDER__FORTRAN";
}

std::string distribution_names(const std::vector<int> &distribs) {
    std::string text = "{";
    for (std::size_t i = 0; i < distribs.size(); ++i) {
        if (i != 0) text += ", ";
        text += distribs[i] == UCD_DISTRIBUTE__BLOCK    ? "UCD_DISTRIBUTE__BLOCK"
                : distribs[i] == UCD_DISTRIBUTE__CYCLIC ? "UCD_DISTRIBUTE__CYCLIC"
                                                        : "UCD_DISTRIBUTE__NONE";
    }
    return text + "}";
}

std::string darg_names(const Ints &dargs) {
    std::string text = "{";
    for (std::size_t i = 0; i < dargs.size(); ++i) {
        if (i != 0) text += ", ";
        text +=
            dargs[i] == UCD_DISTRIBUTE__DFLT_DARG ? "UCD_DISTRIBUTE__DFLT_DARG" : number(dargs[i]);
    }
    return text + "}";
}

// One overload per constructor: its name and arguments, up to where the old type is named.
std::string opening(const Leaf &node) {
    return std::string("leaf(UCD_TYPE__") + predefined(node.type).name;
}
std::string opening(const Contig &node) {
    return "contig(" + number(node.count) + ", ";
}
std::string opening(const Dup &) {
    return "dup(";
}
template <class Node>
std::string vector_opening(const char *name, const Node &node) {
    return std::string(name) + "(" + number(node.count) + ", " + number(node.blocklength) + ", " +
           number(node.stride) + ", ";
}
std::string opening(const Vector &node) {
    return vector_opening("vector", node);
}
std::string opening(const HVector &node) {
    return vector_opening("hvector", node);
}
std::string opening(const IndexedBlock &node) {
    return "indexed_block(" + number(node.blocklength) + ", " + list(node.displs) + ", ";
}
std::string opening(const HIndexedBlock &node) {
    return "hindexed_block(" + number(node.blocklength) + ", " + list(node.displs) + ", ";
}
std::string opening(const IndexedBlockRef &node) {
    return "indexed_block_ref(" + number(node.blocklength) + ", " + list(node.indices) +
           ", UCD_TYPE__" + predefined(node.index_type).name + ", " + number(node.unit) + ", " +
           number(node.lb) + ", " + number(node.extent) + ", ";
}
std::string opening(const Indexed &node) {
    return "indexed(" + list(node.blocklengths) + ", " + list(node.displs) + ", ";
}
std::string opening(const HIndexed &node) {
    return "hindexed(" + list(node.blocklengths) + ", " + list(node.displs) + ", ";
}
std::string opening(const Struct &node) {
    return "structure(" + list(node.blocklengths) + ", " + list(node.displs) + ", {";
}
std::string opening(const Subarray &node) {
    return "subarray(" + list(node.sizes) + ", " + list(node.subsizes) + ", " + list(node.starts) +
           ", " + order_name(node.order) + ", ";
}
std::string opening(const Darray &node) {
    return "darray(" + number(node.size) + ", " + number(node.rank) + ", " + list(node.gsizes) +
           ", " + distribution_names(node.distribs) + ", " + darg_names(node.dargs) + ", " +
           list(node.psizes) + ", " + order_name(node.order) + ", ";
}
std::string opening(const NdArray &node) {
    return "ndarray(" + list(node.shape) + ", " + list(node.byte_strides) + ", ";
}
std::string opening(const Resized &) {
    return "resized(";
}

// …and what follows the old type.
template <class Node>
std::string closing(const Node &) {
    return ")";
}
std::string closing(const Struct &) {
    return "})";
}
std::string closing(const Resized &node) {
    return ", " + number(node.lb) + ", " + number(node.extent) + ")";
}

} // namespace

namespace recipes {

RecipePtr leaf(ucd_type_t type) {
    return make(Leaf{type});
}
RecipePtr contig(std::intptr_t count, RecipePtr old) {
    return make(Contig{count, std::move(old)});
}
RecipePtr dup(RecipePtr old) {
    return make(Dup{std::move(old)});
}
RecipePtr vector(std::intptr_t count, std::intptr_t blocklength, std::intptr_t stride,
                 RecipePtr old) {
    return make(Vector{count, blocklength, stride, std::move(old)});
}
RecipePtr hvector(std::intptr_t count, std::intptr_t blocklength, std::intptr_t stride,
                  RecipePtr old) {
    return make(HVector{count, blocklength, stride, std::move(old)});
}
RecipePtr indexed_block(std::intptr_t blocklength, Ints displs, RecipePtr old) {
    return make(IndexedBlock{blocklength, std::move(displs), std::move(old)});
}
RecipePtr hindexed_block(std::intptr_t blocklength, Ints displs, RecipePtr old) {
    return make(HIndexedBlock{blocklength, std::move(displs), std::move(old)});
}
RecipePtr indexed_block_ref(std::intptr_t blocklength, std::vector<std::int64_t> indices,
                            ucd_type_t index_type, std::intptr_t unit, std::intptr_t lb,
                            std::intptr_t extent, RecipePtr old, std::shared_ptr<void> memory) {
    if (memory == nullptr) {
        const std::vector<std::byte> bytes = bytes_of_indices(indices, index_type);
        // Of exactly their size, so that sanitizers find what reads beyond them.
        memory = std::shared_ptr<void>(::operator new(bytes.size()),
                                       [](void *p) { ::operator delete(p); });
        std::copy(bytes.begin(), bytes.end(), static_cast<std::byte *>(memory.get()));
    }
    return make(IndexedBlockRef{blocklength, std::move(indices), index_type, unit, lb, extent,
                                std::move(old), std::move(memory)});
}
RecipePtr indexed(Ints blocklengths, Ints displs, RecipePtr old) {
    return make(Indexed{std::move(blocklengths), std::move(displs), std::move(old)});
}
RecipePtr hindexed(Ints blocklengths, Ints displs, RecipePtr old) {
    return make(HIndexed{std::move(blocklengths), std::move(displs), std::move(old)});
}
RecipePtr structure(Ints blocklengths, Ints displs, std::vector<RecipePtr> types) {
    return make(Struct{std::move(blocklengths), std::move(displs), std::move(types)});
}
RecipePtr subarray(Ints sizes, Ints subsizes, Ints starts, int order, RecipePtr old) {
    return make(
        Subarray{std::move(sizes), std::move(subsizes), std::move(starts), order, std::move(old)});
}
RecipePtr darray(int size, int rank, Ints gsizes, std::vector<int> distribs, Ints dargs,
                 std::vector<int> psizes, int order, RecipePtr old) {
    return make(Darray{size, rank, std::move(gsizes), std::move(distribs), std::move(dargs),
                       std::move(psizes), order, std::move(old)});
}
RecipePtr ndarray(Ints shape, Ints byte_strides, RecipePtr old) {
    return make(NdArray{std::move(shape), std::move(byte_strides), std::move(old)});
}
RecipePtr resized(RecipePtr old, std::intptr_t lb, std::intptr_t extent) {
    return make(Resized{std::move(old), lb, extent});
}

} // namespace recipes

std::vector<RecipePtr> children(const Recipe &recipe) {
    return std::visit(
        [](const auto &node) -> std::vector<RecipePtr> {
            using Node = std::decay_t<decltype(node)>;
            if constexpr (std::is_same_v<Node, Leaf>) {
                return {};
            } else if constexpr (std::is_same_v<Node, Struct>) {
                return node.types;
            } else {
                return {node.old};
            }
        },
        recipe.node);
}

std::vector<std::byte> bytes_of_indices(const std::vector<std::int64_t> &indices,
                                        ucd_type_t index_type) {
    const std::size_t each = predefined(index_type).size;
    std::vector<std::byte> bytes(indices.size() * each);
    // The low bytes of a number come first on a little-endian machine, and last on others.
    const std::size_t low =
        std::endian::native == std::endian::little ? 0 : sizeof indices[0] - each;
    for (std::size_t i = 0; i < indices.size(); ++i)
        std::memcpy(bytes.data() + i * each, reinterpret_cast<const std::byte *>(&indices[i]) + low,
                    each);
    return bytes;
}

std::string to_text(const Recipe &recipe) {
    return std::visit(
        [&](const auto &node) {
            std::string text = opening(node);
            const char *separator = "";
            for (const RecipePtr &child : children(recipe)) {
                text += separator;
                text += to_text(*child);
                separator = ", ";
            }
            return text + closing(node);
        },
        recipe.node);
}

} // namespace ucdtest
