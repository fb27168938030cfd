#include "shapes/mpi_datatypes.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace bench {

int narrow(std::intptr_t value) {
    if (!std::in_range<int>(value))
        throw std::runtime_error("MPI takes counts up to 2^31 - 1 only");
    return static_cast<int>(value);
}

namespace {

using MpiInts = std::vector<int>;

MpiInts narrow_all(const Ints &values) {
    MpiInts all;
    all.reserve(values.size());
    for (const std::intptr_t v : values) all.push_back(narrow(v));
    return all;
}

class Datatype {
public:
    explicit Datatype(MPI_Datatype type) : type_(type) {}
    ~Datatype() { MPI_Type_free(&type_); }
    Datatype(const Datatype &) = delete;
    Datatype &operator=(const Datatype &) = delete;
    MPI_Datatype get() const { return type_; }

private:
    MPI_Datatype type_;
};

MPI_Datatype predefined_type(Element element) {
    switch (element) {
    case Element::byte: return MPI_BYTE;
    case Element::int32: return MPI_INT32_T;
    case Element::float32: return MPI_FLOAT;
    case Element::float64: return MPI_DOUBLE;
    }
    throw std::logic_error("no such element");
}

MPI_Datatype create(const Predefined &n) {
    MPI_Datatype type;
    MPI_Type_dup(predefined_type(n.element), &type);
    return type;
}

// Calls a constructor whose last arguments are the old and the new type.
template <class Constructor, class... Arguments>
MPI_Datatype on(const RecipePtr &old, Constructor constructor, Arguments... arguments) {
    const auto *element = std::get_if<Predefined>(&old->node);
    MPI_Datatype type;
    if (element != nullptr) {
        constructor(arguments..., predefined_type(element->element), &type);
    } else {
        const Datatype old_type(build_datatype(*old));
        constructor(arguments..., old_type.get(), &type);
    }
    return type;
}

MPI_Datatype create(const Contig &n) {
    return on(n.old, MPI_Type_contiguous, narrow(n.count));
}
MPI_Datatype create(const Vector &n) {
    return on(n.old, MPI_Type_vector, narrow(n.count), narrow(n.blocklength), narrow(n.stride));
}
MPI_Datatype create(const HVector &n) {
    return on(n.old, MPI_Type_create_hvector, narrow(n.count), narrow(n.blocklength),
              MPI_Aint{n.stride});
}
MPI_Datatype create(const IndexedBlock &n) {
    const MpiInts displs = narrow_all(n.displs);
    return on(n.old, MPI_Type_create_indexed_block, static_cast<int>(displs.size()),
              narrow(n.blocklength), displs.data());
}
MPI_Datatype create(const Indexed &n) {
    const MpiInts lengths = narrow_all(n.blocklengths), displs = narrow_all(n.displs);
    return on(n.old, MPI_Type_indexed, static_cast<int>(displs.size()), lengths.data(),
              displs.data());
}
MPI_Datatype create(const Subarray &n) {
    const MpiInts sizes = narrow_all(n.sizes), subsizes = narrow_all(n.subsizes),
                  starts = narrow_all(n.starts);
    return on(n.old, MPI_Type_create_subarray, static_cast<int>(sizes.size()), sizes.data(),
              subsizes.data(), starts.data(), MPI_ORDER_C);
}
MPI_Datatype create(const Struct &n) {
    std::vector<MPI_Datatype> types;
    for (const RecipePtr &member : n.types) types.push_back(build_datatype(*member));
    const std::vector<MPI_Aint> displs(n.displs.begin(), n.displs.end());
    const MpiInts lengths = narrow_all(n.blocklengths);
    MPI_Datatype type;
    MPI_Type_create_struct(static_cast<int>(types.size()), lengths.data(), displs.data(),
                           types.data(), &type);
    for (MPI_Datatype &member : types) MPI_Type_free(&member);
    return type;
}
MPI_Datatype create(const Resized &n) {
    const Datatype old(build_datatype(*n.old));
    MPI_Datatype type;
    MPI_Type_create_resized(old.get(), n.lb, n.extent, &type);
    return type;
}

} // namespace

MPI_Datatype build_datatype(const Recipe &recipe) {
    return std::visit([](const auto &node) { return create(node); }, recipe.node);
}

} // namespace bench
