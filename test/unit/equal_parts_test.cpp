// What is kept once is found by all that it depends on: of two things that differ in one respect
// only, each is kept, and what is derived from them is each one's own.
#include "support/catch.hpp"

#include "support/moves/flat_bytes.hpp"
#include "support/moves/recipe_build.hpp"

#include "flatten/shapes.h"
#include "layout/normalise/builder.h"
#include "layout/segments.h"
#include "transfer/staged.h"
#include "transfer/submission_builder.h"
#include "types/type.h"
#include "unit/layouts_by_hand.hpp"

#include <array>
#include <functional>
#include <initializer_list>
#include <vector>

namespace equal_parts_test {

using namespace ucd;

namespace {

using Displs = std::vector<int64_t>;
using Counts = std::vector<uint64_t>;

Placed bytes(Builder &b, uint64_t n, Element element = Element::none) {
    return b.block(0, n, element);
}

// More entries than the segments of layouts that are normalised from their list.
Displs irregular(int64_t entries, int64_t apart) {
    Displs displs;
    for (int64_t i = 0; i < entries; ++i) displs.push_back(apart * i + i * i % 211 % 13 * 16);
    return displs;
}
Counts lengths(uint64_t entries, uint64_t least) {
    Counts counts;
    for (uint64_t i = 0; i < entries; ++i) counts.push_back(least + i * i % 1009 % 3);
    return counts;
}

// The same with one entry changed, or with two exchanged.
template <class List>
List with_last(List list, typename List::value_type by) {
    list.back() += by;
    return list;
}
template <class List>
List exchanged(List list, std::size_t i) {
    std::swap(list[i], list[i + 1]);
    return list;
}

// Blocks of which some touch the next one.
Placed pieces(Builder &b, int64_t width) {
    Displs displs;
    for (int64_t i = 0, at = 0; i < 2000; ++i, at += 100 + i * i % 11 * 16)
        for (int64_t k = 0; k <= i * i % 7 % 2; ++k) displs.push_back(at + width * k);
    return b.indexed_block(displs, bytes(b, static_cast<uint64_t>(width)));
}

Placed by_reference(Builder &b, const IndexList &list) {
    return b.by_reference(2000, list, bytes(b, 8));
}

// Whether what tables say beside their lists is so.
void check_tables(const Layout &layout) {
    for (const Node &n : layout.nodes) {
        if (n.kind == NodeKind::block || n.has_reference) continue;
        std::vector<uint64_t> starts;
        uint64_t at = 0, wrong = 0;
        list_segments(layout, n, 0, n.bytes, UINT64_MAX, [&](uint64_t, const Segment &s) {
            starts.push_back(at);
            at += s.bytes;
        });
        REQUIRE(n.segments.count == starts.size());
        for (std::size_t i = 0; i < starts.size(); ++i)
            wrong += segment_start(layout, n, i) != starts[i];
        CHECK(wrong == 0);
        if (n.kind != NodeKind::indexed) continue;
        const Table &t = layout.tables[n.table];
        if (t.pieces.empty()) continue;
        const uint64_t in_piece = t.first.back() / t.pieces.size();
        Displs wanted;
        for (std::size_t run = 0; run < t.displs.size(); ++run)
            for (uint64_t i = 0; i < t.first[run + 1] - t.first[run]; i += in_piece)
                wanted.push_back(displace(t.displs[run], i, n.stride));
        CHECK(wanted == Displs(t.pieces.begin(), t.pieces.end()));
    }
}

using Make = std::function<Placed(Builder &)>;
struct Pair {
    const char *what;
    Make one, other;
};

void check_pair(const Pair &pair, bool among_many) {
    INFO(pair.what);
    Builder b;
    // Beyond a few nodes, equal ones are found in another way.
    if (among_many)
        for (uint64_t n = 1000; n < 1020; ++n) (void)bytes(b, n);
    const Placed one = pair.one(b), other = pair.other(b), again = pair.one(b);
    CHECK(one.id != other.id);
    CHECK(one.id == again.id);
    const bool reads = b.node(one.id).has_reference || b.node(other.id).has_reference;
    Placed far = other;
    far.at += reads ? 0 : 2 * b.node(one.id).high;
    const OwnedLayout layout = b.finish(b.structure({one, far, bytes(b, 1)}));
    check_tables(layout);
}

} // namespace

TEST_CASE("Nodes of layouts that differ in one respect are two nodes") {
    static const std::array<int32_t, 2000> indices{}, others{};
    const IndexList list{indices.data(), Element::int32, true, 8};
    const auto with = [&](auto change) {
        return [changed = list, change](Builder &b) mutable {
            change(changed);
            return by_reference(b, changed);
        };
    };
    const Make of_list = [&](Builder &b) { return by_reference(b, list); };
    const Displs displs = irregular(2000, 600);
    const Counts counts = lengths(2000, 5);
    const auto blocks = [&](uint64_t n, Element element = Element::none) {
        return [=](Builder &b) { return b.indexed_block(displs, bytes(b, n, element)); };
    };
    // Runs of rows of two blocks.
    const auto runs = [](Displs at, Counts times, int64_t stride, uint64_t block) {
        return [=](Builder &b) {
            return b.indexed(at, ucdtest::sums_of(times), stride,
                             b.strided(2, 20, bytes(b, block)));
        };
    };
    const auto strides = [](uint64_t count, int64_t stride, uint64_t block) {
        return [=](Builder &b) { return b.strided(count, stride, bytes(b, block)); };
    };
    const auto structs = [](int64_t second, bool is_turned) {
        return [=](Builder &b) { // of members with equal bytes
            const Placed a = b.strided(2000, 16, bytes(b, 8)), c = b.strided(4000, 16, bytes(b, 4));
            return b.structure({is_turned ? c : a, {second, is_turned ? a.id : c.id}});
        };
    };
    // The same lists under a block and under a node that has them itself.
    const auto on_lists = [](Builder &b, int64_t stride, Placed child) {
        return b.indexed(irregular(200, 100), ucdtest::sums_of(lengths(200, 5)), stride, child);
    };
    const auto dense = [&](Builder &b) { return on_lists(b, 8, bytes(b, 8)); };
    for (const bool among_many : {false, true})
        for (const Pair &pair : std::initializer_list<Pair>{
                 {"bytes of a block", [](Builder &b) { return bytes(b, 8); },
                  [](Builder &b) { return bytes(b, 9); }},
                 {"its element", [](Builder &b) { return bytes(b, 8, Element::int64); },
                  [](Builder &b) { return bytes(b, 8, Element::float64); }},
                 {"count of strides", strides(2000, 16, 8), strides(2001, 16, 8)},
                 {"stride", strides(2000, 16, 8), strides(2000, 24, 8)},
                 {"child of strides", strides(2000, 16, 8), strides(2000, 16, 4)},
                 {"a displacement", blocks(8),
                  [&](Builder &b) { return b.indexed_block(with_last(displs, 16), bytes(b, 8)); }},
                 {"child of equal displacements", blocks(8), blocks(4)},
                 {"element of that child", blocks(8, Element::int64), blocks(8, Element::float64)},
                 {"lengths of runs", runs(displs, counts, 50, 8),
                  runs(displs, exchanged(counts, 500), 50, 8)},
                 {"stride within runs", runs(displs, counts, 50, 8), runs(displs, counts, 60, 8)},
                 {"child of runs", runs(displs, counts, 50, 8), runs(displs, counts, 50, 4)},
                 {"children that touch", runs(displs, counts, 50, 8), runs(displs, counts, 28, 8)},
                 {"place of a member", structs(80000, false), structs(80016, false)},
                 {"order of members", structs(80000, false), structs(80000, true)},
                 {"width of pieces", [](Builder &b) { return pieces(b, 8); },
                  [](Builder &b) { return pieces(b, 16); }},
                 {"the level that has the lists", dense,
                  [&](Builder &b) { return on_lists(b, 200000, dense(b)); }},
                 {"where displacements are read", of_list, strides(2000, 0, 8)},
                 {"address of indices", of_list, with([&](IndexList &l) { l.indices = &others; })},
                 {"their type", of_list, with([](IndexList &l) { l.element = Element::uint32; })},
                 {"their sign", of_list, with([](IndexList &l) { l.small = false; })},
                 {"their unit", of_list, with([](IndexList &l) { l.unit = 16; })},
             })
            check_pair(pair, among_many);
}

namespace {

const Type &type_of(const ucdtest::BuiltType &built) {
    const Type *type = nullptr;
    REQUIRE(resolve(built.get(), "type", type).ok());
    return *type;
}

ucdtest::BuiltType element_of(unsigned element_class, unsigned size, unsigned alignment_log) {
    ucdtest::FlatNodes nodes;
    nodes.element(element_class, size, alignment_log);
    ucdtest::FlatNodes::Root root;
    root.extent = size;
    root.alignment_log = alignment_log;
    const ucdtest::FlatBytes flat = nodes.sealed(root);
    ucd_type_t made = UCD_TYPE__NULL;
    REQUIRE(ucd_unflatten(&made, flat.data(), flat.size()) == UCD_SUCCESS);
    return ucdtest::BuiltType(made);
}

} // namespace

TEST_CASE("Shapes of flattened types that differ in one respect are two shapes") {
    using namespace flat;
    const ucdtest::BuiltType int32 = element_of(5, 4, 2), int64 = element_of(5, 8, 2),
                             float32 = element_of(7, 4, 2), packed32 = element_of(5, 4, 0);
    Shapes s;
    const ShapeId a = s.element(type_of(int32));
    // The shapes of each row differ from each other.
    const ShapeId c = s.element(type_of(int64));
    const std::vector<int64_t> displs{0, 100, 300, 700, 600}, runs{1, 3, 2, 1, 2};
    std::vector<int64_t> twice, wide = displs, long_runs = runs;
    for (const int64_t d : displs) twice.push_back(2 * d);
    wide.back() = 700000;
    long_runs.back() = 300;
    const std::vector<int64_t> even{0, 100, 200, 300, 400}, one_length(5, 3);
    const std::initializer_list<std::vector<std::function<ShapeId()>>> rows{
        {[&] { return s.element(type_of(int32)); }, [&] { return s.element(type_of(int64)); },
         [&] { return s.element(type_of(float32)); }, [&] { return s.element(type_of(packed32)); }},
        {[&] { return s.strided(7, 64, a); }, [&] { return s.strided(8, 64, a); },
         [&] { return s.strided(7, 65, a); }, [&] { return s.strided(7, 64, c); }},
        {[&] { return s.indexed_block(displs, a).id; },
         [&] { return s.indexed_block(exchanged(displs, 2), a).id; },
         [&] { return s.indexed_block(twice, a).id; }, // the same steps in another unit
         [&] { return s.indexed_block(wide, a).id; }, [&] { return s.indexed_block(displs, c).id; },
         [&] { return s.indexed(displs, one_length, 60, a).id; }},
        {[&] { return s.indexed(displs, runs, 16, a).id; },
         [&] { return s.indexed(displs, exchanged(runs, 1), 16, a).id; },
         [&] { return s.indexed(displs, long_runs, 16, a).id; },
         [&] { return s.indexed(displs, one_length, 16, a).id; },
         [&] { return s.indexed(displs, runs, 24, a).id; },
         [&] { return s.indexed(even, runs, 16, a).id; },
         [&] { return s.indexed(twice, runs, 16, a).id; },
         [&] { return s.indexed(displs, runs, 16, c).id; }},
        // Written in one byte each, and in two; the shorter list and what follows it are the bytes
        // of the longer one.
        {[&] {
             return s.indexed({0, 9000, 18000}, {1, 2, 3}, 16, a).id;
         },
         [&] {
             return s.indexed({0, 9000, 18000}, {0x201, 0x103, 0x302}, 16, a).id;
         }},
        {[&] {
             return s.structure({0, 100, 300}, {a, c, a}).id;
         },
         [&] {
             return s.structure({0, 100, 300}, {a, a, c}).id;
         },
         [&] {
             return s.structure({0, 100, 200}, {a, c, a}).id;
         },
         [&] {
             return s.structure({0, 100, 304}, {a, c, a}).id;
         }},
    };
    for (const auto &row : rows) {
        std::vector<ShapeId> ids;
        for (const auto &make : row) ids.push_back(make());
        for (std::size_t i = 0; i < row.size(); ++i)
            for (std::size_t j = 0; j < row.size(); ++j) {
                INFO(i << " and " << j);
                CHECK((row[i]() == ids[j]) == (i == j));
            }
    }
}

namespace {

// Whether values that differ in one field are unequal. Each change is made to a copy.
template <class T>
void check_fields(const T &value, std::initializer_list<void (*)(T &)> changes) {
    CHECK(value == T(value));
    for (const auto change : changes) {
        T other = value;
        change(other);
        CHECK_FALSE(value == other);
    }
}

} // namespace

TEST_CASE("What decides which moves go together is compared field by field") {
    static char backends[2];
    const auto backend = [](int i) { return reinterpret_cast<Backend *>(backends + i); };
    check_fields<Limits>({}, {[](Limits &l) { ++l.threads; }, [](Limits &l) { ++l.max_blocks; },
                              [](Limits &l) { l.engine = Engine::dma; }});
    check_fields<Executor>(
        {backend(0), 1, 0},
        {[](Executor &e) { e.backend = reinterpret_cast<Backend *>(backends + 1); },
         [](Executor &e) { ++e.index; }, [](Executor &e) { ++e.device; }});
    check_fields<Route>({}, {[](Route &r) { r.kind = RouteKind::direct; },
                             [](Route &r) { ++r.from.device; }, [](Route &r) { ++r.to.device; },
                             [](Route &r) { r.from_kind = MemoryKind::pinned; },
                             [](Route &r) { r.to_kind = MemoryKind::pinned; }});
    check_fields<PlainSides>(
        {false, false}, {[](PlainSides &b) { b.from = true; }, [](PlainSides &b) { b.to = true; }});
    check_fields<IndexList>({},
                            {[](IndexList &l) { l.indices = backends; },
                             [](IndexList &l) { l.element = Element::int32; },
                             [](IndexList &l) { l.small = true; }, [](IndexList &l) { ++l.unit; }});
    const int owners[2] = {};
    const auto owner = [&](int i) { return reinterpret_cast<const Backend *>(owners + i); };
    const MemoryLocation here{MemoryKind::device, 1, owner(0), 0, 0, false};
    CHECK(is_same_memory(here, here));
    for (const MemoryLocation &other :
         {MemoryLocation{MemoryKind::managed, 1, owner(0), 0, 0, false},
          MemoryLocation{MemoryKind::device, 2, owner(0), 0, 0, false},
          MemoryLocation{MemoryKind::device, 1, owner(1), 0, 0, false}})
        CHECK_FALSE(is_same_memory(here, other));
}

} // namespace equal_parts_test
