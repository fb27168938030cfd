#include "yaksa_build.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace ucdtest {
namespace {

void check(int rc, const char *what) {
    if (rc != YAKSA_SUCCESS)
        throw std::runtime_error(std::string(what) + ": " + ucd_yaksa_last_error());
}

class Builder {
public:
    ~Builder() {
        for (auto &[recipe, type] : built_) release(type);
    }

    yaksa_type_t build_root(const Recipe &recipe) {
        const yaksa_type_t root = build(recipe);
        built_.erase(&recipe);
        return root;
    }

private:
    static void release(yaksa_type_t type) {
        if (type > UINT32_MAX) yaksa_type_free(type);
    }

    yaksa_type_t build(const Recipe &recipe) {
        if (const auto known = built_.find(&recipe); known != built_.end()) return known->second;
        yaksa_type_t type = YAKSA_TYPE__NULL;
        std::visit([&](const auto &node) { check(create(node, &type), "a constructor"); },
                   recipe.node);
        built_.emplace(&recipe, type);
        return type;
    }

    static std::intptr_t length(const Ints &values) {
        return static_cast<std::intptr_t>(values.size());
    }

    template <class Node>
    int create(const Node &, yaksa_type_t *) {
        throw std::logic_error("yaksa has no such constructor");
    }
    int create(const Leaf &node, yaksa_type_t *type) {
        *type = yaksa_leaf(node.type);
        return YAKSA_SUCCESS;
    }
    int create(const Contig &node, yaksa_type_t *type) {
        return yaksa_type_create_contig(node.count, build(*node.old), nullptr, type);
    }
    int create(const Dup &node, yaksa_type_t *type) {
        return yaksa_type_create_dup(build(*node.old), nullptr, type);
    }
    int create(const Vector &node, yaksa_type_t *type) {
        return yaksa_type_create_vector(node.count, node.blocklength, node.stride, build(*node.old),
                                        nullptr, type);
    }
    int create(const HVector &node, yaksa_type_t *type) {
        return yaksa_type_create_hvector(node.count, node.blocklength, node.stride,
                                         build(*node.old), nullptr, type);
    }
    int create(const IndexedBlock &node, yaksa_type_t *type) {
        return yaksa_type_create_indexed_block(length(node.displs), node.blocklength,
                                               node.displs.data(), build(*node.old), nullptr, type);
    }
    int create(const HIndexedBlock &node, yaksa_type_t *type) {
        return yaksa_type_create_hindexed_block(length(node.displs), node.blocklength,
                                                node.displs.data(), build(*node.old), nullptr,
                                                type);
    }
    int create(const Indexed &node, yaksa_type_t *type) {
        return yaksa_type_create_indexed(length(node.displs), node.blocklengths.data(),
                                         node.displs.data(), build(*node.old), nullptr, type);
    }
    int create(const HIndexed &node, yaksa_type_t *type) {
        return yaksa_type_create_hindexed(length(node.displs), node.blocklengths.data(),
                                          node.displs.data(), build(*node.old), nullptr, type);
    }
    int create(const Struct &node, yaksa_type_t *type) {
        std::vector<yaksa_type_t> types;
        for (const RecipePtr &child : node.types) types.push_back(build(*child));
        return yaksa_type_create_struct(length(node.displs), node.blocklengths.data(),
                                        node.displs.data(), types.data(), nullptr, type);
    }
    int create(const Subarray &node, yaksa_type_t *type) {
        const auto order =
            node.order == UCD_ORDER__C ? YAKSA_SUBARRAY_ORDER__C : YAKSA_SUBARRAY_ORDER__FORTRAN;
        return yaksa_type_create_subarray(static_cast<int>(node.sizes.size()), node.sizes.data(),
                                          node.subsizes.data(), node.starts.data(), order,
                                          build(*node.old), nullptr, type);
    }
    int create(const Resized &node, yaksa_type_t *type) {
        return yaksa_type_create_resized(build(*node.old), node.lb, node.extent, nullptr, type);
    }

    std::unordered_map<const Recipe *, yaksa_type_t> built_;
};

} // namespace

YaksaSession::YaksaSession(yaksa_info_t info) {
    check(yaksa_init(info), "yaksa_init");
}

YaksaSession::~YaksaSession() {
    yaksa_finalize();
}

YaksaType::YaksaType(const RecipePtr &recipe) : handle_(Builder().build_root(*recipe)) {}

YaksaType::~YaksaType() {
    if (handle_ > UINT32_MAX) yaksa_type_free(handle_);
}

std::size_t YaksaSubject::boundary(std::size_t offset) const {
    if (offset >= size()) return size();
    const auto beyond =
        std::upper_bound(elements.begin(), elements.end(), offset,
                         [](std::size_t at, const StreamElement &e) { return at < e.offset; });
    return std::prev(beyond)->offset;
}

YaksaSubject yaksa_subject(Case &one, const RecipePtr &recipe, std::size_t count) {
    one.about("type", recipe, count);
    YaksaSubject subject{recipe, yaksa_map(*recipe), count, {}, {}, YaksaType(recipe)};
    subject.bytes = byte_map(subject.map, count);
    subject.elements = stream_elements(subject.map, count);
    return subject;
}

YaksaSubject random_yaksa_subject(Case &one, std::vector<ucd_type_t> elements) {
    RecipeOptions options;
    options.max_bytes = 1024;
    options.max_span = 16384;
    options.elements = std::move(elements);
    for (;;) {
        const RandomType type = random_type(one.rng(), options);
        if (!fits_yaksa(*type.recipe)) continue;
        // Elements may be farther apart by yaksa's bounds.
        const TypeMap map = yaksa_map(*type.recipe);
        const std::size_t count = one.rng().below(6);
        if (touched_range(map, count).length() > 1 << 20) continue;
        return yaksa_subject(one, type.recipe, count);
    }
}

void succeed(const Case &one, int rc, const char *what) {
    if (rc != YAKSA_SUCCESS) one.fail(what, " returned ", rc, ": ", ucd_yaksa_last_error());
}

} // namespace ucdtest
