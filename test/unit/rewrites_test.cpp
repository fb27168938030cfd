// Each rewrite of the normaliser by itself: that it was applied, and what the layout became.
#include "support/catch.hpp"
#include "unit/layouts_by_hand.hpp"

#include "layout/layout_text.h"
#include "layout/normalise/builder.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace rewrites_test {

using namespace ucd;

namespace {

using Names = std::vector<std::string_view>;

struct Outcome {
    std::string text;
    Names rewrites; // in the order in which they were applied
    OwnedLayout layout;

    bool by(std::string_view name) const { return std::ranges::count(rewrites, name) != 0; }
};

using Make = std::function<Placed(Builder &)>;
#define LAYOUT(...) [&](Builder &b) -> Placed { return __VA_ARGS__; }

Outcome outcome_of(const Make &make) {
    std::vector<const char *> trace;
    Builder builder(&trace);
    OwnedLayout layout = builder.finish(make(builder));
    return {to_text(layout), {trace.begin(), trace.end()}, std::move(layout)};
}

void check_text(std::string_view text, const Make &make) {
    CHECK(outcome_of(make).text == text);
}
// That a rewrite is applied among others, that it is the only one, and that none is.
void check_by(std::string_view name, std::string_view text, const Make &make) {
    check_text(text, make);
    CHECK(outcome_of(make).by(name));
}
void check_only(std::string_view name, std::string_view text, const Make &make) {
    check_text(text, make);
    CHECK(outcome_of(make).rewrites == Names{name});
}
void check_none(std::string_view text, const Make &make) {
    check_text(text, make);
    CHECK(outcome_of(make).rewrites.empty());
}

Placed bytes(Builder &b, uint64_t n, int64_t at = 0) {
    return b.block(at, n, Element::none);
}

uint64_t list_entries(const Layout &layout) {
    uint64_t entries = 0;
    for (const Table &t : layout.tables) entries += t.displs.size();
    return entries;
}

// More segments than layouts have that are normalised from the list of them.
Placed many(Builder &b, int64_t at = 0) {
    return b.strided(2000, 16, bytes(b, 8, at));
}
Placed many_others(Builder &b, int64_t at = 0) {
    return b.strided(3000, 8, bytes(b, 4, at));
}

Placed moved(Placed p, int64_t by) {
    return {p.at + by, p.id};
}

} // namespace

TEST_CASE("Layouts without a rewrite") {
    check_none("@-8 block(24)", LAYOUT(bytes(b, 24, -8)));
    check_none("@4 strided(3, 64) strided(5, 10) block(8)",
               LAYOUT(b.strided(3, 64, b.strided(5, 10, bytes(b, 8, 4)))));
    check_none("@8 indexed_block(3; 0, 16, 92) block(8)",
               LAYOUT(b.indexed_block({8, 24, 100}, bytes(b, 8))));
    check_text("@0 indexed_block(4; 0, 24, 32, 100) block(4)",
               LAYOUT(b.indexed({0, 24, 100}, ucdtest::sums_of({1, 2, 1}), 8, bytes(b, 4))));
    CHECK(to_text(Layout{}) == "empty");
}

TEST_CASE("Equal nodes are one node") {
    const Outcome o = outcome_of(
        LAYOUT(b.structure({many(b), many_others(b, 50000), many(b, 90000), bytes(b, 3, 200000)})));
    CHECK(o.text == "@0 [@0 strided(2000, 16) block(8), @50000 strided(3000, 8) block(4), "
                    "@90000 strided(2000, 16) block(8), @200000 block(3)]");
    CHECK(o.layout->nodes.size() == 6); // a structure, two strides, three blocks
}

TEST_CASE("Nodes that rewrites left unused are not kept") {
    const Outcome o = outcome_of(LAYOUT(b.strided(4, 8, b.strided(2, 4, bytes(b, 4)))));
    CHECK(o.text == "@0 block(32)");
    CHECK(o.layout->nodes.size() == 1);
    CHECK(o.layout->tables.empty());
    CHECK(o.layout->depth == 1);
}

TEST_CASE("drop-empty") {
    for (const auto &make : std::vector<Make>{
             LAYOUT(b.strided(0, 8, bytes(b, 8))),
             LAYOUT(b.strided(7, 8, Placed{})),
             LAYOUT(b.indexed_block({}, bytes(b, 8))),
             LAYOUT(b.indexed_block({0, 8}, Placed{})),
             LAYOUT(b.indexed({}, ucdtest::sums_of({}), 8, bytes(b, 8))),
             LAYOUT(b.indexed({0}, ucdtest::sums_of({3}), 8, Placed{})),
             LAYOUT(b.structure({Placed{}, Placed{}})),
         })
        check_only("drop-empty", "empty", make);
    check_text("empty", LAYOUT(bytes(b, 0)));
    check_text("empty", LAYOUT(b.structure({})));
    check_text("empty", LAYOUT(b.indexed({0, 9}, ucdtest::sums_of({0, 0}), 8, bytes(b, 4))));
    check_text("empty", LAYOUT(b.indexed({0, 9}, ucdtest::sums_of({0, 0}), 8, many(b))));
    check_by("drop-empty", "@3 block(8)",
             LAYOUT(b.structure({Placed{}, bytes(b, 8, 3), Placed{}})));
}

TEST_CASE("collapse-single") {
    check_only("collapse-single", "@5 strided(3, 16) block(8)",
               LAYOUT(b.strided(1, 999, b.strided(3, 16, bytes(b, 8, 5)))));
    check_text("@42 strided(2000, 16) block(8)", LAYOUT(b.indexed_block({40}, many(b, 2))));
    check_text("@42 strided(2000, 16) block(8)",
               LAYOUT(b.indexed({40}, ucdtest::sums_of({1}), 8, many(b, 2))));
    check_text("@2 strided(2000, 16) block(8)", LAYOUT(b.structure({many(b, 2)})));
}

TEST_CASE("merge-touching") {
    check_only("merge-touching", "@3 block(48)", LAYOUT(b.strided(6, 8, bytes(b, 8, 3))));
    // In lists of one and of own lengths.
    check_only("merge-touching", "@0 indexed(stride 8, 2; 3@0, 1@40) block(8)",
               LAYOUT(b.indexed_block({0, 8, 16, 40}, bytes(b, 8))));
    check_by("merge-touching", "@0 indexed(stride 4, 2; 5@0, 1@40) block(4)",
             LAYOUT(b.indexed({0, 8, 40}, ucdtest::sums_of({2, 3, 1}), 4, bytes(b, 4))));
    check_only("merge-touching", "@4 block(12)", [](Builder &b) {
        BlockList list;
        list.push(4, 4);
        list.push(8, 2);
        list.push(77, 0);
        list.push(10, 6);
        return b.fold_blocks(list);
    });
    // Not if they touch in memory but not in order, or overlap.
    check_text("@8 strided(2, -8) block(8)", LAYOUT(b.indexed_block({8, 0}, bytes(b, 8))));
    check_text("@0 strided(3, 0) block(8)", LAYOUT(b.strided(3, 0, bytes(b, 8))));
    // Of a structure, and only blocks of one element.
    check_by("merge-touching", "@0 [@0 block(14), @100 strided(2000, 16) block(8)]",
             LAYOUT(b.structure({bytes(b, 8), bytes(b, 4, 8), bytes(b, 2, 12), many(b, 100)})));
    check_text("@0 [@0 block(8):1, @8 block(4):2]", [](Builder &b) {
        const Element e = static_cast<Element>(1), f = static_cast<Element>(2);
        return b.structure({b.block(0, 4, e), b.block(4, 4, e), b.block(8, 4, f)});
    });
    CHECK_FALSE(outcome_of(LAYOUT(b.structure({bytes(b, 8), many(b, 100)}))).by("merge-touching"));
}

TEST_CASE("collapse-nested-strides") {
    check_only("collapse-nested-strides", "@0 strided(15, 10) block(8)",
               LAYOUT(b.strided(5, 30, b.strided(3, 10, bytes(b, 8)))));
    check_by("collapse-nested-strides", "@0 strided(15, -10) strided(2000, 16) block(8)",
             LAYOUT(b.strided(5, -30, b.strided(3, -10, many(b)))));
    check_none("@0 strided(5, 31) strided(3, 10) block(8)",
               LAYOUT(b.strided(5, 31, b.strided(3, 10, bytes(b, 8)))));
}

TEST_CASE("progression") {
    check_only("progression", "@100 strided(4, -10) block(8)",
               LAYOUT(b.indexed_block({100, 90, 80, 70}, bytes(b, 8))));
    Outcome o = outcome_of(LAYOUT(b.indexed_block({0, 10, 20, 100, 110, 120}, bytes(b, 8))));
    CHECK(o.text == "@0 strided(2, 100) strided(3, 10) block(8)");
    CHECK(o.rewrites == Names{"progression", "progression"});
    check_text(
        "@0 strided(3, 1000) strided(2, 100) strided(2, 10) block(8)",
        LAYOUT(b.indexed_block({0, 10, 100, 110, 1000, 1010, 1100, 1110, 2000, 2010, 2100, 2110},
                               bytes(b, 8))));
    // Equal runs at displacements of their own.
    check_text("@0 indexed_block(4; 0, 100, 120, 170) strided(2, 10) block(8)",
               LAYOUT(b.indexed_block({0, 10, 100, 110, 120, 130, 170, 180}, bytes(b, 8))));
    // Over what is not a block.
    check_by("progression", "@0 strided(3, 7) strided(2000, 16) block(8)",
             LAYOUT(b.indexed_block({0, 7, 14}, many(b))));
}

TEST_CASE("period") {
    // Of a list of equal blocks, of own lengths, of runs, and of a structure.
    check_only("period", "@0 strided(3, 100) indexed_block(3; 0, 10, 30) block(8)",
               LAYOUT(b.indexed_block({0, 10, 30, 100, 110, 130, 200, 210, 230}, bytes(b, 8))));
    check_by("period", "@0 strided(2, 100) indexed(stride 4, 2; 2@0, 1@20) block(4)",
             LAYOUT(b.indexed({0, 20, 100, 120}, ucdtest::sums_of({2, 1, 2, 1}), 4, bytes(b, 4))));
    check_by("period",
             "@0 strided(2, 7000000) indexed(stride 50000, 2; 9@0, 4@1000000) "
             "strided(2000, 16) block(8)",
             LAYOUT(b.indexed({0, 1000000, 7000000, 8000000}, ucdtest::sums_of({9, 4, 9, 4}), 50000,
                              many(b))));
    check_by("period",
             "@0 strided(3, 1000000) [@0 strided(2000, 16) block(8), "
             "@50000 strided(3000, 8) block(4)]",
             [](Builder &b) {
                 std::vector<Placed> entries;
                 for (int64_t at : {0, 1000000, 2000000}) {
                     entries.push_back(many(b, at));
                     entries.push_back(many_others(b, at + 50000));
                 }
                 return b.structure(entries);
             });
    // One repetition that differs in its steps or lengths is none.
    CHECK_FALSE(
        outcome_of(LAYOUT(b.indexed_block({0, 10, 30, 100, 110, 131}, bytes(b, 8)))).by("period"));
    CHECK_FALSE(outcome_of(LAYOUT(b.indexed({0, 20, 100, 120}, ucdtest::sums_of({2, 1, 2, 3}), 4,
                                            bytes(b, 4))))
                    .by("period"));
}

TEST_CASE("runs-of-a-list") {
    const std::vector<int64_t> displs{0, 10, 20, 30, 40, 100, 110, 120, 130, 140, 150};
    check_only("runs-of-a-list", "@0 indexed(stride 10, 2; 5@0, 6@100) block(8)",
               LAYOUT(b.indexed_block(displs, bytes(b, 8))));
    // Short runs stay a list.
    check_text("@0 indexed_block(5; 0, 10, 20, 100, 110) block(8)",
               LAYOUT(b.indexed_block({0, 10, 20, 100, 110}, bytes(b, 8))));
}

TEST_CASE("list-of-runs") {
    check_by("list-of-runs",
             "@0 indexed_block(5; 0, 400000, 450000, 500000, 1000000) strided(2000, 16) block(8)",
             LAYOUT(b.indexed({0, 400000, 1000000}, ucdtest::sums_of({1, 3, 1}), 50000, many(b))));
    // Both ways into the same decision end alike.
    for (uint64_t length = 2; length < 10; ++length) {
        const std::vector<int64_t> starts{0, 5000000, 9000000};
        const std::vector<uint64_t> counts{length, 2 * length + 1, length + 1};
        std::vector<int64_t> displs;
        for (std::size_t i = 0; i < starts.size(); ++i)
            for (uint64_t j = 0; j < counts[i]; ++j)
                displs.push_back(starts[i] + static_cast<int64_t>(j) * 50000);
        CHECK(
            outcome_of(LAYOUT(b.indexed(starts, ucdtest::sums_of(counts), 50000, many(b)))).text ==
            outcome_of(LAYOUT(b.indexed_block(displs, many(b)))).text);
    }
}

TEST_CASE("common-run-length") {
    check_by("common-run-length",
             "@0 indexed_block(4; 0, 400000, 500000, 1000000) strided(2, 50000) "
             "strided(2000, 16) block(8)",
             LAYOUT(b.indexed({0, 400000, 1000000}, ucdtest::sums_of({2, 4, 2}), 50000, many(b))));
    check_by("common-run-length",
             "@0 indexed_block(3; 0, 400000, 1000000) strided(3, 50000) strided(2000, 16) block(8)",
             LAYOUT(b.indexed({0, 400000, 1000000}, ucdtest::sums_of({3, 3, 3}), 50000, many(b))));
}

TEST_CASE("from-segments") {
    // Blocks that grow together across iterations, of strides and of lists.
    check_by("from-segments", "@0 indexed(stride 8, 5; 1@0, 2@24, 2@56, 2@88, 1@120) block(8)",
             LAYOUT(b.strided(4, 32, b.strided(2, 24, bytes(b, 8)))));
    check_by("from-segments", "@0 indexed(stride 8, 5; 1@0, 2@24, 1@56, 1@100, 1@124) block(8)",
             LAYOUT(b.indexed_block({0, 32, 100}, b.strided(2, 24, bytes(b, 8)))));
    // A list of lists is one list.
    check_by("from-segments",
             "@0 indexed_block(9; 0, 10, 30, 1000, 1010, 1030, 1700, 1710 ...) block(8)",
             LAYOUT(b.indexed_block({0, 1000, 1700}, b.indexed_block({0, 10, 30}, bytes(b, 8)))));
    check_by(
        "from-segments", "@0 strided(5, 16) block(8)",
        LAYOUT(b.structure({b.strided(3, 16, bytes(b, 8)), b.strided(2, 16, bytes(b, 8, 48))})));
    // Up to 1024 segments: the next list of them keeps its levels.
    const auto squares = [](Builder &b) { return b.indexed_block({0, 10, 40, 90}, bytes(b, 8)); };
    Outcome o =
        outcome_of(LAYOUT(b.indexed({0, 90000}, ucdtest::sums_of({255, 1}), 300, squares(b))));
    CHECK(o.by("from-segments"));
    o = outcome_of(LAYOUT(b.indexed({0, 90000}, ucdtest::sums_of({256, 1}), 300, squares(b))));
    CHECK_FALSE(o.by("from-segments"));
    CHECK(o.text ==
          "@0 indexed(stride 300, 2; 256@0, 1@90000) indexed_block(4; 0, 10, 40, 90) block(8)");
}

TEST_CASE("splice-structures") {
    check_by("splice-structures",
             "@-100 [@0 block(3), @1100 strided(2000, 16) block(8), "
             "@51100 strided(3000, 8) block(4)]",
             [](Builder &b) {
                 const Placed inner = b.structure({many(b), many_others(b, 50000)});
                 return b.structure({bytes(b, 3, -100), moved(inner, 1000)});
             });
    // One shape repeated is a list instead.
    const Outcome list = outcome_of([](Builder &b) {
        const Placed inner = b.structure({many(b), many_others(b, 50000)});
        return b.structure({inner, moved(inner, 1000000), moved(inner, 5000000)});
    });
    CHECK(list.text == "@0 indexed_block(3; 0, 1000000, 5000000) [@0 strided(2000, 16) block(8), "
                       "@50000 strided(3000, 8) block(4)]");
    CHECK_FALSE(list.by("splice-structures"));
}

namespace {

// So many children of two shapes by turns, at distances without a pattern.
std::vector<Placed> by_turns(Builder &b, int64_t count, int64_t at) {
    std::vector<Placed> all;
    for (int64_t i = 0; i < count; ++i)
        all.push_back(moved(i % 2 == 0 ? many(b) : many_others(b), at + i * 100000 + i * i % 977));
    return all;
}

} // namespace

TEST_CASE("structures are spliced up to twice the entries that there were") {
    constexpr int64_t inner = 700;
    for (const int64_t others : {inner - 3, inner - 2}) {
        const Outcome o = outcome_of([=](Builder &b) {
            std::vector<Placed> all = by_turns(b, others, int64_t{1} << 40);
            all.push_back(b.structure(by_turns(b, inner, 0)));
            return b.structure(std::move(all));
        });
        // The inner one is an entry, too.
        const bool spliced = inner + others <= 2 * (others + 1);
        INFO(others << " beside it");
        CHECK(o.by("splice-structures") == spliced);
        CHECK(o.layout->top().count ==
              static_cast<uint64_t>(spliced ? inner + others : others + 1));
    }
}

TEST_CASE("Equal lists are one list, however long the others are") {
    constexpr int64_t lists = 20;
    const Outcome o = outcome_of([](Builder &b) {
        std::vector<Placed> all;
        for (const int64_t factor : {7, 3})
            for (int64_t k = 0; k < lists; ++k) {
                const int64_t count = 70 + k * factor % lists;
                std::vector<int64_t> displs;
                for (int64_t i = 0; i < count; ++i) displs.push_back(20 * i + i * i % 211 % 13);
                const auto number = static_cast<int64_t>(all.size());
                all.push_back(moved(b.indexed_block(std::move(displs), bytes(b, 4)),
                                    number * 100000 + number * number % 977));
            }
        return b.structure(std::move(all));
    });
    CHECK(o.layout->top().kind == NodeKind::structure);
    CHECK(o.layout->top().count == 2 * lists);
    CHECK(o.layout->tables.size() == lists + 1);
}

TEST_CASE("What becomes part of a longer segment is none") {
    // The last run, the shortest, is touched by the first block behind it.
    const Outcome o = outcome_of([](Builder &b) {
        std::vector<int64_t> displs;
        std::vector<uint64_t> counts;
        for (int64_t i = 0; i < 2000; ++i) {
            displs.push_back(100 * i + i * i % 5 * 8);
            counts.push_back(i == 1999 ? 1 : 2 + static_cast<uint64_t>(i * i % 7 % 3));
        }
        const int64_t end = displs.back() + 8;
        const Placed runs = b.indexed(std::move(displs), ucdtest::sums_of(counts), 8, bytes(b, 8));
        return b.structure({runs, b.strided(2000, 64, bytes(b, 32, end))});
    });
    const Segments &s = o.layout->top().segments;
    CHECK(s.count == 3999);
    CHECK(std::min({s.first_bytes, s.inner_min, s.last_bytes}) == 16);
    CHECK(std::max({s.first_bytes, s.inner_max, s.last_bytes}) == 40);
}

TEST_CASE("The shortest and the longest segment of a structure are those of any of its parts") {
    for (const uint64_t other : {4, 100})
        for (const uint64_t count : {1, 3})
            for (int place = 0; place < 3; ++place) {
                const Outcome o = outcome_of([&](Builder &b) {
                    std::vector<Placed> parts;
                    for (int64_t i = 0; i < 3; ++i)
                        parts.push_back(i == place
                                            ? b.strided(count, 200, bytes(b, other, 100000 * i))
                                            : many(b, 100000 * i));
                    return b.structure(std::move(parts));
                });
                const Segments &s = o.layout->top().segments;
                INFO(other << " bytes, " << count << " times, as part " << place);
                CHECK(o.layout->top().kind == NodeKind::structure);
                CHECK(s.count == 4000 + count);
                CHECK(std::min({s.first_bytes, s.inner_min, s.last_bytes}) ==
                      std::min<uint64_t>(other, 8));
                CHECK(std::max({s.first_bytes, s.inner_max, s.last_bytes}) ==
                      std::max<uint64_t>(other, 8));
            }
}

TEST_CASE("structure-of-bytes") {
    check_by("structure-of-bytes", "@0 indexed(stride 4, 2; 1@0, 3@8) block(4)",
             LAYOUT(b.structure({bytes(b, 4), bytes(b, 8, 8), bytes(b, 4, 16)})));
    check_text("@0 strided(3, 8) block(4)",
               LAYOUT(b.structure({bytes(b, 4), bytes(b, 4, 8), bytes(b, 4, 16)})));
}

TEST_CASE("same-shape-index") {
    check_by("same-shape-index", "@0 indexed_block(3; 0, 50000, 700000) strided(2000, 16) block(8)",
             LAYOUT(b.structure({many(b), many(b, 50000), many(b, 700000)})));
}

TEST_CASE("What is implied many times over is not written out each time") {
    // A list of 1000 blocks, which each of many structs has beside a byte of its own.
    constexpr int64_t structs = 20000;
    const Outcome o = outcome_of([](Builder &b) {
        std::vector<int64_t> displs;
        for (int64_t i = 0; i < 1000; ++i) displs.push_back(16 * i + i * i % 7);
        b.described(displs.size());
        const Placed list = b.indexed_block(displs, bytes(b, 8));
        std::vector<Placed> all;
        for (int64_t i = 0; i < structs; ++i) {
            b.described(2);
            all.push_back(moved(b.structure({list, bytes(b, 1, 20000 + i)}), 50000 * i));
        }
        b.described(all.size());
        return b.structure(std::move(all));
    });
    CHECK(o.layout->nodes[o.layout->root].bytes == structs * 8001);
    // Each has something of its own, so what all were given is not more than was allowed.
    CHECK(list_entries(o.layout) < (uint64_t{1} << 20) + 17 * 3 * structs + 1000);
}

TEST_CASE("runs-of-one-shape") {
    const auto times = [](Builder &b, uint64_t n, int64_t at) {
        return moved(b.strided(n, 50000, many(b)), at);
    };
    check_by("runs-of-one-shape",
             "@0 indexed(stride 50000, 3; 9@0, 1@1000000, 4@3000000) strided(2000, 16) block(8)",
             LAYOUT(b.structure({times(b, 9, 0), times(b, 1, 1000000), times(b, 4, 3000000)})));
    // Wherever the single one stands: it has strides of its own.
    check_by("runs-of-one-shape",
             "@0 indexed(stride 50000, 3; 1@0, 9@1000000, 4@3000000) strided(2000, 16) block(8)",
             LAYOUT(b.structure({times(b, 1, 0), times(b, 9, 1000000), times(b, 4, 3000000)})));
    // The shape may be a structure.
    check_by("runs-of-one-shape",
             "@0 indexed(stride 200000, 3; 9@0, 1@5000000, 4@9000000) "
             "[@0 strided(2000, 16) block(8), @50000 strided(3000, 8) block(4)]",
             [](Builder &b) {
                 const Placed one = b.structure({many(b), many_others(b, 50000)});
                 return b.structure({b.strided(9, 200000, one), moved(one, 5000000),
                                     moved(b.strided(4, 200000, one), 9000000)});
             });
}

TEST_CASE("group-neighbours") {
    // Neighbours of one shape.
    check_by(
        "group-neighbours",
        "@0 [@0 indexed_block(3; 0, 50000, 170000) strided(2000, 16) block(8), "
        "@900000 strided(3000, 8) block(4)]",
        LAYOUT(b.structure({many(b), many(b, 50000), many(b, 170000), many_others(b, 900000)})));
    // Neighbours of few segments.
    check_by("group-neighbours",
             "@0 [@0 indexed(stride 4, 4; 1@0, 2@8, 2@24, 1@100) block(4), "
             "@900000 strided(2000, 16) block(8)]",
             LAYOUT(b.structure({bytes(b, 4), b.strided(2, 16, bytes(b, 8, 8)), bytes(b, 4, 100),
                                 many(b, 900000)})));
}

} // namespace rewrites_test
