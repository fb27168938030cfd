#include "types/predefined.h"

#include <unordered_map>

namespace ucd_mpi {
namespace {

long long size_of(MPI_Datatype datatype) {
    int size = 0;
    return PMPI_Type_size(datatype, &size) == MPI_SUCCESS ? size : -1;
}

// The MPI library was built without the type, or is another version than that of the header.
bool is_missing(MPI_Datatype datatype) {
    return datatype == MPI_DATATYPE_NULL || datatype == MPI_Datatype{};
}

class PredefinedTable {
public:
    PredefinedTable() {
        add_c();
        add_sized_c();
        add_cxx();
        add_fortran();
    }

    ucd_type_t find(MPI_Datatype datatype) const {
        const auto found = entries_.find(datatype);
        return found == entries_.end() ? UCD_TYPE__NULL : found->second;
    }

private:
    // Skips types that the MPI library was built without: their handles are null or have another
    // size.
    void add(MPI_Datatype datatype, ucd_type_t type) {
        if (is_missing(datatype) || type == UCD_TYPE__NULL) return;
        uintptr_t size = 0;
        if (ucd_get_size(type, &size) == UCD_SUCCESS &&
            static_cast<long long>(size) == size_of(datatype))
            entries_.try_emplace(datatype, type);
    }

    void add_integer(MPI_Datatype datatype) {
        if (!is_missing(datatype)) add(datatype, integer_of(size_of(datatype)));
    }
    void add_real(MPI_Datatype datatype) {
        if (!is_missing(datatype)) add(datatype, real_of(size_of(datatype)));
    }
    void add_complex(MPI_Datatype datatype) {
        if (!is_missing(datatype)) add(datatype, complex_of(size_of(datatype)));
    }

    void add_c() {
        add(MPI_CHAR, UCD_TYPE__CHAR);
        add(MPI_SIGNED_CHAR, UCD_TYPE__SIGNED_CHAR);
        add(MPI_UNSIGNED_CHAR, UCD_TYPE__UNSIGNED_CHAR);
        add(MPI_WCHAR, UCD_TYPE__WCHAR_T);
        add(MPI_BYTE, UCD_TYPE__BYTE);
        add(MPI_PACKED, UCD_TYPE__BYTE);
        add(MPI_SHORT, UCD_TYPE__SHORT);
        add(MPI_UNSIGNED_SHORT, UCD_TYPE__UNSIGNED_SHORT);
        add(MPI_INT, UCD_TYPE__INT);
        add(MPI_UNSIGNED, UCD_TYPE__UNSIGNED);
        add(MPI_LONG, UCD_TYPE__LONG);
        add(MPI_UNSIGNED_LONG, UCD_TYPE__UNSIGNED_LONG);
        add(MPI_LONG_LONG, UCD_TYPE__LONG_LONG);
        add(MPI_UNSIGNED_LONG_LONG, UCD_TYPE__UNSIGNED_LONG_LONG);
        add(MPI_FLOAT, UCD_TYPE__FLOAT);
        add(MPI_DOUBLE, UCD_TYPE__DOUBLE);
        add(MPI_LONG_DOUBLE, UCD_TYPE__LONG_DOUBLE);
        add(MPI_C_BOOL, UCD_TYPE___BOOL);
        add(MPI_C_FLOAT_COMPLEX, UCD_TYPE__C_COMPLEX);
        add(MPI_C_DOUBLE_COMPLEX, UCD_TYPE__C_DOUBLE_COMPLEX);
        add(MPI_C_LONG_DOUBLE_COMPLEX, UCD_TYPE__C_LONG_DOUBLE_COMPLEX);
        add(MPI_FLOAT_INT, UCD_TYPE__FLOAT_INT);
        add(MPI_DOUBLE_INT, UCD_TYPE__DOUBLE_INT);
        add(MPI_LONG_INT, UCD_TYPE__LONG_INT);
        add(MPI_2INT, UCD_TYPE__2INT);
        add(MPI_SHORT_INT, UCD_TYPE__SHORT_INT);
        add(MPI_LONG_DOUBLE_INT, UCD_TYPE__LONG_DOUBLE_INT);
    }

    void add_sized_c() {
        add(MPI_INT8_T, UCD_TYPE__INT8_T);
        add(MPI_INT16_T, UCD_TYPE__INT16_T);
        add(MPI_INT32_T, UCD_TYPE__INT32_T);
        add(MPI_INT64_T, UCD_TYPE__INT64_T);
        add(MPI_UINT8_T, UCD_TYPE__UINT8_T);
        add(MPI_UINT16_T, UCD_TYPE__UINT16_T);
        add(MPI_UINT32_T, UCD_TYPE__UINT32_T);
        add(MPI_UINT64_T, UCD_TYPE__UINT64_T);
        add(MPI_AINT, UCD_TYPE__INTPTR_T);
        add(MPI_OFFSET, UCD_TYPE__INT64_T);
        add(MPI_COUNT, UCD_TYPE__INT64_T);
    }

    void add_cxx() {
        add(MPI_CXX_BOOL, UCD_TYPE___BOOL);
        add(MPI_CXX_FLOAT_COMPLEX, UCD_TYPE__C_COMPLEX);
        add(MPI_CXX_DOUBLE_COMPLEX, UCD_TYPE__C_DOUBLE_COMPLEX);
        add(MPI_CXX_LONG_DOUBLE_COMPLEX, UCD_TYPE__C_LONG_DOUBLE_COMPLEX);
    }

    // A LOGICAL is treated as an integer of its size.
    void add_fortran() {
        for (const MPI_Datatype integer : {MPI_INTEGER, MPI_LOGICAL}) add_integer(integer);
        for (const MPI_Datatype real : {MPI_REAL, MPI_DOUBLE_PRECISION}) add_real(real);
        for (const MPI_Datatype complex : {MPI_COMPLEX, MPI_DOUBLE_COMPLEX}) add_complex(complex);
        add_fortran_by_size();
        add(MPI_CHARACTER, UCD_TYPE__CHAR);
        add(MPI_2INTEGER, UCD_TYPE__2INT);
        for (const MPI_Datatype pair : {MPI_2REAL, MPI_2DOUBLE_PRECISION}) {
            add(pair, UCD_TYPE__2FLOAT);
            add(pair, UCD_TYPE__2DOUBLE);
        }
    }

    // Open MPI declares only those that its Fortran compiler has, and none without one.
    void add_fortran_by_size() {
#ifdef MPI_INTEGER1
        add_integer(MPI_INTEGER1);
#endif
#ifdef MPI_INTEGER2
        add_integer(MPI_INTEGER2);
#endif
#ifdef MPI_INTEGER4
        add_integer(MPI_INTEGER4);
#endif
#ifdef MPI_INTEGER8
        add_integer(MPI_INTEGER8);
#endif
#ifdef MPI_REAL4
        add_real(MPI_REAL4);
#endif
#ifdef MPI_REAL8
        add_real(MPI_REAL8);
#endif
#ifdef MPI_COMPLEX8
        add_complex(MPI_COMPLEX8);
#endif
#ifdef MPI_COMPLEX16
        add_complex(MPI_COMPLEX16);
#endif
    }

    std::unordered_map<MPI_Datatype, ucd_type_t> entries_;
};

} // namespace

ucd_type_t integer_of(long long bytes) {
    return bytes == 1   ? UCD_TYPE__INT8_T
           : bytes == 2 ? UCD_TYPE__INT16_T
           : bytes == 4 ? UCD_TYPE__INT32_T
           : bytes == 8 ? UCD_TYPE__INT64_T
                        : UCD_TYPE__NULL;
}

ucd_type_t real_of(long long bytes) {
    return bytes == 2   ? UCD_TYPE__FLOAT16
           : bytes == 4 ? UCD_TYPE__FLOAT
           : bytes == 8 ? UCD_TYPE__DOUBLE
                        : UCD_TYPE__NULL;
}

ucd_type_t complex_of(long long bytes) {
    return bytes == 8    ? UCD_TYPE__C_COMPLEX
           : bytes == 16 ? UCD_TYPE__C_DOUBLE_COMPLEX
                         : UCD_TYPE__NULL;
}

ucd_type_t find_predefined(MPI_Datatype datatype) {
    static const PredefinedTable table;
    return table.find(datatype);
}

} // namespace ucd_mpi
