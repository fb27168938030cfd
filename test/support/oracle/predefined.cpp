#include "support/oracle/predefined.hpp"

#include <cfloat>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace ucdtest {
namespace {

// x87: 10 bytes of value in the 12 or 16 that the type occupies.
constexpr std::size_t long_double_value_bytes = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double);
constexpr std::size_t long_double_spare_bytes = sizeof(long double) - long_double_value_bytes;

template <class T>
void describe_representation(Predefined &entry, T *) {
    entry.extent = entry.size = sizeof(T);
    entry.align = alignof(T);
    entry.pieces[0] = {0, sizeof(T)};
    entry.piece_count = 1;
    if constexpr (std::is_same_v<T, long double>) {
        entry.spare[0] = {static_cast<std::intptr_t>(long_double_value_bytes),
                          long_double_spare_bytes};
        entry.spare_count = long_double_spare_bytes != 0;
    }
    if constexpr (std::is_same_v<T, Complex<long double>>) {
        for (std::size_t part = 0; part < 2; ++part) {
            const auto offset = part * sizeof(long double) + long_double_value_bytes;
            entry.spare[part] = {static_cast<std::intptr_t>(offset), long_double_spare_bytes};
        }
        entry.spare_count = long_double_spare_bytes != 0 ? 2 : 0;
    }
}

template <class V, class I>
void describe_representation(Predefined &entry, Pair<V, I> *) {
    using Struct = Pair<V, I>;
    entry.extent = sizeof(Struct);
    entry.align = alignof(Struct);
    entry.size = sizeof(V) + sizeof(I);
    entry.pieces[0] = {0, sizeof(V)};
    entry.pieces[1] = {static_cast<std::intptr_t>(offsetof(Struct, index)), sizeof(I)};
    entry.piece_count = 2;
    if constexpr (std::is_same_v<V, long double>) {
        entry.spare[0] = {static_cast<std::intptr_t>(long_double_value_bytes),
                          long_double_spare_bytes};
        entry.spare_count = long_double_spare_bytes != 0;
    }
}

std::vector<Predefined> make_table() {
    std::vector<Predefined> table;
    Predefined entry;
#define UCD_TEST_ADD(NAME, CLASS, REPRESENTATION)                                                  \
    entry = Predefined{};                                                                          \
    entry.handle = UCD_TYPE__##NAME;                                                               \
    entry.name = #NAME;                                                                            \
    entry.type_class = TypeClass::CLASS;                                                           \
    describe_representation(entry, static_cast<REPRESENTATION *>(nullptr));                        \
    table.push_back(entry);
    UCD_TEST_PREDEFINED(UCD_TEST_ADD)
#undef UCD_TEST_ADD
    return table;
}

const std::vector<Predefined> &table() {
    static const std::vector<Predefined> entries = make_table();
    return entries;
}

// The handles are 1, 2, 3, … in the table's order (the oracle's own test checks that).
std::size_t index_of(ucd_type_t handle) {
    return reinterpret_cast<std::uintptr_t>(handle) - 1;
}

} // namespace

std::span<const Predefined> all_predefined() {
    return table();
}

bool is_predefined(ucd_type_t handle) {
    return index_of(handle) < table().size();
}

const Predefined &predefined(ucd_type_t handle) {
    if (!is_predefined(handle)) throw std::logic_error("not a predefined type");
    return table()[index_of(handle)];
}

} // namespace ucdtest
