#include "preload/description.h"

#include "types/contents.h"
#include "types/predefined.h"

#include <algorithm>
#include <cstring>

namespace ucd_mpi {
namespace {

constexpr std::size_t max_numbers = 6, max_leaves = 3;

std::string name_of(MPI_Datatype datatype) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    if (PMPI_Type_get_name(datatype, name, &length) != MPI_SUCCESS) return "";
    // Open MPI names duplicates "Dup " itself, and implements resized types as duplicates.
    return std::strcmp(name, "Dup ") != 0 ? name : "";
}

const char *name_of_combiner(int combiner) {
    switch (combiner) {
    case MPI_COMBINER_CONTIGUOUS: return "contiguous";
    case MPI_COMBINER_VECTOR: return "vector";
    case MPI_COMBINER_HVECTOR: return "hvector";
    case MPI_COMBINER_INDEXED: return "indexed";
    case MPI_COMBINER_HINDEXED: return "hindexed";
    case MPI_COMBINER_INDEXED_BLOCK: return "indexed_block";
    case MPI_COMBINER_HINDEXED_BLOCK: return "hindexed_block";
    case MPI_COMBINER_STRUCT: return "struct";
    case MPI_COMBINER_SUBARRAY: return "subarray";
    case MPI_COMBINER_DARRAY: return "darray";
    case MPI_COMBINER_RESIZED: return "resized";
    case MPI_COMBINER_DUP: return "dup";
    default: return "type";
    }
}

// The caller owns the handles of children, unless they are predefined types.
void free_children(const Contents &contents) {
    for (MPI_Datatype child : contents.types) {
        int combiner = MPI_COMBINER_NAMED;
        if (find_predefined(child) == UCD_TYPE__NULL &&
            read_combiner(child, combiner) == UCD_SUCCESS && !is_predefined(combiner))
            PMPI_Type_free(&child);
    }
}

std::string made_by(MPI_Datatype datatype) {
    Contents contents;
    if (read_contents(datatype, contents) != UCD_SUCCESS) return "type";
    std::string text = name_of_combiner(contents.combiner);
    text += "(";
    const std::size_t numbers = contents.numbers.size();
    for (std::size_t i = 0; i < std::min(numbers, max_numbers); ++i)
        text += (i > 0 ? ", " : "") + std::to_string(contents.numbers[i]);
    text += numbers > max_numbers ? ", ...)" : ")";
    free_children(contents);
    return text;
}

} // namespace

std::string describe(MPI_Datatype datatype, const Converted &converted) {
    std::string text = name_of(datatype);
    if (!text.empty()) return text;
    text = made_by(datatype) + " of ";
    const std::size_t leaves = converted.leaves.size();
    for (std::size_t i = 0; i < std::min(leaves, max_leaves); ++i)
        text += (i > 0 ? " and " : "") + name_of(converted.leaves[i].datatype);
    if (leaves > max_leaves) text += " and others";
    std::uintptr_t size = 0;
    ucd_get_size(converted.type, &size);
    return text + ", " + std::to_string(size) + " bytes";
}

} // namespace ucd_mpi
