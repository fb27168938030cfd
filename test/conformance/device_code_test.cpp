// ucd_device.h in kernels, with random layouts, ranges and groups, beside the type map.
#include "support/catch.hpp"

#include "support/buffers/aligned_buffer.hpp"
#include "support/device_code/moves.hpp"
#include "support/fake_device/fake_driver.h"
#include "support/moves/device_moves.hpp"
#include "support/moves/subject.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace device_code_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

namespace {

std::string device() {
    return std::string(mock::backend.name) + ":0";
}

class Plan {
public:
    Plan(const Case &one, std::size_t count, ucd_type_t type) {
        one.succeed(ucd_device_plan_create(count, type, device().c_str(), nullptr, &plan_),
                    "ucd_device_plan_create");
    }
    ~Plan() { CHECK(ucd_device_plan_free(&plan_) == UCD_SUCCESS); }
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;
    const ucd_device_plan_t &get() const { return plan_; }

private:
    ucd_device_plan_t plan_ = UCD_DEVICE_PLAN__INIT;
};

// Dimensions in any order in memory: up to four levels, and matrices that tiles move.
RecipePtr random_permutation(Rng &rng) {
    const ucd_type_t elements[] = {UCD_TYPE__INT8_T, UCD_TYPE__INT16_T, UCD_TYPE__INT32_T,
                                   UCD_TYPE__INT64_T, UCD_TYPE__C_DOUBLE_COMPLEX};
    const std::size_t element = rng.below(5);
    const auto dims = static_cast<std::size_t>(rng.between(2, 4));
    Ints shape(dims), strides(dims);
    std::vector<std::size_t> order(dims);
    for (std::size_t i = 0; i < dims; ++i) {
        order[i] = i;
        shape[i] = rng.between(1, dims == 2 ? 70 : 9);
    }
    rng.shuffle(order);
    std::intptr_t stride = std::intptr_t{1} << element;
    for (const std::size_t i : order) {
        strides[i] = rng.chance(10) ? -stride : stride;
        stride *= shape[i] + rng.between(0, 2);
    }
    return ndarray(shape, strides, leaf(elements[element]));
}

// A layout of the shapes that kernels know: nests of strided levels with blocks of any size, equal
// blocks and runs by lists, and lists inside and around strided levels. No byte is in it twice.
RecipePtr random_of_known_shape(Rng &rng) {
    const ucd_type_t elements[] = {UCD_TYPE__INT8_T, UCD_TYPE__INT16_T, UCD_TYPE__INT32_T,
                                   UCD_TYPE__INT64_T, UCD_TYPE__C_DOUBLE_COMPLEX};
    const std::size_t element = rng.chance(50) ? 4 : rng.below(5);
    std::intptr_t extent = std::intptr_t{1} << element;
    RecipePtr type = leaf(elements[element]);
    const std::intptr_t unit = extent; // of distances, which keeps words as wide as elements
    const auto add_strided = [&](std::intptr_t most) {
        const std::intptr_t count = rng.between(2, most), gap = rng.between(1, 3) * unit;
        type = hvector(count, 1, extent + gap, type);
        extent = count * (extent + gap);
    };
    const auto add_list = [&](bool runs) {
        const std::int64_t entries = rng.between(2, 30);
        Ints lengths, displs;
        std::intptr_t at = 0;
        for (std::int64_t i = 0; i < entries; ++i) {
            lengths.push_back(runs ? rng.between(1, 12) : 1);
            displs.push_back(at);
            at += lengths.back() * extent + rng.between(1, 4) * unit;
        }
        type = runs ? hindexed(lengths, displs, type) : hindexed_block(1, displs, type);
        extent = at;
    };
    if (rng.chance(60)) {
        const std::intptr_t elements_of_block = rng.between(1, 20);
        type = contig(elements_of_block, type);
        extent *= elements_of_block;
    }
    switch (rng.below(6)) {
    case 0: add_list(false); break;
    case 1: add_list(true); break;
    case 2:
        add_strided(5);
        add_list(rng.chance(50));
        break;
    case 3:
        add_strided(5);
        add_list(false);
        add_strided(4);
        break;
    default:
        for (std::size_t levels = rng.chance(50) ? rng.below(2) : rng.below(5); levels > 0;
             --levels)
            add_strided(levels > 2 ? 5 : 40);
    }
    return type;
}

// Layouts of shapes that kernels may know are drawn, instead of any.
bool only_known = false;

Subject draw(Case &one, bool unpack_safe, const char *role) {
    Rng &rng = one.rng();
    if (only_known && rng.chance(80)) return make_subject(one, random_of_known_shape(rng), 1, role);
    if (only_known || rng.chance(30))
        return make_subject(one, random_permutation(rng), rng.chance(50) ? 1 : 2, role);
    RecipeOptions options;
    options.unpack_safe = unpack_safe;
    options.index_memory = [](Rng &, const std::vector<std::byte> &bytes) {
        return copy_in(Memory::device0, bytes);
    };
    return random_nonempty_subject(one, options, 5, role);
}

struct Range {
    std::size_t offset, bytes;
};
Range random_range(Rng &rng, std::size_t size) {
    if (rng.chance(40)) return {0, size};
    const std::size_t offset = rng.below(size + 1);
    return {offset, rng.below(size - offset + 1)};
}

KernelCall random_call(Rng &rng, DeviceCall call, const Plan &from, const DeviceBuffer &in,
                       const DeviceBuffer &out, const Range &range) {
    KernelCall move{};
    move.call = call;
    move.from = from.get();
    move.in = in.real_base();
    move.out = out.real_base();
    move.offset = range.offset;
    move.bytes = range.bytes;
    move.group = all_groups[rng.below(std::size(all_groups))];
    constexpr std::uint32_t threads[] = {32, 64, 96, 100, 256, 512};
    move.threads = threads[rng.below(std::size(threads))];
    move.blocks = static_cast<std::uint32_t>(rng.between(1, 5));
    return move;
}

// How often calls have used each shape. In two cases of three, a call uses one that the plans have
// and that the addresses suit, if there is one. The first of them, which has the widest words, is
// rare otherwise, and so it is every other.
std::vector<int> used_shapes(64);
void choose_shape(Rng &rng, KernelCall &move) {
    if (rng.chance(33)) return;
    const auto in = reinterpret_cast<std::uintptr_t>(move.in);
    const auto out = reinterpret_cast<std::uintptr_t>(move.out);
    const auto from = static_cast<std::uint64_t>(move.from.origin);
    std::uint64_t bits = 0; // has to be a multiple of the word
    switch (move.call) {
    case DeviceCall::pack: bits = (in + from) | (out - move.offset); break;
    case DeviceCall::unpack: bits = (out + from) | (in - move.offset); break;
    default:
        bits = (in + from) | (out + static_cast<std::uint64_t>(move.to.origin)) | move.offset |
               move.bytes;
    }
    std::vector<std::uint32_t> suitable;
    for (std::uint32_t shape = 1; shape <= count_of_shapes(); ++shape) {
        const std::uint32_t word = word_of_shape(shape, move.from);
        if (word == 0 || bits % word != 0) continue;
        if (move.call == DeviceCall::copy && word_of_shape(shape, move.to) == 0) continue;
        suitable.push_back(shape);
    }
    if (suitable.empty()) return;
    move.shape = suitable[rng.chance(50) ? 0 : rng.below(suitable.size())];
    ++used_shapes[move.shape];
}

void check_as_expected(const Case &one, DeviceBuffer &buffer, const char *what) {
    buffer.fetch();
    if (const std::string found = buffer.difference(); !found.empty()) one.fail(what, ": ", found);
}

void pack_as_mapped(Case &one) {
    Rng &rng = one.rng();
    const Subject subject = draw(one, false, "packed");
    const Range range = random_range(rng, subject.size());
    DeviceBuffer in(rng, subject.range, Memory::device0);
    DeviceBuffer out(rng, {0, static_cast<std::intptr_t>(range.bytes)}, Memory::device0);
    in.send();
    out.send();
    const Plan plan(one, subject.count, subject.type());
    CHECK(plan.get().bytes == subject.size());
    KernelCall move = random_call(rng, DeviceCall::pack, plan, in, out, range);
    choose_shape(rng, move);
    run_on_device(move);
    for (std::size_t i = 0; i < range.bytes; ++i)
        *out.expected(static_cast<std::intptr_t>(i)) = *in.actual(subject.bytes[range.offset + i]);
    check_as_expected(one, out, "packed");
    check_as_expected(one, in, "the layout that was packed");
}

void check_unpacked(Case &one, const Subject &subject, DeviceBuffer &out) {
    Rng &rng = one.rng();
    const Range range = random_range(rng, subject.size());
    DeviceBuffer in(rng, {0, static_cast<std::intptr_t>(range.bytes)}, Memory::device0);
    in.send();
    out.send();
    const Plan plan(one, subject.count, subject.type());
    KernelCall move = random_call(rng, DeviceCall::unpack, plan, in, out, range);
    choose_shape(rng, move);
    run_on_device(move);
    for (std::size_t i = 0; i < range.bytes; ++i)
        *out.expected(subject.bytes[range.offset + i]) = *in.actual(static_cast<std::intptr_t>(i));
    check_as_expected(one, out, "unpacked");
}
void unpack_as_mapped(Case &one) {
    Subject subject = draw(one, true, "unpacked");
    while (overlaps(subject.bytes)) subject = draw(one, true, "unpacked");
    DeviceBuffer out(one.rng(), subject.range, Memory::device0);
    check_unpacked(one, subject, out);
}

// Lists of blocks of an odd size, each of which begins at a multiple of 8 bytes.
void unpack_odd_blocks(Case &one) {
    Rng &rng = one.rng();
    const std::intptr_t block = 2 * rng.between(5, 30) + 1;
    Ints displs;
    std::intptr_t at = 0;
    for (std::intptr_t i = rng.between(3, 40); i > 0; --i) {
        displs.push_back(at);
        at += (block + 7) / 8 * 8 + 8 * rng.between(0, 3);
    }
    const RecipePtr list = hindexed_block(block, displs, leaf(UCD_TYPE__BYTE));
    RecipePtr nested = resized(list, 0, at);
    for (std::size_t more = rng.below(3); more > 0; --more) {
        const std::intptr_t stride = at + 8 * rng.between(1, 3), times = rng.between(2, 4);
        at = times * stride + 8 * rng.between(1, 3);
        nested = resized(hvector(times, 1, stride, nested), 0, at);
    }
    const Subject subject = make_subject(one, nested, 2 + rng.below(3), "unpacked");
    check_unpacked(one, subject, *aligned_buffer(rng, subject.range, Memory::device0, 8));
}

void copy_as_mapped(Case &one) {
    Rng &rng = one.rng();
    const Subject source = draw(one, false, "source");
    // Often the same layout on both sides: kernels know both.
    const bool same = !overlaps(source.bytes) && rng.chance(only_known ? 60 : 10);
    Subject target =
        same ? make_subject(one, source.recipe, source.count, "target") : draw(one, true, "target");
    while (overlaps(target.bytes)) target = draw(one, true, "target");
    const Range range = random_range(rng, std::min(source.size(), target.size()));
    DeviceBuffer in(rng, source.range, Memory::device0), out(rng, target.range, Memory::device0);
    in.send();
    out.send();
    const Plan from(one, source.count, source.type()), to(one, target.count, target.type());
    KernelCall move = random_call(rng, DeviceCall::copy, from, in, out, range);
    move.to = to.get();
    choose_shape(rng, move);
    run_on_device(move);
    for (std::size_t i = range.offset; i < range.offset + range.bytes; ++i)
        *out.expected(target.bytes[i]) = *in.actual(source.bytes[i]);
    check_as_expected(one, out, "copied");
}

struct Located {
    std::int64_t displacement;
    std::uint64_t bytes;
};
Located locate(const Case &one, const ucd_device_plan_t &plan, std::uint64_t offset) {
    Rng rng(one.number());
    DeviceBuffer out(rng, {0, 64}, Memory::device0);
    out.send();
    const std::size_t skipped = -reinterpret_cast<std::uintptr_t>(out.real_base()) % 16;
    KernelCall move{};
    move.call = DeviceCall::locate;
    move.threads = 32;
    move.from = plan;
    move.out = static_cast<char *>(out.real_base()) + skipped;
    move.offset = offset;
    run_on_device(move);
    out.fetch();
    Located found;
    std::memcpy(&found, out.actual(static_cast<std::intptr_t>(skipped)), sizeof found);
    return found;
}

void locate_as_mapped(Case &one) {
    const Subject subject = draw(one, false, "located");
    const Plan plan(one, subject.count, subject.type());
    const std::size_t offset = one.rng().below(subject.size());
    const Located found = locate(one, plan.get(), offset);
    if (found.displacement != subject.bytes[offset])
        one.fail("byte ", offset, " is at ", found.displacement, ", not ", subject.bytes[offset]);
    if (found.bytes == 0 || found.bytes > subject.size() - offset)
        one.fail("byte ", offset, " has ", found.bytes, " that follow");
    for (std::size_t i = 0; i < found.bytes; ++i)
        if (subject.bytes[offset + i] != subject.bytes[offset] + static_cast<std::intptr_t>(i))
            one.fail("byte ", offset + i, " does not follow byte ", offset);
}

} // namespace

TEST_CASE("device code moves random layouts in any group of threads") {
    DeviceSession session;
    run_cases("device code packs", 900, pack_as_mapped);
    run_cases("device code unpacks", 900, unpack_as_mapped);
    run_cases("device code copies", 900, copy_as_mapped);
    run_cases("device code locates", 300, locate_as_mapped);
}

TEST_CASE("device code unpacks blocks of odd sizes in aligned stores, from any byte on") {
    DeviceSession session;
    run_cases("device code unpacks odd blocks", 200, unpack_odd_blocks);
}

TEST_CASE("device code moves layouts of which the kernel knows the shape") {
    DeviceSession session;
    only_known = true;
    std::fill(used_shapes.begin(), used_shapes.end(), 0);
    run_cases("device code packs known shapes", 900, pack_as_mapped);
    run_cases("device code unpacks known shapes", 900, unpack_as_mapped);
    run_cases("device code copies known shapes", 900, copy_as_mapped);
    only_known = false;
    if (case_factor() < 1) return; // too few cases for all of them
    for (std::uint32_t shape = 1; shape <= count_of_shapes(); ++shape) {
        INFO("shape " << shape);
        CHECK(used_shapes[shape] > 0);
    }
}

TEST_CASE("device code copies transposes of which the kernel knows the shape") {
    DeviceSession session;
    run_cases("known transposes", 200, [](Case &one) {
        Rng &rng = one.rng();
        const ucd_type_t elements[] = {UCD_TYPE__INT8_T, UCD_TYPE__INT16_T, UCD_TYPE__INT32_T,
                                       UCD_TYPE__INT64_T};
        const std::size_t log = rng.below(4);
        const auto element = std::intptr_t{1} << log;
        const std::intptr_t matrices = log < 3 ? rng.between(1, 4) : 1; // of 8 bytes, two levels
        // Columns of whole vectors, or of any number of words.
        const bool vectors = rng.chance(50);
        const std::intptr_t rows = vectors ? 16 * rng.between(2, 4) : rng.between(32, 70);
        // An element of the target may be two of the source, and a word is one of the source then.
        const std::size_t wider = log < 3 && rng.chance(25) ? 1 : 0;
        const std::intptr_t columns = rng.between(32, 70) << wider;
        // A row has columns of each matrix, or each matrix has rows of its own.
        const bool within_rows = matrices > 1 && rng.chance(50);
        const auto transposed = [&](const char *role, std::size_t more, std::intptr_t height,
                                    std::intptr_t width) {
            const std::intptr_t bytes = element << more, across = width >> more;
            const std::intptr_t line = (height + (vectors ? 16 : rng.between(1, 3))) * bytes;
            Ints shape{height, across}, strides{bytes, line};
            if (matrices > 1) {
                shape.insert(shape.begin() + within_rows, matrices);
                strides.insert(strides.begin() + within_rows, across * line + 64);
            }
            return make_subject(one, ndarray(shape, strides, leaf(elements[log + more])), 1, role);
        };
        // Or of another shape on each side, which no order along the rows suits.
        const std::intptr_t longer = rng.chance(70) ? 0 : 16;
        const bool higher = rng.chance(50);
        const Subject source = transposed("source", 0, rows, columns),
                      target = transposed("target", wider, rows + (higher ? longer : 0),
                                          columns + (higher ? 0 : longer));
        const Plan from(one, 1, source.type()), to(one, 1, target.type());
        REQUIRE(from.get().row < from.get().levels);
        REQUIRE(to.get().row < to.get().levels);
        const std::size_t alignment = vectors ? 16 : 8;
        const auto in = aligned_buffer(rng, source.range, Memory::device0, alignment),
                   out = aligned_buffer(rng, target.range, Memory::device0, alignment);
        in->send();
        out->send();
        KernelCall move = random_call(rng, DeviceCall::copy, from, *in, *out, {});
        move.to = to.get();
        // Whole parts, which are copied along the rows, and others, which are not.
        const std::intptr_t row = (within_rows ? matrices : 1) * columns * element;
        const bool by_matrices = matrices > 1 && !within_rows;
        const std::intptr_t part = by_matrices ? rows * row : row;
        const std::intptr_t parts = by_matrices ? matrices : rows;
        const std::intptr_t first = rng.below(static_cast<std::size_t>(parts));
        move.offset = static_cast<std::uint64_t>(first * part);
        move.bytes = static_cast<std::uint64_t>(rng.between(1, parts - first) * part);
        if (rng.chance(20)) move.bytes -= static_cast<std::uint64_t>(rng.between(1, 31) * element);
        for (std::uint32_t shape = 1; shape <= count_of_shapes() && move.shape == 0; ++shape)
            if (word_of_shape(shape, move.from) == static_cast<std::uint32_t>(element) &&
                word_of_shape(shape, move.to) == static_cast<std::uint32_t>(element))
                move.shape = shape;
        REQUIRE(move.shape != 0);
        run_on_device(move);
        for (std::size_t i = move.offset; i < move.offset + move.bytes; ++i)
            *out->expected(target.bytes[i]) = *in->actual(source.bytes[i]);
        check_as_expected(one, *out, "copied");
    });
}

TEST_CASE("device code moves ranges of children that are larger than 31 bits") {
    DeviceSession session;
    constexpr std::intptr_t half = std::intptr_t{1} << 31, gap = 64;
    run_cases("large children", 12, [](Case &one) {
        Rng &rng = one.rng();
        // Children of 2 GiB with gaps, which are at both sides of each other's end. Each is a
        // block, or short blocks with gaps.
        const std::intptr_t each = rng.chance(50) ? half : 64, pieces = half / each;
        const RecipePtr child =
            hvector(pieces, 1, each + gap, contig(each / 8, leaf(UCD_TYPE__DOUBLE)));
        // Not as far apart as the blocks of a child: else all blocks were one level.
        const std::intptr_t stride = pieces * (each + gap) + gap;
        const BuiltType type(hvector(5, 1, stride, child));
        const auto place = [&](std::intptr_t at) {
            return at / half * stride + at % half / each * (each + gap) + at % each;
        };
        const Plan plan(one, 1, type.get());
        CHECK(plan.get().memory == 0);
        const auto seam = rng.between(1, 4) * half;
        const std::intptr_t before = rng.between(1, 200), after = rng.between(1, 200);
        const std::intptr_t first = seam - before, bytes = before + after;
        DeviceBuffer in(rng, {place(first), place(seam + after - 1) + 1}, Memory::device0);
        DeviceBuffer out(rng, {0, bytes}, Memory::device0);
        in.send();
        out.send();
        run_on_device(
            random_call(rng, DeviceCall::pack, plan, in, out,
                        {static_cast<std::size_t>(first), static_cast<std::size_t>(bytes)}));
        for (std::intptr_t i = 0; i < bytes; ++i) *out.expected(i) = *in.actual(place(first + i));
        check_as_expected(one, out, "packed");
        const Located found = locate(one, plan.get(), static_cast<std::uint64_t>(first));
        CHECK(found.displacement == place(first));
        CHECK(found.bytes == static_cast<std::uint64_t>(std::min(before, each - first % each)));
    });
}

TEST_CASE("a plan for device code without lists needs no memory, and others end with it") {
    DeviceSession session;
    const Case one("plans for device code", 0);
    const BuiltType nest(ndarray({3, 4, 5, 6}, {4096, 700, 100, 16}, leaf(UCD_TYPE__DOUBLE)));
    const Plan regular(one, 1, nest.get());
    CHECK(regular.get().memory == 0);
    CHECK(regular.get().levels == 4);
    CHECK(sizeof(ucd_device_plan_t) <= 256);
    const BuiltType listed(indexed_block(1, {0, 5, 11}, leaf(UCD_TYPE__DOUBLE)));
    ucd_device_plan_t plan = UCD_DEVICE_PLAN__INIT;
    REQUIRE(ucd_device_plan_create(2, listed.get(), device().c_str(), nullptr, &plan) ==
            UCD_SUCCESS);
    CHECK(plan.memory != 0);
    ucd_device_plan_t copy = plan;
    CHECK(ucd_device_plan_free(&plan) == UCD_SUCCESS);
    CHECK(plan.memory == 0);
    CHECK(ucd_device_plan_free(&plan) == UCD_SUCCESS);
    CHECK(ucd_device_plan_free(&copy) == UCD_ERR__INVALID_ARG);
}

TEST_CASE("a plan for device code says what it cannot be made of") {
    DeviceSession session;
    const auto create = [](ucd_device_plan_t plan, const char *name, ucd_type_t type,
                           std::uintptr_t count) {
        const ucd_device_plan_t before = plan;
        const int rc = ucd_device_plan_create(count, type, name, nullptr, &plan);
        CHECK(std::memcmp(&before, &plan, sizeof plan) == 0);
        return rc;
    };
    const ucd_device_plan_t good = UCD_DEVICE_PLAN__INIT;
    ucd_device_plan_t later = good, longer = good;
    later.version++;
    longer.struct_size += 8;
    const std::string name = device();
    CHECK(create({}, name.c_str(), UCD_TYPE__INT, 1) == UCD_ERR__INVALID_ARG);
    CHECK(create(later, name.c_str(), UCD_TYPE__INT, 1) == UCD_ERR__NOT_SUPPORTED);
    CHECK(create(longer, name.c_str(), UCD_TYPE__INT, 1) == UCD_ERR__NOT_SUPPORTED);
    CHECK(create(good, "seq:0", UCD_TYPE__INT, 1) == UCD_ERR__INVALID_ARG);
    CHECK(create(good, nullptr, UCD_TYPE__INT, 1) == UCD_ERR__INVALID_ARG);
    CHECK(create(good, name.c_str(), UCD_TYPE__NULL, 1) == UCD_ERR__INVALID_ARG);
    CHECK(create(good, name.c_str(), UCD_TYPE__INT, UINTPTR_MAX) == UCD_ERR__OVERFLOW);
    CHECK(ucd_device_plan_create(1, UCD_TYPE__INT, name.c_str(), nullptr, nullptr) ==
          UCD_ERR__INVALID_ARG);
    ucd_device_plan_t empty = good;
    CHECK(ucd_device_plan_create(0, UCD_TYPE__INT, name.c_str(), nullptr, &empty) == UCD_SUCCESS);
    CHECK(empty.bytes == 0);
}

} // namespace device_code_test
