#include "mpi/mpi_build.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>

namespace ucdtest {
namespace {

struct Element {
    ucd_type_t type;
    MPI_Datatype datatype;
};

const std::vector<Element> &elements() {
    static const std::vector<Element> all = {
        {UCD_TYPE__CHAR, MPI_CHAR},
        {UCD_TYPE__SIGNED_CHAR, MPI_SIGNED_CHAR},
        {UCD_TYPE__BYTE, MPI_BYTE},
        {UCD_TYPE__SHORT, MPI_SHORT},
        {UCD_TYPE__UNSIGNED_SHORT, MPI_UNSIGNED_SHORT},
        {UCD_TYPE__INT, MPI_INT},
        {UCD_TYPE__LONG, MPI_LONG},
        {UCD_TYPE__LONG_LONG, MPI_LONG_LONG},
        {UCD_TYPE__UINT64_T, MPI_UINT64_T},
        {UCD_TYPE__INT8_T, MPI_INT8_T},
        {UCD_TYPE__FLOAT, MPI_FLOAT},
        {UCD_TYPE__DOUBLE, MPI_DOUBLE},
        {UCD_TYPE__LONG_DOUBLE, MPI_LONG_DOUBLE},
        {UCD_TYPE__C_COMPLEX, MPI_C_FLOAT_COMPLEX},
        {UCD_TYPE__C_DOUBLE_COMPLEX, MPI_C_DOUBLE_COMPLEX},
        {UCD_TYPE___BOOL, MPI_C_BOOL},
        {UCD_TYPE__WCHAR_T, MPI_WCHAR},
        {UCD_TYPE__2INT, MPI_2INT},
        {UCD_TYPE__DOUBLE_INT, MPI_DOUBLE_INT},
        {UCD_TYPE__SHORT_INT, MPI_SHORT_INT},
        {UCD_TYPE__LONG_DOUBLE_INT, MPI_LONG_DOUBLE_INT},
    };
    return all;
}

bool is_predefined(MPI_Datatype datatype) {
    int ni = 0, na = 0, nd = 0, combiner = MPI_COMBINER_DUP;
    return MPI_Type_get_envelope(datatype, &ni, &na, &nd, &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

template <class To>
To narrow(std::intptr_t value) {
    if (value > std::numeric_limits<To>::max() || value < std::numeric_limits<To>::min())
        throw std::runtime_error("a number is too large for this constructor");
    return static_cast<To>(value);
}

template <class To>
std::vector<To> narrow(const Ints &values) {
    std::vector<To> narrowed;
    for (const std::intptr_t value : values) narrowed.push_back(narrow<To>(value));
    return narrowed;
}

// MPI's constructors with int and MPI_Aint, and those with MPI_Count, by the same names.
struct Small {
    using Count = int;
    using Bytes = MPI_Aint;
    static constexpr auto contig = MPI_Type_contiguous;
    static constexpr auto vector = MPI_Type_vector;
    static constexpr auto hvector = MPI_Type_create_hvector;
    static constexpr auto indexed_block = MPI_Type_create_indexed_block;
    static constexpr auto hindexed_block = MPI_Type_create_hindexed_block;
    static constexpr auto indexed = MPI_Type_indexed;
    static constexpr auto hindexed = MPI_Type_create_hindexed;
    static constexpr auto structure = MPI_Type_create_struct;
    static constexpr auto subarray = MPI_Type_create_subarray;
    static constexpr auto darray = MPI_Type_create_darray;
    static constexpr auto resized = MPI_Type_create_resized;
};
#if MPI_VERSION >= 4
struct Large {
    using Count = MPI_Count;
    using Bytes = MPI_Count;
    static constexpr auto contig = MPI_Type_contiguous_c;
    static constexpr auto vector = MPI_Type_vector_c;
    static constexpr auto hvector = MPI_Type_create_hvector_c;
    static constexpr auto indexed_block = MPI_Type_create_indexed_block_c;
    static constexpr auto hindexed_block = MPI_Type_create_hindexed_block_c;
    static constexpr auto indexed = MPI_Type_indexed_c;
    static constexpr auto hindexed = MPI_Type_create_hindexed_c;
    static constexpr auto structure = MPI_Type_create_struct_c;
    static constexpr auto subarray = MPI_Type_create_subarray_c;
    static constexpr auto darray = MPI_Type_create_darray_c;
    static constexpr auto resized = MPI_Type_create_resized_c;
};
#else
using Large = Small;
#endif

template <class Mpi>
class Builder {
    using Count = typename Mpi::Count;
    using Bytes = typename Mpi::Bytes;

public:
    ~Builder() {
        for (auto &[recipe, type] : built_) release(type);
    }

    MPI_Datatype build_root(const RecipePtr &recipe) {
        MPI_Datatype root = build(recipe);
        if (is_predefined(root)) return root;
        if (MPI_Type_commit(&root) != MPI_SUCCESS) throw std::runtime_error("commit");
        built_.erase(recipe.get());
        return root;
    }
    TypeMap map_of(const RecipePtr &recipe) { return maps_.at(recipe.get()); }

private:
    MPI_Datatype build(const RecipePtr &recipe) {
        if (const auto known = built_.find(recipe.get()); known != built_.end())
            return known->second;
        const auto create = [&](const auto &node) { return this->create(node); };
        const MPI_Datatype type = std::visit(create, recipe->node);
        built_.emplace(recipe.get(), type);
        add_map(*recipe, type);
        return type;
    }

    void add_map(const Recipe &recipe, MPI_Datatype type) {
        std::vector<const TypeMap *> below;
        for (const RecipePtr &child : children(recipe)) below.push_back(&maps_.at(child.get()));
        TypeMap map = type_map(recipe, below);
        MPI_Count lb = 0, extent = 0;
        if (MPI_Type_get_extent_x(type, &lb, &extent) != MPI_SUCCESS)
            throw std::runtime_error("MPI_Type_get_extent_x");
        map.lb = static_cast<std::intptr_t>(lb);
        map.extent = static_cast<std::intptr_t>(extent);
        maps_.emplace(&recipe, std::move(map));
    }

    static void release(MPI_Datatype type) {
        if (!is_predefined(type)) MPI_Type_free(&type);
    }

    template <class Constructor, class... Arguments>
    static MPI_Datatype call(Constructor constructor, Arguments... arguments) {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        if (constructor(arguments..., &type) != MPI_SUCCESS)
            throw std::runtime_error("MPI refuses to build it");
        return type;
    }

    static Count length(const Ints &values) { return narrow<Count>(std::intptr_t(values.size())); }
    static Count count(std::intptr_t value) { return narrow<Count>(value); }
    static Bytes bytes(std::intptr_t value) { return static_cast<Bytes>(value); }
    static std::vector<Count> counts(const Ints &values) { return narrow<Count>(values); }
    static std::vector<Bytes> all_bytes(const Ints &values) { return narrow<Bytes>(values); }
    static int mpi_order(int order) {
        return order == UCD_ORDER__C ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    }

    MPI_Datatype create(const Leaf &node) {
        for (const Element &element : elements())
            if (element.type == node.type) return element.datatype;
        throw std::runtime_error("an element that MPI does not have");
    }
    MPI_Datatype create(const Contig &node) {
        return call(Mpi::contig, count(node.count), build(node.old));
    }
    MPI_Datatype create(const Dup &node) { return call(MPI_Type_dup, build(node.old)); }
    MPI_Datatype create(const Vector &node) {
        return call(Mpi::vector, count(node.count), count(node.blocklength), count(node.stride),
                    build(node.old));
    }
    MPI_Datatype create(const HVector &node) {
        return call(Mpi::hvector, count(node.count), count(node.blocklength), bytes(node.stride),
                    build(node.old));
    }
    MPI_Datatype create(const IndexedBlock &node) {
        return call(Mpi::indexed_block, length(node.displs), count(node.blocklength),
                    counts(node.displs).data(), build(node.old));
    }
    MPI_Datatype create(const HIndexedBlock &node) {
        return call(Mpi::hindexed_block, length(node.displs), count(node.blocklength),
                    all_bytes(node.displs).data(), build(node.old));
    }
    MPI_Datatype create(const IndexedBlockRef &) {
        throw std::runtime_error("MPI has no indices by reference");
    }
    MPI_Datatype create(const Indexed &node) {
        return call(Mpi::indexed, length(node.displs), counts(node.blocklengths).data(),
                    counts(node.displs).data(), build(node.old));
    }
    MPI_Datatype create(const HIndexed &node) {
        return call(Mpi::hindexed, length(node.displs), counts(node.blocklengths).data(),
                    all_bytes(node.displs).data(), build(node.old));
    }
    MPI_Datatype create(const Struct &node) {
        std::vector<MPI_Datatype> types;
        for (const RecipePtr &child : node.types) types.push_back(build(child));
        return call(Mpi::structure, length(node.displs), counts(node.blocklengths).data(),
                    all_bytes(node.displs).data(), types.data());
    }
    MPI_Datatype create(const Subarray &node) {
        return call(Mpi::subarray, narrow<int>(std::intptr_t(node.sizes.size())),
                    counts(node.sizes).data(), counts(node.subsizes).data(),
                    counts(node.starts).data(), mpi_order(node.order), build(node.old));
    }
    MPI_Datatype create(const Darray &node) {
        std::vector<int> distribs, dargs;
        for (const int distribution : node.distribs)
            distribs.push_back(distribution == UCD_DISTRIBUTE__BLOCK    ? MPI_DISTRIBUTE_BLOCK
                               : distribution == UCD_DISTRIBUTE__CYCLIC ? MPI_DISTRIBUTE_CYCLIC
                                                                        : MPI_DISTRIBUTE_NONE);
        for (const std::intptr_t darg : node.dargs)
            dargs.push_back(darg == UCD_DISTRIBUTE__DFLT_DARG ? MPI_DISTRIBUTE_DFLT_DARG
                                                              : narrow<int>(darg));
        return call(Mpi::darray, node.size, node.rank, narrow<int>(std::intptr_t(dargs.size())),
                    counts(node.gsizes).data(), distribs.data(), dargs.data(), node.psizes.data(),
                    mpi_order(node.order), build(node.old));
    }
    // As nested hvectors, which is what it is.
    MPI_Datatype create(const Ndarray &node) {
        MPI_Datatype type = call(MPI_Type_dup, build(node.old));
        for (std::size_t i = node.shape.size(); i-- > 0;) {
            MPI_Datatype inner = type;
            type = call(Mpi::hvector, count(node.shape[i]), count(1), bytes(node.byte_strides[i]),
                        inner);
            MPI_Type_free(&inner);
        }
        return type;
    }
    // What else MPI has no constructor for: copies of the old type where the oracle places them.
    template <class Node>
    MPI_Datatype create(const Node &node) {
        const MPI_Datatype old = build(node.old);
        const TypeMap &one = maps_.at(node.old.get());
        const TypeMap all = type_map(Recipe{node}, {&one});
        Ints displs;
        for (std::size_t i = 0; i < all.entries.size(); i += one.entries.size())
            displs.push_back(all.entries[i].displ - one.entries[0].displ);
        return call(Mpi::hindexed_block, length(displs), count(1), all_bytes(displs).data(), old);
    }
    MPI_Datatype create(const Resized &node) {
        return call(Mpi::resized, build(node.old), bytes(node.lb), bytes(node.extent));
    }

    std::unordered_map<const Recipe *, MPI_Datatype> built_;
    std::unordered_map<const Recipe *, TypeMap> maps_;
};

struct MpiSession {
    MpiSession() {
        int provided = 0;
        if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
            throw std::runtime_error("MPI_Init_thread");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    ~MpiSession() { MPI_Finalize(); }
};

} // namespace

void start_mpi() {
    static const MpiSession session;
}

bool has_empty_part(const Recipe &recipe) {
    const std::vector<RecipePtr> parts = children(recipe);
    return type_map(recipe).size == 0 ||
           std::ranges::any_of(parts, [](const RecipePtr &part) { return has_empty_part(*part); });
}

std::vector<ucd_type_t> elements_of_mpi() {
    std::vector<ucd_type_t> types;
    for (const Element &element : elements()) types.push_back(element.type);
    return types;
}

template <class Mpi>
void MpiType::build(const RecipePtr &recipe) {
    Builder<Mpi> builder;
    datatype_ = builder.build_root(recipe);
    map_ = builder.map_of(recipe);
}

MpiType::MpiType(const RecipePtr &recipe, bool large) {
    large ? build<Large>(recipe) : build<Small>(recipe);
}

MpiType::~MpiType() {
    if (datatype_ != MPI_DATATYPE_NULL && !is_predefined(datatype_)) MPI_Type_free(&datatype_);
}

} // namespace ucdtest
