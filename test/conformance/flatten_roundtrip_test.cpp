// A type that travelled as bytes is the same type: sizes, bounds, stream, flattened form, and all
// of what is built on it.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/moving.hpp"
#include "support/oracle/reduction_oracle.hpp"

#include <cstring>

namespace flatten_roundtrip_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

std::vector<std::byte> flattened(const Case &one, ucd_type_t type) {
    std::uintptr_t size = 0;
    one.succeed(ucd_flatten_size(type, &size), "ucd_flatten_size");
    // The bytes behind the stated size are not the library's.
    std::vector<std::byte> bytes(size + 16, std::byte{0xa5});
    one.succeed(ucd_flatten(type, bytes.data(), bytes.size()), "ucd_flatten");
    for (std::size_t i = size; i < bytes.size(); ++i) {
        if (bytes[i] != std::byte{0xa5}) one.fail("ucd_flatten wrote behind its size");
    }
    bytes.resize(size);
    return bytes;
}

// From an odd address: the bytes need no alignment.
BuiltType unflattened(const Case &one, const std::vector<std::byte> &bytes) {
    std::vector<std::byte> shifted(bytes.size() + 1);
    if (!bytes.empty()) std::memcpy(shifted.data() + 1, bytes.data(), bytes.size());
    ucd_type_t type = UCD_TYPE__NULL;
    one.succeed(ucd_unflatten(&type, shifted.data() + 1, bytes.size()), "ucd_unflatten");
    if (type == UCD_TYPE__NULL || is_predefined(type)) one.fail("unflatten gave no new handle");
    return BuiltType(type);
}

struct Bounds {
    std::uintptr_t size = 0;
    std::intptr_t lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    friend bool operator==(const Bounds &, const Bounds &) = default;
};

Bounds bounds_of(const Case &one, ucd_type_t type) {
    Bounds bounds;
    one.succeed(ucd_get_size(type, &bounds.size), "ucd_get_size");
    one.succeed(ucd_get_extent(type, &bounds.lb, &bounds.extent), "ucd_get_extent");
    one.succeed(ucd_get_true_extent(type, &bounds.true_lb, &bounds.true_extent),
                "ucd_get_true_extent");
    return bounds;
}

Bounds bounds_of(const TypeMap &map) {
    return {map.size, map.lb, map.extent, map.true_lb, map.true_extent};
}

void require_same(const Case &one, const Bounds &found, const Bounds &expected, const char *what) {
    if (found == expected) return;
    one.fail(what, ": size ", found.size, ", lb ", found.lb, ", extent ", found.extent,
             ", true lb ", found.true_lb, ", true extent ", found.true_extent, "; expected size ",
             expected.size, ", lb ", expected.lb, ", extent ", expected.extent, ", true lb ",
             expected.true_lb, ", true extent ", expected.true_extent);
}

// The type built on a handle by a random constructor that shows whether bounds are explicit, how
// the type is aligned, and what its markers do.
BuiltType build_on(const Case &one, Rng &rng, ucd_type_t old, RecipePtr old_recipe,
                   RecipePtr &recipe) {
    ucd_type_t type = UCD_TYPE__NULL;
    const std::intptr_t lengths[] = {1, 2}, displs[] = {rng.between(-50, 50), rng.between(-50, 50)};
    const ucd_type_t types[] = {UCD_TYPE__CHAR, old};
    int rc = UCD_SUCCESS;
    switch (rng.below(4)) {
    case 0:
        recipe = contig(3, old_recipe);
        rc = ucd_create_contig(3, old, UCD_INFO__NULL, &type);
        break;
    case 1:
        recipe = vector(2, 2, -3, old_recipe);
        rc = ucd_create_vector(2, 2, -3, old, UCD_INFO__NULL, &type);
        break;
    case 2:
        recipe = hindexed({1, 2}, {displs[0], displs[1]}, old_recipe);
        rc = ucd_create_hindexed(2, lengths, displs, old, UCD_INFO__NULL, &type);
        break;
    default:
        recipe = structure({1, 2}, {displs[0], displs[1]}, {leaf(UCD_TYPE__CHAR), old_recipe});
        rc = ucd_create_struct(2, lengths, displs, types, UCD_INFO__NULL, &type);
        break;
    }
    one.succeed(rc, "building on the unflattened type");
    return BuiltType(type);
}

void check_same_ops(const Case &one, const Subject &subject, ucd_type_t type) {
    for (const OpName &op : all_ops()) {
        int supported = -1;
        one.succeed(ucd_op_is_supported(op.op, type, "seq", &supported), "ucd_op_is_supported");
        if (supported != (is_supported(op.op, *subject.map) ? 1 : 0)) {
            one.fail(op.name, " of the unflattened type: supported is ", supported);
        }
    }
}

void check_moves(Case &one, const Subject &subject, ucd_type_t type) {
    Rng &rng = one.rng();
    GuardedBuffer memory(rng, subject.range);
    GuardedBuffer packed = packed_buffer(rng, subject.size());
    MemoryLocation where = place(subject, memory);
    where.type = type;
    const std::size_t offset = rng.below(subject.size() + 1);
    check_pack(one, where, 0, subject.size(), packed);
    packed.randomise(rng);
    check_pack(one, where, offset, subject.size() - offset, packed);
    packed.randomise(rng);
    check_unpack(one, packed, subject.size(), where, 0);
}

} // namespace

TEST_CASE("flatten and unflatten random types") {
    run_cases("flatten", 20000, [](Case &one) {
        const Subject subject = random_subject(one);
        const std::vector<std::byte> bytes = flattened(one, subject.type());
        if (flattened(one, subject.type()) != bytes) one.fail("flattening is not deterministic");
        BuiltType copy = unflattened(one, bytes);
        if (flattened(one, copy.get()) != bytes) one.fail("the copy flattens to other bytes");
        require_same(one, bounds_of(one, copy.get()), bounds_of(*subject.map), "the copy");
        check_same_ops(one, subject, copy.get());
        check_moves(one, subject, copy.get());

        RecipePtr recipe;
        const BuiltType on_top = build_on(one, one.rng(), copy.get(), subject.recipe, recipe);
        copy = BuiltType(); // what is built on it keeps what it needs
        const Subject larger = make_subject(one, recipe, 1, "built on the copy");
        require_same(one, bounds_of(one, on_top.get()), bounds_of(*larger.map),
                     "built on the copy");
        check_moves(one, larger, on_top.get());
    });
}

TEST_CASE("flatten and unflatten every predefined type") {
    for (const Predefined &type : all_predefined()) {
        Case one("flatten predefined", 0);
        const Subject subject = make_subject(one, leaf(type.handle), 3);
        const std::vector<std::byte> bytes = flattened(one, type.handle);
        const BuiltType copy = unflattened(one, bytes);
        require_same(one, bounds_of(one, copy.get()), bounds_of(*subject.map), type.name);
        check_same_ops(one, subject, copy.get());
        check_moves(one, subject, copy.get());
    }
    SUCCEED();
}

} // namespace flatten_roundtrip_test
