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

// Collects arguments as C++ text.
class Text {
public:
    void number(std::intptr_t value) { add(std::to_string(value)); }
    template <class T>
    void list(const std::vector<T> &values) {
        add(ucdtest::list(values));
    }
    void order(int order) { add(order_name(order)); }
    void distributions(const std::vector<int> &distribs) { add(distribution_names(distribs)); }
    void distribution_args(const Ints &dargs) { add(darg_names(dargs)); }
    void predefined_type(ucd_type_t type) {
        add(std::string("UCD_TYPE__") + predefined(type).name);
    }
    void type(const RecipePtr &old) { add(to_text(*old)); }
    void types(const std::vector<RecipePtr> &old) {
        std::string all;
        for (const RecipePtr &child : old) all += (all.empty() ? "" : ", ") + to_text(*child);
        add("{" + all + "}");
    }
    std::string call_of(const char *maker) const { return std::string(maker) + "(" + all_ + ")"; }

private:
    void add(const std::string &argument) { all_ += (all_.empty() ? "" : ", ") + argument; }
    std::string all_;
};

template <class Node>
std::string text_of(const Node &node) {
    Text text;
    visit_arguments(node, text);
    return text.call_of(Node::maker);
}
std::string text_of(const Leaf &node) {
    Text text;
    text.predefined_type(node.type);
    return text.call_of("leaf");
}
std::string text_of(const IndexedBlockRef &node) {
    Text text;
    text.number(node.blocklength);
    text.list(node.indices);
    text.predefined_type(node.index_type);
    text.number(node.unit);
    text.number(node.lb);
    text.number(node.extent);
    text.type(node.old);
    return text.call_of("indexed_block_ref");
}

} // namespace

namespace recipes {

RecipePtr leaf(ucd_type_t type) {
    return make(Leaf{type});
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
} // namespace recipes

std::vector<RecipePtr> children(const Recipe &recipe) {
    return std::visit(
        [](const auto &node) -> std::vector<RecipePtr> {
            using Node = std::decay_t<decltype(node)>;
            if constexpr (std::is_same_v<Node, Leaf>) {
                return {};
            } else if constexpr (requires { node.types; }) {
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
    return std::visit([](const auto &node) { return text_of(node); }, recipe.node);
}

} // namespace ucdtest
