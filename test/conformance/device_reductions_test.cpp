// Reductions by whatever backend the program is linked with: every op on every type that it takes,
// in layouts for each of its kernels, between every two memories.
#include "support/catch.hpp"

#include "support/moves/move_now.hpp"
#include "support/moves/strided_move.hpp"
#include "support/oracle/small_float.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace device_reductions_test {

using namespace ucdtest;
using namespace ucdtest::recipes;
using enum ucdtest::Memory;

namespace {

std::vector<ucd_type_t> types_on_device(ucd_op_t op) {
    return device_options(op).elements;
}

std::vector<ucd_op_t> ops_on_device() {
    std::vector<ucd_op_t> ops;
    for (const OpName &op : all_ops())
        if (op.op != UCD_OP__REPLACE && !types_on_device(op.op).empty()) ops.push_back(op.op);
    return ops;
}

// A layout of one element in each form that kernels tell apart.
RecipePtr layout_of(Rng &rng, const RecipePtr &element) {
    const auto n = static_cast<std::intptr_t>(1 + rng.below(90));
    const auto some = [&](std::intptr_t most) {
        return 1 + static_cast<std::intptr_t>(rng.below(static_cast<std::size_t>(most)));
    };
    switch (rng.below(9)) {
    case 0: return contig(n, element);
    case 1: return vector(n, 1, 1 + some(3), element); // steps
    case 2: return vector(n, some(5), 6 + some(3), element);
    case 3: return vector(n, 16, 32, element); // whole vectors in blocks
    case 4: return hvector(n, 1, 67, element); // at odd addresses
    case 5: return indexed_block(some(3), {9, 0, 17, 4, 30}, element);
    case 6:
        return contig(some(4),
                      resized(indexed({3, 1, 0, 16, 5}, {0, 7, 20, 30, 50}, element), 0, 2048));
    case 7:
        return hvector(some(3), 1, 2048, hvector(some(4), 1, 512, vector(some(8), 1, -2, element)));
    default: { // too deep for a nest, with holes on each level
        RecipePtr nest = element;
        std::intptr_t stride = 48;
        for (int i = 0; i < 5; ++i, stride = stride * 2 + 16) nest = hvector(2, 1, stride, nest);
        return nest;
    }
    }
}

void check_ranges(Case &one, ucd_op_t op, const ReducedSubject &what, Memory a, Memory b) {
    Rng &rng = one.rng();
    DeviceBuffer typed(rng, what.subject.range, a);
    DeviceBuffer packed(rng, {0, static_cast<std::intptr_t>(what.subject.size())}, b);
    const std::size_t elements = what.elements.size();
    for (int i = 0; i < 3; ++i) {
        const std::size_t first = i == 0 ? 0 : rng.below(elements);
        const std::size_t last = i == 0 ? elements : first + 1 + rng.below(elements - first);
        const std::size_t offset = what.offset_of(first);
        const DeviceMove move{one, op, what, typed, packed, offset, what.offset_of(last) - offset};
        check_device_pack(move);
        check_device_unpack(move);
    }
}

} // namespace

TEST_CASE("every op on every type that a device takes, in every form of layout", "[bulk]") {
    DeviceSession session;
    for (const ucd_op_t op : ops_on_device()) {
        const std::vector<ucd_type_t> types = types_on_device(op);
        const std::string name = std::string("device reduce ") + op_name(op);
        run_cases(name.c_str(), 30 * types.size(), [&](Case &one) {
            Rng &rng = one.rng();
            const RecipePtr element = leaf(types[one.number() % types.size()]);
            const ReducedSubject what =
                with_elements(make_subject(one, layout_of(rng, element), 1 + rng.below(3)));
            if (overlaps(what.subject.bytes)) return;
            const Memory a = rng.chance(60) ? device0 : random_memory(rng);
            const Memory b = rng.chance(60) ? device0 : random_memory(rng);
            check_ranges(one, op, what, a, b);
        });
    }
}

TEST_CASE("structs of different types, reduced by a device", "[bulk]") {
    DeviceSession session;
    for (const ucd_op_t op : ops_on_device()) {
        const std::vector<ucd_type_t> types = types_on_device(op);
        const std::string name = std::string("device structs ") + op_name(op);
        run_cases(name.c_str(), 40, [&](Case &one) {
            Rng &rng = one.rng();
            Ints lengths, displs;
            std::vector<RecipePtr> fields;
            std::intptr_t cursor = 0;
            for (std::size_t i = 0, n = 1 + rng.below(5); i < n; ++i) {
                const auto length = static_cast<std::intptr_t>(1 + rng.below(5));
                lengths.push_back(length);
                displs.push_back(cursor);
                fields.push_back(leaf(rng.pick(types)));
                cursor += length * 16 + rng.between(0, 5);
            }
            const RecipePtr record = resized(structure(lengths, displs, fields), 0, cursor);
            const RecipePtr recipe = rng.chance(50) ? record : vector(7, 2, 3, record);
            const ReducedSubject what = with_elements(make_subject(one, recipe, 1 + rng.below(40)));
            check_ranges(one, op, what, rng.chance(60) ? device0 : random_memory(rng),
                         rng.chance(60) ? device0 : random_memory(rng));
        });
    }
}

// Special values --------------------------------------------------------------

namespace {

template <class T>
std::vector<T> special_values() {
    if constexpr (sizeof(T) == 1) {
        std::vector<T> values;
        for (unsigned bits = 0; bits < 0x100; ++bits)
            values.push_back({static_cast<std::uint8_t>(bits)});
        return values;
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
        std::vector<T> values;
        for (unsigned bits = 0; bits < 0x10000; bits += 127)
            values.push_back({static_cast<std::uint16_t>(bits)});
        const unsigned infinity = std::is_same_v<T, Half> ? 0x7c00 : 0x7f80;
        for (const unsigned bits : {0u, 1u, infinity - 1, infinity, infinity + 1, 0x7fffu})
            for (const unsigned sign : {0u, 0x8000u})
                values.push_back({static_cast<std::uint16_t>(bits | sign)});
        return values;
    } else {
        using Limits = std::numeric_limits<T>;
        std::vector<T> values;
        for (const T v : {T{0}, T{1}, T{3}, Limits::min(), Limits::denorm_min(), Limits::max(),
                          Limits::epsilon(), 1 + Limits::epsilon(), T{1} / 3, Limits::infinity()})
            for (const T signed_value : {v, -v}) values.push_back(signed_value);
        values.push_back(Limits::quiet_NaN());
        return values;
    }
}

template <class T>
bool is_nan(const T &value) {
    if constexpr (std::is_same_v<T, Half>)
        return (value.bits & 0x7fff) > 0x7c00;
    else if constexpr (std::is_same_v<T, BFloat>)
        return (value.bits & 0x7fff) > 0x7f80;
    else if constexpr (sizeof(T) == 1)
        return std::isnan(to_float(value));
    else
        return value != value;
}

// Every value with every other one, on the device and on the host: the same bits, or a NaN on both.
template <class T>
void check_special_values(ucd_op_t op, ucd_type_t type) {
    const std::vector<T> values = special_values<T>();
    std::vector<T> in, out;
    for (const T &a : values)
        for (const T &b : values) {
            in.push_back(a);
            out.push_back(b);
        }
    const std::size_t bytes = in.size() * sizeof(T);
    std::vector<T> on_host = out, on_device = out;
    pack_now(in.data(), in.size(), type, 0, on_host.data(), bytes, UCD_INFO__NULL, op);
    // Aligned, and not.
    for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
        auto *const source =
            static_cast<std::byte *>(mock::allocate(ucd::MemoryKind::device, 0, bytes + shift));
        auto *const target =
            static_cast<std::byte *>(mock::allocate(ucd::MemoryKind::device, 0, bytes + shift));
        mock::write(source + shift, in.data(), bytes);
        mock::write(target + shift, out.data(), bytes);
        pack_now(source + shift, in.size(), type, 0, target + shift, bytes, UCD_INFO__NULL, op);
        mock::read(on_device.data(), target + shift, bytes);
        mock::release(source);
        mock::release(target);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < in.size(); ++i)
            wrong += !(is_nan(on_host[i]) && is_nan(on_device[i])) &&
                     std::memcmp(&on_host[i], &on_device[i], sizeof(T)) != 0;
        CHECK(wrong == 0);
    }
}

} // namespace

TEST_CASE("zeros, infinities, NaNs and subnormal numbers on the device are those of the host",
          "[bulk]") {
    DeviceSession session;
    for (const ucd_op_t op : {UCD_OP__MAX, UCD_OP__MIN, UCD_OP__SUM, UCD_OP__PROD}) {
        INFO(op_name(op));
        const std::vector<ucd_type_t> types = types_on_device(op);
        const auto taken = [&](ucd_type_t type) {
            return std::find(types.begin(), types.end(), type) != types.end();
        };
        if (taken(UCD_TYPE__FLOAT)) check_special_values<float>(op, UCD_TYPE__FLOAT);
        if (taken(UCD_TYPE__DOUBLE)) check_special_values<double>(op, UCD_TYPE__DOUBLE);
        if (taken(UCD_TYPE__FLOAT16)) check_special_values<Half>(op, UCD_TYPE__FLOAT16);
        if (taken(UCD_TYPE__BFLOAT16)) check_special_values<BFloat>(op, UCD_TYPE__BFLOAT16);
        if (taken(UCD_TYPE__FLOAT8_E4M3)) check_special_values<E4M3>(op, UCD_TYPE__FLOAT8_E4M3);
        if (taken(UCD_TYPE__FLOAT8_E5M2)) check_special_values<E5M2>(op, UCD_TYPE__FLOAT8_E5M2);
    }
}

TEST_CASE("reductions far into streams of more than 2^32 elements") {
    DeviceSession session;
    constexpr std::uintptr_t many = std::uintptr_t{1} << 33, taken = 20;
    for (const ucd_type_t element : {UCD_TYPE__INT, UCD_TYPE__2INT}) {
        const ucd_op_t op = element == UCD_TYPE__INT ? UCD_OP__SUM : UCD_OP__MAXLOC;
        const std::vector<ucd_type_t> types = types_on_device(op);
        if (std::find(types.begin(), types.end(), element) == types.end()) continue;
        // The same element again and again, and the next one as often.
        const BuiltType type(hvector(static_cast<std::intptr_t>(many), 1, 0, leaf(element)));
        const bool pair = element == UCD_TYPE__2INT;
        const std::size_t ints = pair ? 2 : 1, size = 4 * ints;
        const std::vector<std::int32_t> in = {5, pair ? 0 : 7, 7, 0};
        std::vector<std::int32_t> out(taken * ints), found(taken * ints);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::int32_t>(i % 3);
        auto *const source = mock::allocate(ucd::MemoryKind::device, 0, 16);
        auto *const target = mock::allocate(ucd::MemoryKind::device, 0, taken * size);
        mock::write(source, in.data(), 16);
        // Within one element's repetitions; from the first one's to the next one's.
        for (const std::uintptr_t first : {many / 2 + 3, many - taken / 2}) {
            std::vector<std::int32_t> expected = out;
            for (std::size_t i = 0; i < taken; ++i) {
                const std::int32_t value = first + i < many ? 5 : 7;
                if (!pair) {
                    expected[i] += value;
                } else if (expected[2 * i] < value) {
                    expected[2 * i] = value;
                    expected[2 * i + 1] = 0;
                }
            }
            mock::write(target, out.data(), taken * size);
            CHECK(pack_now(source, first + taken > many ? 2 : 1, type.get(), first * size, target,
                           taken * size, UCD_INFO__NULL, op) == taken * size);
            mock::read(found.data(), target, taken * size);
            CHECK(found == expected);
        }
        mock::release(source);
        mock::release(target);
    }
}

} // namespace device_reductions_test
