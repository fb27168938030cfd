#include "support/moves/recipe_build.hpp"

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
        const auto create = [&](const auto &node) { return this->create(node); };
        const ucd_type_t type = std::visit(create, recipe.node);
        built_.emplace(&recipe, type);
        return type;
    }

    static void release(ucd_type_t type) {
        if (!is_predefined(type)) ucd_free(&type);
    }

    static std::intptr_t length(const Ints &values) {
        return static_cast<std::intptr_t>(values.size());
    }

    static ucd_type_t checked(int rc, ucd_type_t type) {
        if (rc != UCD_SUCCESS) {
            throw std::runtime_error(std::string("cannot build: ") + ucd_strerror(rc) + ": " +
                                     ucd_last_error());
        }
        return type;
    }

    ucd_type_t create(const Leaf &node) { return node.type; }
    ucd_type_t create(const Contig &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_create_contig(node.count, build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const Dup &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_create_dup(build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const Vector &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_create_vector(node.count, node.blocklength, node.stride,
                                         build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const HVector &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_create_hvector(node.count, node.blocklength, node.stride,
                                          build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const IndexedBlock &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc =
            ucd_create_indexed_block(length(node.displs), node.blocklength, node.displs.data(),
                                     build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const HIndexedBlock &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc =
            ucd_create_hindexed_block(length(node.displs), node.blocklength, node.displs.data(),
                                      build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const IndexedBlockRef &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_create_indexed_block_ref(
            static_cast<std::intptr_t>(node.indices.size()), node.blocklength, node.memory.get(),
            node.index_type, node.unit, node.lb, node.extent, build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const Indexed &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_create_indexed(length(node.displs), node.blocklengths.data(),
                                          node.displs.data(), build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const HIndexed &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_create_hindexed(length(node.displs), node.blocklengths.data(),
                                           node.displs.data(), build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const Struct &node) {
        std::vector<ucd_type_t> types;
        for (const RecipePtr &child : node.types) types.push_back(build(*child));
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_create_struct(length(node.displs), node.blocklengths.data(),
                                         node.displs.data(), types.data(), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const Subarray &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_create_subarray(static_cast<int>(node.sizes.size()), node.sizes.data(),
                                           node.subsizes.data(), node.starts.data(), node.order,
                                           build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const Darray &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc =
            ucd_create_darray(node.size, node.rank, static_cast<int>(node.gsizes.size()),
                              node.gsizes.data(), node.distribs.data(), node.dargs.data(),
                              node.psizes.data(), node.order, build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const NdArray &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc =
            ucd_create_ndarray(static_cast<int>(node.shape.size()), node.shape.data(),
                               node.byte_strides.data(), build(*node.old), nullptr, &type);
        return checked(rc, type);
    }
    ucd_type_t create(const Resized &node) {
        ucd_type_t type = UCD_TYPE__NULL;
        const int rc = ucd_create_resized(build(*node.old), node.lb, node.extent, nullptr, &type);
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
