#include "support/oracle/reduction_oracle.hpp"

#include "support/oracle/representation.hpp"
#include "support/oracle/small_float.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace ucdtest {
namespace {

constexpr OpName op_names[] = {
    {UCD_OP__REPLACE, "REPLACE"}, {UCD_OP__MAX, "MAX"},   {UCD_OP__MIN, "MIN"},
    {UCD_OP__SUM, "SUM"},         {UCD_OP__PROD, "PROD"}, {UCD_OP__LAND, "LAND"},
    {UCD_OP__LOR, "LOR"},         {UCD_OP__LXOR, "LXOR"}, {UCD_OP__BAND, "BAND"},
    {UCD_OP__BOR, "BOR"},         {UCD_OP__BXOR, "BXOR"}, {UCD_OP__MAXLOC, "MAXLOC"},
    {UCD_OP__MINLOC, "MINLOC"},
};

bool is_arithmetic(ucd_op_t op) {
    return op == UCD_OP__MAX || op == UCD_OP__MIN || op == UCD_OP__SUM || op == UCD_OP__PROD;
}
bool is_logical(ucd_op_t op) {
    return op == UCD_OP__LAND || op == UCD_OP__LOR || op == UCD_OP__LXOR;
}
bool is_bitwise(ucd_op_t op) {
    return op == UCD_OP__BAND || op == UCD_OP__BOR || op == UCD_OP__BXOR;
}
bool is_location(ucd_op_t op) {
    return op == UCD_OP__MAXLOC || op == UCD_OP__MINLOC;
}

[[noreturn]] void undefined_pair() {
    throw std::logic_error("reduction of an unsupported pair");
}

bool logical(ucd_op_t op, bool out, bool in) {
    if (op == UCD_OP__LAND) return out && in;
    if (op == UCD_OP__LOR) return out || in;
    if (op == UCD_OP__LXOR) return out != in;
    undefined_pair();
}

template <class T>
T combine_integers(ucd_op_t op, T out, T in) {
    if (is_logical(op)) return static_cast<T>(logical(op, out != 0, in != 0));
    if (op == UCD_OP__MAX) return std::max(out, in);
    if (op == UCD_OP__MIN) return std::min(out, in);
    // Unsigned arithmetic at the greatest width wraps; cutting it down is modulo 2^N again.
    const auto a = static_cast<std::uintmax_t>(out), b = static_cast<std::uintmax_t>(in);
    if (op == UCD_OP__SUM) return static_cast<T>(a + b);
    if (op == UCD_OP__PROD) return static_cast<T>(a * b);
    if (op == UCD_OP__BAND) return static_cast<T>(a & b);
    if (op == UCD_OP__BOR) return static_cast<T>(a | b);
    if (op == UCD_OP__BXOR) return static_cast<T>(a ^ b);
    undefined_pair();
}

template <class T>
T combine_floats(ucd_op_t op, T out, T in) {
    if (op == UCD_OP__MAX) return in > out ? in : out;
    if (op == UCD_OP__MIN) return in < out ? in : out;
    if (op == UCD_OP__SUM) return out + in;
    if (op == UCD_OP__PROD) return out * in;
    undefined_pair();
}
Half combine_floats(ucd_op_t op, Half out, Half in) {
    return half_from(combine_floats(op, to_float(out), to_float(in)));
}
BFloat combine_floats(ucd_op_t op, BFloat out, BFloat in) {
    return bfloat_from(combine_floats(op, to_float(out), to_float(in)));
}
E4M3 combine_floats(ucd_op_t op, E4M3 out, E4M3 in) {
    return e4m3_from(combine_floats(op, to_float(out), to_float(in)));
}
E5M2 combine_floats(ucd_op_t op, E5M2 out, E5M2 in) {
    return e5m2_from(combine_floats(op, to_float(out), to_float(in)));
}

template <class T>
Complex<T> combine_complex(ucd_op_t op, Complex<T> out, Complex<T> in) {
    if (op == UCD_OP__SUM) return {out.re + in.re, out.im + in.im};
    if (op == UCD_OP__PROD) {
        return {out.re * in.re - out.im * in.im, out.re * in.im + out.im * in.re};
    }
    undefined_pair();
}

template <class V, class I>
Pair<V, I> combine_pairs(ucd_op_t op, Pair<V, I> out, Pair<V, I> in) {
    if (out.value == in.value) return {out.value, std::min(out.index, in.index)};
    if (op == UCD_OP__MAXLOC) return out.value > in.value ? out : in;
    if (op == UCD_OP__MINLOC) return out.value < in.value ? out : in;
    undefined_pair();
}

template <TypeClass type_class, class T>
T combine(ucd_op_t op, T out, T in) {
    if constexpr (type_class == TypeClass::boolean) {
        return logical(op, out, in);
    } else if constexpr (type_class == TypeClass::byte || type_class == TypeClass::integer) {
        return combine_integers(op, out, in);
    } else if constexpr (type_class == TypeClass::floating) {
        return combine_floats(op, out, in);
    } else if constexpr (type_class == TypeClass::complex) {
        return combine_complex(op, out, in);
    } else if constexpr (type_class == TypeClass::pair) {
        return combine_pairs(op, out, in);
    } else {
        undefined_pair();
    }
}

// A pair is packed without the padding of its struct.
template <class T>
T load(const void *bytes) {
    T value;
    if constexpr (is_pair<T>) {
        std::memcpy(&value.value, bytes, sizeof value.value);
        std::memcpy(&value.index, static_cast<const std::byte *>(bytes) + sizeof value.value,
                    sizeof value.index);
    } else {
        std::memcpy(&value, bytes, sizeof value);
    }
    return value;
}

template <class T>
void store(void *bytes, const T &value) {
    if constexpr (is_pair<T>) {
        std::memcpy(bytes, &value.value, sizeof value.value);
        std::memcpy(static_cast<std::byte *>(bytes) + sizeof value.value, &value.index,
                    sizeof value.index);
    } else {
        std::memcpy(bytes, &value, sizeof value);
    }
}

} // namespace

std::span<const OpName> all_ops() {
    return op_names;
}

const char *op_name(ucd_op_t op) {
    return op_names[op].name;
}

bool is_supported(ucd_op_t op, const Predefined &type) {
    if (op == UCD_OP__REPLACE) return true;
    switch (type.type_class) {
    case TypeClass::boolean: return is_logical(op);
    case TypeClass::character: return false;
    case TypeClass::byte: return is_bitwise(op);
    case TypeClass::integer: return is_arithmetic(op) || is_logical(op) || is_bitwise(op);
    case TypeClass::floating: return is_arithmetic(op);
    case TypeClass::complex: return op == UCD_OP__SUM || op == UCD_OP__PROD;
    case TypeClass::pair: return is_location(op);
    }
    return false;
}

bool is_supported(ucd_op_t op, const TypeMap &map) {
    return std::all_of(map.entries.begin(), map.entries.end(),
                       [&](const Entry &entry) { return is_supported(op, *entry.type); });
}

std::vector<ucd_type_t> types_supporting(ucd_op_t op) {
    std::vector<ucd_type_t> types;
    for (const Predefined &type : all_predefined()) {
        if (is_supported(op, type)) types.push_back(type.handle);
    }
    return types;
}

void reduce_element(ucd_op_t op, const Predefined &type, void *out, const void *in) {
    if (op == UCD_OP__REPLACE) {
        std::memcpy(out, in, type.size);
        return;
    }
    with_representation(type, [&]<TypeClass type_class, class T>(
                                  std::integral_constant<TypeClass, type_class>, T *) {
        store(out, combine<type_class>(op, load<T>(out), load<T>(in)));
    });
}

void reduce_stream(ucd_op_t op, const std::vector<StreamElement> &elements, std::size_t first,
                   std::size_t last, std::byte *out, const std::byte *in) {
    for (std::size_t i = first; i < last; ++i) {
        const std::size_t at = elements[i].offset - elements[first].offset;
        reduce_element(op, *elements[i].type, out + at, in + at);
    }
}

} // namespace ucdtest
