#include "preload/packed_signature.h"

#include "preload/repetition.h"
#include "preload/tuning.h"

#include <climits>

namespace ucd_mpi {
namespace {

// A predefined type whose items have no gaps.
bool has_no_gaps(MPI_Datatype datatype, MPI_Count bytes) {
    MPI_Count size = 0, lb = 0, extent = 0;
    return PMPI_Type_size_x(datatype, &size) == MPI_SUCCESS &&
           PMPI_Type_get_extent_x(datatype, &lb, &extent) == MPI_SUCCESS && size == bytes &&
           extent == bytes && size > 0;
}

// The MPI type of an element; null if several MPI types have this element.
MPI_Datatype leaf_of(const std::vector<PredefinedPart> &leaves, ucd_type_t element) {
    MPI_Datatype found = MPI_DATATYPE_NULL;
    for (const PredefinedPart &leaf : leaves) {
        if (leaf.element != element) continue;
        if (found != MPI_DATATYPE_NULL) return MPI_DATATYPE_NULL;
        found = leaf.datatype;
    }
    return found;
}

// The members of a struct without gaps.
struct Members {
    std::vector<int> blocklengths;
    std::vector<MPI_Aint> displs;
    std::vector<MPI_Datatype> types;
    MPI_Aint bytes = 0;

    bool add(const ucd_element_run_t &run, const std::vector<PredefinedPart> &leaves) {
        const MPI_Datatype type = leaf_of(leaves, run.element);
        // A pair type whose members differ has padding, which the packed stream lacks.
        if (type == MPI_DATATYPE_NULL || run.elements > INT_MAX ||
            !has_no_gaps(type, static_cast<MPI_Count>(run.element_bytes)))
            return false;
        blocklengths.push_back(static_cast<int>(run.elements));
        displs.push_back(bytes);
        types.push_back(type);
        bytes += static_cast<MPI_Aint>(run.elements * run.element_bytes);
        return true;
    }

    // MPI_DATATYPE_NULL if MPI would pack the struct member by member.
    MPI_Datatype build() const {
        MPI_Datatype members = MPI_DATATYPE_NULL, packed = MPI_DATATYPE_NULL;
        if (PMPI_Type_create_struct(static_cast<int>(types.size()), blocklengths.data(),
                                    displs.data(), types.data(), &members) != MPI_SUCCESS)
            return MPI_DATATYPE_NULL;
        MPI_Count lb = 0, extent = 0;
        PMPI_Type_get_extent_x(members, &lb, &extent);
        if ((extent == bytes || resized_is_contiguous) &&
            PMPI_Type_create_resized(members, 0, bytes, &packed) == MPI_SUCCESS)
            PMPI_Type_commit(&packed);
        PMPI_Type_free(&members);
        return packed;
    }
};

// The runs of one item are `repetition.times` periods. Several periods make one struct where one
// does not end at a multiple of its alignment.
PackedSignature mixed_signature(const Repetition &repetition,
                                const std::vector<PredefinedPart> &leaves) {
    constexpr std::uintptr_t max_together =
        8; // as the largest alignment of elements but long double
    Members members;
    for (std::uintptr_t together = 1; together <= max_together; together *= 2) {
        if (repetition.times % together != 0) break;
        while (members.types.size() < together * repetition.runs.size())
            if (!members.add(repetition.runs[members.types.size() % repetition.runs.size()],
                             leaves))
                return {};
        const MPI_Datatype packed = members.build();
        if (packed != MPI_DATATYPE_NULL)
            return {packed, static_cast<MPI_Count>(repetition.times / together), true};
    }
    return {};
}

} // namespace

PackedSignature signature_of(const Converted &converted, std::uintptr_t bytes) {
    const PackedSignature as_bytes = {MPI_BYTE, static_cast<MPI_Count>(bytes), false, false};
    if (converted.leaves.size() == 1) {
        const MPI_Datatype element = converted.leaves.front().datatype;
        MPI_Count size = 0;
        PMPI_Type_size_x(element, &size);
        if (!has_no_gaps(element, size)) return as_bytes;
        return {element, static_cast<MPI_Count>(bytes) / size, false};
    }
    Repetition repetition;
    if (!find_repetition(converted.type.get(), repetition)) return as_bytes;
    const PackedSignature mixed = mixed_signature(repetition, converted.leaves);
    return mixed.datatype != MPI_DATATYPE_NULL ? mixed : as_bytes;
}

} // namespace ucd_mpi
