// Builds recipes through MPI's constructors.
#pragma once

#include "support/oracle/recipe.hpp"
#include "support/oracle/type_map.hpp"

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <utility>
#include <vector>

// What follows MPICH's faults. The header of MPI 5's ABI does not say whose library it is; it is
// tested with MPICH's.
#if defined(MPICH_VERSION) || defined(MPI_ABI_VERSION)
#define MPI_IS_MPICH
#endif

namespace ucdtest {

// Initialises MPI at its first call, and finalises it when the program ends. Errors are returned.
void start_mpi();

// The predefined UCD types that a leaf may be.
std::vector<ucd_type_t> elements_of_mpi();

// Whether a part of the type has no data. MPICH 4.0 divides by zero when it packs such types, or
// not, as fresh memory of the heap has it.
bool has_empty_part(const Recipe &recipe);

// A committed datatype; freed at the end, predefined or not.
class MpiType {
public:
    MpiType() = default;
    // `large`: by the constructors with MPI_Count, if MPI has them. Throws std::runtime_error if
    // MPI refuses: it forbids some sizes of 0 that ucd.h allows.
    MpiType(const RecipePtr &recipe, bool large);
    explicit MpiType(MPI_Datatype datatype) : datatype_(datatype) {}
    MpiType(MpiType &&other) noexcept
        : datatype_(std::exchange(other.datatype_, MPI_DATATYPE_NULL)),
          map_(std::move(other.map_)) {}
    MpiType &operator=(MpiType &&other) noexcept {
        std::swap(datatype_, other.datatype_);
        std::swap(map_, other.map_);
        return *this;
    }
    ~MpiType();

    MPI_Datatype get() const { return datatype_; }
    // The oracle's type map, with the bounds that MPI gives each type inside.
    const TypeMap &map() const { return map_; }

private:
    template <class Mpi>
    void build(const RecipePtr &recipe);

    MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
    TypeMap map_;
};

} // namespace ucdtest
