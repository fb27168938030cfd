#include "baselines/mpi/mpi_peer.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench {
namespace {

using MpiInts = std::vector<int>;

int narrow(std::intptr_t value) {
    if (!std::in_range<int>(value))
        throw std::runtime_error("MPI takes counts up to 2^31 - 1 only");
    return static_cast<int>(value);
}

MpiInts narrow(const Ints &values) {
    MpiInts all;
    all.reserve(values.size());
    for (const std::intptr_t v : values) all.push_back(narrow(v));
    return all;
}

// Errors of MPI calls abort with MPI's message, as its default error handler does.
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

MPI_Datatype build_type(const Recipe &recipe);

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
        const Datatype old_type(build_type(*old));
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
    const MpiInts displs = narrow(n.displs);
    return on(n.old, MPI_Type_create_indexed_block, static_cast<int>(displs.size()),
              narrow(n.blocklength), displs.data());
}
MPI_Datatype create(const Indexed &n) {
    const MpiInts lengths = narrow(n.blocklengths), displs = narrow(n.displs);
    return on(n.old, MPI_Type_indexed, static_cast<int>(displs.size()), lengths.data(),
              displs.data());
}
MPI_Datatype create(const Subarray &n) {
    const MpiInts sizes = narrow(n.sizes), subsizes = narrow(n.subsizes), starts = narrow(n.starts);
    return on(n.old, MPI_Type_create_subarray, static_cast<int>(sizes.size()), sizes.data(),
              subsizes.data(), starts.data(), MPI_ORDER_C);
}
MPI_Datatype create(const Struct &n) {
    std::vector<MPI_Datatype> types;
    for (const RecipePtr &member : n.types) types.push_back(build_type(*member));
    const std::vector<MPI_Aint> displs(n.displs.begin(), n.displs.end());
    const MpiInts lengths = narrow(n.blocklengths);
    MPI_Datatype type;
    MPI_Type_create_struct(static_cast<int>(types.size()), lengths.data(), displs.data(),
                           types.data(), &type);
    for (MPI_Datatype &member : types) MPI_Type_free(&member);
    return type;
}
MPI_Datatype create(const Resized &n) {
    const Datatype old(build_type(*n.old));
    MPI_Datatype type;
    MPI_Type_create_resized(old.get(), n.lb, n.extent, &type);
    return type;
}

MPI_Datatype build_type(const Recipe &recipe) {
    return std::visit([](const auto &node) { return create(node); }, recipe.node);
}

class CommittedType final : public MpiType {
public:
    explicit CommittedType(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type); }

    void pack(char *typed, char *packed, std::int64_t bytes) const override {
        int position = 0;
        MPI_Pack(typed, 1, type_.get(), packed, narrow(bytes), &position, MPI_COMM_SELF);
    }
    void unpack(char *typed, char *packed, std::int64_t bytes) const override {
        int position = 0;
        MPI_Unpack(packed, narrow(bytes), &position, typed, 1, type_.get(), MPI_COMM_SELF);
    }

private:
    Datatype type_;
};

class RunningMpi final : public MpiPeer {
public:
    RunningMpi() {
        // Open MPI: one process needs no daemon beside it, which would disturb the measurements,
        // and containers run as root.
        setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
        MPI_Init(nullptr, nullptr);
        char text[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        MPI_Get_library_version(text, &length);
        version_.assign(text, static_cast<std::size_t>(length));
        // What follows the first comma or line is about how it was packaged.
        version_.erase(std::min(version_.find_first_of(",\n"), version_.size()));
    }
    ~RunningMpi() override { MPI_Finalize(); }

    const std::string &version() const override { return version_; }

    std::unique_ptr<MpiType> build(const Recipe &recipe) const override {
        return std::make_unique<CommittedType>(build_type(recipe));
    }

    void create_vector(int count, int blocklength, int stride) const override {
        MPI_Datatype type;
        MPI_Type_vector(count, blocklength, stride, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&type);
    }
    void create_indexed(const MpiInts &blocklengths, const MpiInts &displs) const override {
        MPI_Datatype type;
        MPI_Type_indexed(static_cast<int>(displs.size()), blocklengths.data(), displs.data(),
                         MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&type);
    }

private:
    std::string version_;
};

} // namespace

std::unique_ptr<MpiPeer> start_mpi() {
    return std::make_unique<RunningMpi>();
}

} // namespace bench
