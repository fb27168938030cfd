#include "support/moves/recipe_build.hpp"

#include "recipe_calls.h"
#include "support/oracle/predefined.hpp"

#include <stdexcept>
#include <string>
#include <unordered_map>

namespace ucdtest {
namespace {

// Depth first, each shared recipe once. Recursive, as recipes are shallow; tests of a million
// levels call the C interface in a loop.
class Builder {
public:
    ~Builder() {
        for (auto &[recipe, type] : built_) release(type);
    }

    // Hands the root over to the caller; the destructor frees everything below it. A type that is
    // named twice is freed once, as it was built once.
    ucd_type_t build_root(const Recipe &recipe) {
        const ucd_type_t root = build(recipe);
        built_.erase(&recipe);
        return root;
    }

private:
    ucd_type_t build(const Recipe &recipe) {
        if (const auto known = built_.find(&recipe); known != built_.end()) return known->second;
        const ucd_type_t type =
            std::visit([&](const auto &node) { return made_from(node); }, recipe.node);
        built_.emplace(&recipe, type);
        return type;
    }

    static void release(ucd_type_t type) {
        if (!is_predefined(type)) ucd_free(&type);
    }

    static ucd_type_t checked(int rc, ucd_type_t type) {
        if (rc != UCD_SUCCESS) {
            throw std::runtime_error(std::string("cannot build: ") + ucd_strerror(rc) + ": " +
                                     ucd_last_error());
        }
        return type;
    }

    ucd_type_t build(const RecipePtr &recipe) { return build(*recipe); }
    std::vector<ucd_type_t> build(const std::vector<RecipePtr> &recipes) {
        std::vector<ucd_type_t> types;
        for (const RecipePtr &recipe : recipes) types.push_back(build(*recipe));
        return types;
    }

    ucd_type_t made_from(const Leaf &node) { return node.type; }
    ucd_type_t made_from(const IndexedBlockRef &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_create_indexed_block_ref(
            static_cast<std::intptr_t>(node.indices.size()), node.blocklength, node.memory.get(),
            node.index_type, node.unit, node.lb, node.extent, build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    template <class Node>
    ucd_type_t made_from(const Node &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = create(
            node, [&](const auto &below) { return build(below); }, &type);
        return checked(rc, type);
    }

    std::unordered_map<const Recipe *, ucd_type_t> built_;
};

} // namespace

ucd_type_t build(const Recipe &recipe) {
    return Builder().build_root(recipe);
}

BuiltType::~BuiltType() {
    if (type_ != UCD_TYPE__NULL && !is_predefined(type_)) ucd_free(&type_);
}

} // namespace ucdtest
