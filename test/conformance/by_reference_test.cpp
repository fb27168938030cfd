// Types whose indices are read when data moves: what they are, what they refuse, and that what
// moves is what the indices say at that time.
#include "support/catch.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/buffers/page_guard.hpp"
#include "support/moves/calls.hpp"
#include "support/moves/move_now.hpp"
#include "support/moves/moving.hpp"
#include "support/moves/reducing.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace by_reference_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

RecipeOptions with_references(bool unpack_safe) {
    RecipeOptions options;
    options.unpack_safe = unpack_safe;
    options.index_memory = [](Rng &, const std::vector<std::byte> &) { return nullptr; };
    return options;
}

Subject random_reference(Case &one, const RecipeOptions &options) {
    for (;;) {
        Subject subject = random_subject(one, options);
        if (subject.map->by_reference) return subject;
    }
}

} // namespace

TEST_CASE("pack and unpack random types with indices by reference, in parts too") {
    run_cases("by reference", 12000, [](Case &one) {
        Rng &rng = one.rng();
        const Subject subject = random_reference(one, with_references(true));
        GuardedBuffer memory(rng, subject.range);
        const MemoryLocation where = place(subject, memory);
        GuardedBuffer packed = packed_buffer(rng, subject.size() + 8);
        for (int i = 0; i < 3; ++i) {
            const std::size_t offset = i == 0 ? 0 : rng.below(subject.size() + 1);
            const std::size_t length = i == 0 ? subject.size() : rng.below(subject.size() + 8);
            packed.randomise(rng);
            check_pack(one, where, offset, length, packed);
            packed.randomise(rng);
            check_unpack(one, packed, length, where, offset);
        }
        std::intptr_t lb = 0, extent = 0;
        one.succeed(ucd_get_true_extent(subject.type(), &lb, &extent), "true extent");
        if (lb != subject.map->true_lb || extent != subject.map->true_extent)
            one.fail("true bounds are ", lb, " and ", extent, " bytes on");
        one.succeed(ucd_get_extent(subject.type(), &lb, &extent), "extent");
        if (lb != subject.map->lb || extent != subject.map->extent)
            one.fail("bounds are ", lb, " and ", extent, " bytes on");
    });
}

TEST_CASE("copies from and to random types with indices by reference") {
    run_cases("copies by reference", 4000, [](Case &one) {
        Rng &rng = one.rng();
        const Subject a = random_reference(one, with_references(true));
        const Subject b = random_subject(one, with_references(true), 5, "other type");
        const Subject &source = a.size() <= b.size() ? a : b,
                      &target = a.size() <= b.size() ? b : a;
        GuardedBuffer in(rng, source.range), out(rng, target.range);
        for (std::size_t i = 0; i < source.size(); ++i)
            *out.expected(target.bytes[i]) = *in.actual(source.bytes[i]);
        std::uintptr_t actual = untouched;
        one.succeed(call_copy(rng, in.base(), source.count, source.type(), out.base(), target.count,
                              target.type(), &actual),
                    "copy");
        if (actual != source.size()) one.fail("copied ", actual, " bytes");
        require_intact(one, out, "target");
        require_intact(one, in, "source");
    });
}

TEST_CASE("reductions with indices by reference") {
    run_cases("reductions by reference", 4000, [](Case &one) {
        Rng &rng = one.rng();
        const ucd_op_t op = all_ops()[1 + rng.below(all_ops().size() - 1)].op;
        RecipeOptions options = with_references(true);
        options.elements = types_supporting(op);
        const ReducedSubject what = with_elements(random_reference(one, options));
        const std::size_t last = what.elements.size();
        const std::size_t first = last == 0 ? 0 : rng.below(last);
        GuardedBuffer memory(rng, what.subject.range);
        GuardedBuffer packed = packed_buffer(rng, what.subject.size() + 64);
        const MemoryLocation where = place(what.subject, memory);
        check_reductions(one, op, what, where, first, last, packed);
    });
}

TEST_CASE("indices that change between calls move other data") {
    // More of them than one kernel takes at once.
    constexpr std::int64_t blocks = 700;
    const RecipePtr block = contig(4, leaf(UCD_TYPE__FLOAT));
    const RecipePtr rows = hvector(2, 1, 1 << 18, block);
    for (const RecipePtr &old : {block, rows}) {
        run_cases("rewritten indices", 6, [&](Case &one) {
            Rng &rng = one.rng();
            std::vector<std::int64_t> indices(blocks);
            const auto draw = [&] {
                for (std::int64_t i = 0; i < blocks; ++i)
                    indices[static_cast<std::size_t>(i)] = 16 * i + rng.between(0, 15);
                rng.shuffle(indices);
            };
            draw();
            const auto recipe = [&](std::shared_ptr<void> memory) {
                return hvector(2, 1, 1 << 20,
                               indexed_block_ref(1, indices, UCD_TYPE__INT32_T, 16, 0,
                                                 16 * (16 * blocks) + (1 << 18), old,
                                                 std::move(memory)));
            };
            const RecipePtr first = recipe(nullptr);
            const auto memory =
                std::get<IndexedBlockRef>(std::get<HVector>(first->node).old->node).memory;
            const Subject built = make_subject(one, first, 1);
            for (int round = 0; round < 4; ++round) {
                const ByteMap bytes = byte_map(*recipe(memory), 1);
                GuardedBuffer typed(rng, touched_range(bytes));
                GuardedBuffer packed = packed_buffer(rng, bytes.size());
                const MemoryLocation where{&typed, typed.base(), built.type(), 1, &bytes};
                check_pack(one, where, 0, bytes.size(), packed);
                packed.randomise(rng);
                const std::size_t offset = rng.below(bytes.size());
                check_unpack(one, packed, rng.below(bytes.size() - offset + 1), where, offset);
                draw();
                const std::vector<std::byte> now = bytes_of_indices(indices, UCD_TYPE__INT32_T);
                std::memcpy(memory.get(), now.data(), now.size());
            }
        });
    }
}

// Statuses --------------------------------------------------------------

namespace {

const std::int32_t three[] = {0, 2, 5};

struct Arguments {
    std::intptr_t count = 3, blocklength = 2;
    const void *indices = three;
    ucd_type_t index_type = UCD_TYPE__INT32_T;
    std::intptr_t unit = 8, lb = 0, extent = 64;
    ucd_type_t old = UCD_TYPE__INT;
};

BuiltType create(const Arguments &a, int expected = UCD_SUCCESS) {
    ucd_type_t type = UCD_TYPE__NULL;
    const int rc =
        ucd_create_indexed_block_ref(a.count, a.blocklength, a.indices, a.index_type, a.unit, a.lb,
                                     a.extent, a.old, UCD_INFO__NULL, &type);
    INFO(ucd_last_error());
    CHECK(rc == expected);
    CHECK((type != UCD_TYPE__NULL) == (rc == UCD_SUCCESS));
    return BuiltType(type);
}

void refuse(const Arguments &a, int status) {
    (void)create(a, status);
}

template <class Create, class... Some>
BuiltType made_by(Create create_it, Some... arguments) {
    ucd_type_t made = UCD_TYPE__NULL;
    REQUIRE(create_it(arguments..., UCD_INFO__NULL, &made) == UCD_SUCCESS);
    return BuiltType(made);
}

} // namespace

TEST_CASE("what creating a type with indices by reference refuses") {
    refuse({.count = -1}, UCD_ERR__INVALID_ARG);
    refuse({.blocklength = -1}, UCD_ERR__INVALID_ARG);
    refuse({.extent = -1}, UCD_ERR__INVALID_ARG);
    refuse({.indices = nullptr}, UCD_ERR__INVALID_ARG);
    refuse({.indices = reinterpret_cast<const char *>(three) + 2}, UCD_ERR__INVALID_ARG);
    alignas(8) static const std::int64_t wide[4] = {};
    refuse({.indices = reinterpret_cast<const char *>(wide) + 4, .index_type = UCD_TYPE__UINT64_T},
           UCD_ERR__INVALID_ARG);
    for (const ucd_type_t type : {UCD_TYPE__NULL, UCD_TYPE__INT, UCD_TYPE__LONG, UCD_TYPE__INT16_T,
                                  UCD_TYPE__FLOAT, UCD_TYPE__SIZE_T})
        refuse({.index_type = type}, UCD_ERR__INVALID_ARG);
    refuse({.old = UCD_TYPE__NULL}, UCD_ERR__INVALID_ARG);
    refuse({.lb = 1, .extent = INTPTR_MAX}, UCD_ERR__OVERFLOW);
    refuse({.count = INTPTR_MAX, .blocklength = INTPTR_MAX}, UCD_ERR__OVERFLOW);
    CHECK(ucd_create_indexed_block_ref(3, 1, three, UCD_TYPE__INT32_T, 8, 0, 64, UCD_TYPE__INT,
                                       UCD_INFO__NULL, nullptr) == UCD_ERR__INVALID_ARG);
    const BuiltType inner = create({});
    const BuiltType outer = made_by(ucd_create_contig, 2, inner.get());
    refuse({.old = inner.get()}, UCD_ERR__NOT_SUPPORTED);
    refuse({.old = outer.get()}, UCD_ERR__NOT_SUPPORTED);
    CHECK(std::string(ucd_last_error()).find("indices by reference") != std::string::npos);
}

TEST_CASE("indices are not read when nothing moves") {
    for (const Arguments &a : {Arguments{.count = 0, .indices = nullptr},
                               Arguments{.blocklength = 0, .indices = nullptr, .lb = -8}}) {
        const BuiltType type = create(a);
        std::intptr_t lb = 1, extent = 1;
        CHECK(ucd_get_true_extent(type.get(), &lb, &extent) == UCD_SUCCESS);
        CHECK((lb == 0 && extent == 0));
        CHECK(ucd_get_extent(type.get(), &lb, &extent) == UCD_SUCCESS);
        CHECK((lb == a.lb && extent == 64));
        char byte = 0;
        CHECK(pack_now(&byte, 1, type.get(), 0, &byte, 1) == 0);
    }
}

TEST_CASE("no index behind the last one is read") {
    Rng rng(23);
    for (const std::size_t count : {1, 2, 100, 1024, 3000}) {
        INFO(count << " indices");
        PageGuardedBuffer list(rng, contiguous_bytes(4 * count), 0, 4 * count,
                               Placement::last_byte_ends_page);
        for (std::size_t i = 0; i < count; ++i) {
            const auto index = static_cast<std::int32_t>(2 * i);
            std::memcpy(list.actual(static_cast<std::intptr_t>(4 * i)), &index, 4);
        }
        const auto blocks = static_cast<std::intptr_t>(count);
        const BuiltType type =
            create({blocks, 1, list.base(), UCD_TYPE__INT32_T, 4, 0, 8 * blocks});
        std::vector<int> memory(2 * count), packed(count), expected(count);
        for (std::size_t i = 0; i < count; ++i)
            expected[i] = memory[2 * i] = static_cast<int>(rng.bits());
        pack_now(memory.data(), 1, type.get(), 0, packed.data(), 4 * count);
        CHECK(packed == expected);
    }
}

TEST_CASE("bounds are those that were given, and resized changes only the explicit ones") {
    const BuiltType type = create({.lb = -16, .extent = 96});
    const BuiltType resized = made_by(ucd_create_resized, type.get(), 4, 8);
    std::intptr_t lb = 0, extent = 0;
    CHECK(ucd_get_extent(resized.get(), &lb, &extent) == UCD_SUCCESS);
    CHECK((lb == 4 && extent == 8));
    CHECK(ucd_get_true_extent(resized.get(), &lb, &extent) == UCD_SUCCESS);
    CHECK((lb == -16 && extent == 96));
}

TEST_CASE("what needs places without reading memory is refused, or says so") {
    const BuiltType inner = create({});
    const BuiltType outer = made_by(ucd_create_hvector, 2, 1, 1000, inner.get());
    for (const ucd_type_t type : {inner.get(), outer.get()}) {
        std::uintptr_t n = 0, bytes = 0;
        char memory[64];
        struct iovec iov[4];
        CHECK(ucd_iov_len(1, type, &n) == UCD_ERR__NOT_SUPPORTED);
        CHECK(ucd_iov_len_max(1, type, 100, &n, &bytes) == UCD_ERR__NOT_SUPPORTED);
        CHECK(ucd_iov(memory, 1, type, 0, iov, 4, &n) == UCD_ERR__NOT_SUPPORTED);
        CHECK(ucd_iov_bytes(memory, 1, type, 0, 9, iov, 4, &n, &bytes) == UCD_ERR__NOT_SUPPORTED);
        CHECK(ucd_flatten_size(type, &n) == UCD_ERR__NOT_SUPPORTED);
        CHECK(ucd_flatten(type, memory, sizeof memory) == UCD_ERR__NOT_SUPPORTED);
        CHECK(std::string(ucd_last_error()).find("indices by reference") != std::string::npos);
    }
    ucd_layout_t layout{};
    layout.struct_size = sizeof layout;
    REQUIRE(ucd_get_layout(3, outer.get(), &layout) == UCD_SUCCESS);
    CHECK(layout.flags == UCD_LAYOUT__BY_REFERENCE);
    CHECK(layout.contiguous == 0);
    CHECK(layout.segments == 0);
    CHECK(layout.box_dims == 0);
    CHECK(layout.bytes == 3 * 2 * 3 * 2 * sizeof(int));
    CHECK((layout.low == 0 && layout.high == 2 * 1064 + 1064));
    CHECK(layout.element == UCD_TYPE__INT);
    REQUIRE(ucd_get_layout(1, UCD_TYPE__INT, &layout) == UCD_SUCCESS);
    CHECK(layout.flags == 0);
}

TEST_CASE("a type without blocks is by reference if what it is made of is") {
    const BuiltType inner = create({});
    const std::intptr_t none[] = {0, 0}, two[] = {2, 2};
    const int one[] = {1, 1}, blocks[] = {UCD_DISTRIBUTE__BLOCK, UCD_DISTRIBUTE__BLOCK};
    const std::intptr_t dargs[] = {UCD_DISTRIBUTE__DFLT_DARG, UCD_DISTRIBUTE__DFLT_DARG};
    const ucd_type_t old = inner.get();
    const BuiltType all[] = {
        made_by(ucd_create_contig, 0, old),
        made_by(ucd_create_vector, 0, 1, 1, old),
        made_by(ucd_create_hvector, 0, 1, 1, old),
        made_by(ucd_create_indexed_block, 0, 1, nullptr, old),
        made_by(ucd_create_hindexed_block, 0, 1, nullptr, old),
        made_by(ucd_create_indexed, 0, nullptr, nullptr, old),
        made_by(ucd_create_hindexed, 0, nullptr, nullptr, old),
        made_by(ucd_create_subarray, 2, two, none, none, UCD_ORDER__C, old),
        made_by(ucd_create_darray, 1, 0, 2, none, blocks, dargs, one, UCD_ORDER__C, old),
        made_by(ucd_create_ndarray, 2, none, two, old),
    };
    for (const BuiltType &empty : all) {
        INFO("constructor " << &empty - all);
        const BuiltType outer = made_by(ucd_create_contig, 3, empty.get());
        ucd_layout_t layout{};
        layout.struct_size = sizeof layout;
        REQUIRE(ucd_get_layout(1, outer.get(), &layout) == UCD_SUCCESS);
        CHECK(layout.flags == UCD_LAYOUT__BY_REFERENCE);
        std::uintptr_t n = 0;
        CHECK(ucd_flatten_size(outer.get(), &n) == UCD_ERR__NOT_SUPPORTED);
        refuse({.old = outer.get()}, UCD_ERR__NOT_SUPPORTED);
    }
}

TEST_CASE("a description says where the indices lie") {
    const BuiltType type = create({});
    char text[4096];
    std::uintptr_t needed = 0;
    REQUIRE(ucd_describe(type.get(), text, sizeof text, &needed) == UCD_SUCCESS);
    char line[128];
    std::snprintf(line, sizeof line, "indices: 3 of int32_t at %p in host memory\n",
                  static_cast<const void *>(three));
    INFO(text);
    CHECK(std::string(text).find(line) != std::string::npos);
    CHECK(std::string(text).find("flattened: 0\n") != std::string::npos);
    CHECK(std::string(text).find("segments: 0\n") != std::string::npos);
}

TEST_CASE("a type from flattened bytes may be below indices by reference") {
    const std::intptr_t displs[] = {0, 24, 8};
    const BuiltType original = made_by(ucd_create_hindexed_block, 3, 1, displs, UCD_TYPE__INT);
    ucd_type_t made = UCD_TYPE__NULL;
    std::uintptr_t size = 0;
    REQUIRE(ucd_flatten_size(original.get(), &size) == UCD_SUCCESS);
    std::vector<unsigned char> bytes(size);
    REQUIRE(ucd_flatten(original.get(), bytes.data(), size) == UCD_SUCCESS);
    REQUIRE(ucd_unflatten(&made, bytes.data(), size) == UCD_SUCCESS);
    const BuiltType foreign(made);
    const BuiltType type =
        create({.blocklength = 1, .unit = 28, .extent = 200, .old = foreign.get()});
    int in[50], out[9] = {};
    for (int i = 0; i < 50; ++i) in[i] = i;
    pack_now(in, 1, type.get(), 0, out, sizeof out);
    for (int i = 0; i < 9; ++i)
        CHECK(out[i] == three[i / 3] * 7 + static_cast<int>(displs[i % 3] / 4));
}

} // namespace by_reference_test
