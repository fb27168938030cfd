// What ucd_describe writes: the keys that ucd.h promises, and the steps to the layout.
#include "support/catch.hpp"

#include "support/moves/flat_bytes.hpp"
#include "support/moves/recipe_build.hpp"
#include "support/oracle/predefined.hpp"
#include "support/random/random_cases.hpp"
#include "support/random/random_recipe.hpp"

#include <ucd.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace describe_test {

using namespace ucdtest;

namespace {

using Lines = std::map<std::string, std::vector<std::string>>;

Lines lines_of(ucd::TypeRef type) {
    const std::string text = type.describe();
    Lines lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at), colon = text.find(": ", at);
        REQUIRE(end != std::string::npos);
        REQUIRE(colon < end);
        lines[text.substr(at, colon - at)].push_back(text.substr(colon + 2, end - colon - 2));
        at = end + 1;
    }
    return lines;
}

std::string word_for(ucd_type_t type) {
    std::string word = predefined(type).name;
    for (char &c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return word;
}

// What a description says of a type's constructors, from its recipe.
class Tree {
public:
    std::vector<std::string> lines;

    void add(const RecipePtr &recipe, std::size_t depth = 0, std::size_t times = 1) {
        indentation_ = std::string(2 * depth, ' ');
        if (times > 1) indentation_ += std::to_string(times) + " times ";
        std::visit([&](const auto &node) { say(node, depth + 1); }, recipe->node);
    }

private:
    // What a description says of a constructor's arguments, and the types that it does not say
    // there.
    struct Arguments {
        std::string text;
        std::vector<RecipePtr> below;

        void number(std::intptr_t n) { add(std::to_string(n)); }
        template <class T>
        void list(const std::vector<T> &values) {
            std::string all;
            for (std::size_t i = 0; i < values.size() && i < 16; ++i)
                all += (i == 0 ? "" : ",") + std::to_string(values[i]);
            add('[' + all + (values.size() > 16 ? ",...]" : "]"));
        }
        void distribution_args(const Ints &values) { list(values); }
        void distributions(const std::vector<int> &values) {
            std::string all;
            for (const int distrib : values)
                all += std::string(all.empty() ? "" : ",") +
                       (distrib == UCD_DISTRIBUTE__BLOCK    ? "BLOCK"
                        : distrib == UCD_DISTRIBUTE__CYCLIC ? "CYCLIC"
                                                            : "NONE");
            add('[' + all + ']');
        }
        void order(int order) { add(order == UCD_ORDER__C ? "C" : "FORTRAN"); }
        void type(const RecipePtr &old) { below.push_back(old); }
        void types(const std::vector<RecipePtr> &old) { below = old; }
        void add(const std::string &argument) { text += (text.empty() ? "" : ", ") + argument; }
    };

    void constructor(const char *name, const Arguments &arguments, std::size_t depth) {
        lines.push_back(indentation_ + name + '(' + arguments.text + ')');
        const auto same = [](const RecipePtr &a, const RecipePtr &b) {
            const Leaf *one = std::get_if<Leaf>(&a->node), *other = std::get_if<Leaf>(&b->node);
            return a == b || (one != nullptr && other != nullptr && one->type == other->type);
        };
        const std::vector<RecipePtr> &below = arguments.below;
        for (std::size_t i = 0, next; i < below.size(); i = next) {
            next = i + 1;
            while (next < below.size() && same(below[i], below[next])) ++next;
            add(below[i], depth, next - i);
        }
    }

    template <class Node>
    void say(const Node &node, std::size_t depth) {
        Arguments arguments;
        visit_arguments(node, arguments);
        constructor(Node::name, arguments, depth);
    }
    void say(const Leaf &l, std::size_t) { lines.push_back(indentation_ + word_for(l.type)); }
    void say(const IndexedBlockRef &b, std::size_t depth) {
        char address[32];
        std::snprintf(address, sizeof address, "%p", b.memory.get());
        Arguments arguments;
        arguments.number(static_cast<std::intptr_t>(b.indices.size()));
        arguments.number(b.blocklength);
        arguments.add(address);
        arguments.add(word_for(b.index_type));
        for (const std::intptr_t n : {b.unit, b.lb, b.extent}) arguments.number(n);
        arguments.type(b.old);
        constructor("indexed_block_ref", arguments, depth);
    }

    std::string indentation_;
};

} // namespace

TEST_CASE("descriptions name all constructors with their arguments") {
    run_cases("description of constructors", 2000, [](Case &one) {
        const RandomType t = random_type(one.rng());
        one.about("type", t.recipe);
        const BuiltType built(t.recipe);
        Tree tree;
        tree.add(t.recipe);
        constexpr std::size_t most = 64;
        if (tree.lines.size() > most) {
            tree.lines.resize(most);
            tree.lines.push_back("...");
        }
        const std::vector<std::string> lines = lines_of(built.get()).at("type");
        for (std::size_t i = 0; i < std::max(lines.size(), tree.lines.size()); ++i)
            if (i >= lines.size() || i >= tree.lines.size() || lines[i] != tree.lines[i])
                one.fail("line ", i, " is \"", i < lines.size() ? lines[i] : "", "\", not \"",
                         i < tree.lines.size() ? tree.lines[i] : "", "\"");
    });
}

TEST_CASE("descriptions have the promised keys, and agree with the queries") {
    run_cases("description", 1000, [](Case &one) {
        const RandomType t = random_type(one.rng());
        one.about("type", t.recipe);
        const BuiltType built(t.recipe);
        const ucd::TypeRef type = built.get();
        Lines lines = lines_of(type);
        const auto number = [&](const char *key) { return std::stoll(lines.at(key).at(0)); };
        const ucd::Bounds bounds = type.extent(), touched = type.true_extent();
        if (number("lb") != bounds.lb || number("extent") != bounds.extent ||
            number("true_lb") != touched.lb || number("true_extent") != touched.extent ||
            number("size") != static_cast<intptr_t>(type.size()))
            one.fail("other bounds");
        const ucd_layout_t layout = type.layout();
        if (number("segments") != static_cast<intptr_t>(layout.segments))
            one.fail("other segments");
        if (number("flattened") != static_cast<intptr_t>(ucd::flatten(type).size()))
            one.fail("another flattened size");
        if (number("alignment") < 1 || number("memory") < 0) one.fail("alignment or memory");
        if (lines.at("explicit_bounds").size() != 1) one.fail("explicit_bounds");
        // Kernels move what there is to move.
        if (lines.contains("kernel") != (type.size() > 0)) one.fail("kernels");
        // The last constructor's layout is the layout, if all steps are shown.
        if (lines.contains("step") && lines.at("step").back() != "...") {
            const std::string &last = lines.at("step").back(), &whole = lines.at("layout").at(0);
            const std::size_t arrow = last.find(" -> ");
            if (last.compare(arrow + 4, whole.size(), whole) != 0)
                one.fail("the last step is ", last, ", the layout ", whole);
        }
    });
}

TEST_CASE("steps name constructors, results and rewrites") {
    const ucd::Type row = ucd::Type::contig(4, UCD_TYPE__INT);
    const Lines lines = lines_of(ucd::Type::vector(3, 1, 2, row));
    REQUIRE(lines.at("step").size() == 2);
    CHECK(lines.at("step")[0] == "contig -> @0 block(16) by merge-touching");
    CHECK(lines.at("step")[1] == "vector -> @0 strided(3, 32) block(16) by collapse-single");
    CHECK(lines.at("type") ==
          std::vector<std::string>{"vector(3, 1, 2)", "  contig(4)", "    int"});
    // What several members share is one step.
    const ucd::Type pair =
        ucd::Type::structure({1, 1, 1}, {0, 16, 24}, {row.get(), UCD_TYPE__INT8_T, row.get()});
    REQUIRE(lines_of(pair).at("step").size() == 2);
    CHECK(lines_of(pair).at("step")[0] == lines.at("step")[0]);
}

TEST_CASE("descriptions of deep types are cut short") {
    ucd::Type type = ucd::Type::dup(UCD_TYPE__INT);
    for (int i = 0; i < 1000; ++i) type = ucd::Type::hvector(1, 1, 8, type);
    const Lines lines = lines_of(type);
    CHECK(lines.at("type").back() == "...");
    CHECK(lines.at("step").back() == "...");
    CHECK(lines.at("type").size() < 100);
    CHECK(lines.at("step").size() < 100);
    // Every level costs something, and shared ones cost once.
    const auto held = [](ucd::TypeRef t) { return std::stoll(lines_of(t).at("memory").at(0)); };
    CHECK(held(type) > 1000 * 64);
    const ucd_type_t twice[] = {type.get(), type.get()};
    CHECK(held(ucd::Type::structure({1, 1}, {0, 100}, twice)) < 2 * held(type));
    CHECK(held(UCD_TYPE__DOUBLE) == 0);
    // Of each member of a structure a length, a displacement and a type.
    const auto members = [&](std::size_t n) {
        const std::vector<std::intptr_t> ones(n, 1);
        std::vector<std::intptr_t> displs;
        for (std::size_t i = 0; i < n; ++i) displs.push_back(static_cast<std::intptr_t>(8 * i));
        return held(ucd::Type::structure(ones, displs, std::vector<ucd_type_t>(n, UCD_TYPE__INT)));
    };
    CHECK(members(2000) - members(1000) >= 1000 * 3 * 8);
}

// A description is linear in the number of different parts, however often they come again.
TEST_CASE("descriptions of shared parts do not expand") {
    const auto tower = [](int levels) {
        std::vector<ucd::Type> parts;
        parts.push_back(ucd::Type::hindexed({1, 2, 3}, {0, 1 << 20, 1 << 22}, UCD_TYPE__INT));
        for (int level = 0; level < levels; ++level) {
            // Different enough to stay as they are.
            std::vector<intptr_t> displs;
            std::vector<ucd_type_t> members;
            for (int i = 0; i < 8; ++i) {
                displs.push_back(intptr_t{1} << (23 + level * 4) | (i * i * 7919 % 4096) << 4);
                members.push_back(parts[parts.size() - 1 - (level > 1 && i % 3 == 0)].get());
            }
            const std::vector<intptr_t> ones(8, 1);
            parts.push_back(ucd::Type::structure(ones, displs, members));
        }
        return ucd::Type::dup(parts.back());
    };
    for (const int levels : {4, 6, 8}) {
        const std::string text = tower(levels).describe();
        CHECK(text.size() < 20000);
        CHECK(text.find(" #1:") != std::string::npos);
        // Only what comes again has a number.
        for (int number = 1;; ++number) {
            const std::string name = " #" + std::to_string(number);
            if (text.find(name + ':') == std::string::npos) break;
            INFO(name);
            std::size_t uses = 0;
            for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++uses) {
                at += name.size();
                uses -= at < text.size() && text[at] >= '0' && text[at] <= '9';
            }
            CHECK(uses > 1);
        }
    }
}

TEST_CASE("descriptions name the first lists of indices by reference") {
    static std::int64_t indices[70][2];
    std::vector<ucd::Type> parts;
    std::vector<std::intptr_t> displs;
    std::vector<ucd_type_t> members;
    for (auto &list : indices) {
        ucd_type_t part = UCD_TYPE__NULL;
        REQUIRE(ucd_create_indexed_block_ref(2, 1, list, UCD_TYPE__INT64_T, 8, 0, 64,
                                             UCD_TYPE__DOUBLE, nullptr, &part) == UCD_SUCCESS);
        parts.emplace_back(part);
        displs.push_back(static_cast<std::intptr_t>(64 * displs.size()));
        members.push_back(part);
    }
    const std::vector<std::intptr_t> ones(members.size(), 1);
    const std::vector<std::string> lists =
        lines_of(ucd::Type::structure(ones, displs, members)).at("indices");
    REQUIRE(lists.size() == 65);
    for (std::size_t i = 0; i < 64; ++i) CHECK(lists[i].substr(0, 16) == "2 of int64_t at ");
    CHECK(lists.back() == "...");
}

TEST_CASE("a description that does not fit says what it needs") {
    std::uintptr_t needed = 0;
    std::vector<char> text(10000, 'x');
    CHECK(ucd_describe(UCD_TYPE__INT, nullptr, 0, &needed) == UCD_SUCCESS);
    REQUIRE(needed < text.size());
    CHECK(ucd_describe(UCD_TYPE__INT, text.data(), needed - 1, &needed) == UCD_ERR__TRUNCATED);
    CHECK(std::string(ucd_last_error()) == "ucd_describe: text_size is " +
                                               std::to_string(needed - 1) + "; the text needs " +
                                               std::to_string(needed) + " bytes");
    CHECK(text[0] == 'x');
    CHECK(ucd_describe(UCD_TYPE__INT, text.data(), needed, &needed) == UCD_SUCCESS);
    CHECK(text[needed - 1] == '\0');
    CHECK(text[needed] == 'x');
}

TEST_CASE("descriptions of flattened types name rows and their blocks") {
    const auto tree = [](const ucd::Type &type) {
        return lines_of(ucd::unflatten(ucd::flatten(type))).at("type");
    };
    using Words = std::vector<std::string>;
    CHECK(tree(ucd::Type::vector(3, 2, 5, UCD_TYPE__INT)) ==
          Words{"resized(0, 48)", "  hvector(3, 2, 20)", "    int32_t"});
    CHECK(tree(ucd::Type::contig(7, UCD_TYPE__INT)) ==
          Words{"resized(0, 28)", "  contig(7)", "    int32_t"});
    CHECK(tree(ucd::Type::vector(3, 1, 5, UCD_TYPE__INT)) ==
          Words{"resized(0, 44)", "  hvector(3, 1, 20)", "    int32_t"});
    // What follows each other without a gap is as many of one, whatever they are.
    const ucd::Type pair =
        ucd::Type::structure({1, 1}, {0, 4}, {UCD_TYPE__INT16_T, UCD_TYPE__INT32_T});
    CHECK(tree(ucd::Type::contig(3, pair)) == Words{"resized(0, 24)", "  contig(3)",
                                                    "    struct([1,1], [0,4])", "      int16_t",
                                                    "      int32_t"});
}

TEST_CASE("descriptions name elements that this machine lacks foreign") {
    const bool has_binary128 = std::numeric_limits<long double>::digits == 113;
    FlatNodes nodes;
    nodes.element(has_binary128 ? 9 : 7, 16, 4);
    FlatNodes::Root root;
    root.extent = 16;
    root.alignment_log = 4;
    const FlatBytes bytes = nodes.sealed(root);
    ucd_type_t handle = UCD_TYPE__NULL;
    REQUIRE(ucd_unflatten(&handle, bytes.data(), bytes.size()) == UCD_SUCCESS);
    const BuiltType type(handle);
    CHECK(lines_of(ucd::TypeRef(handle)).at("type").back() == "  foreign");
}

TEST_CASE("kernels for several are described where there can be several") {
    const auto kernels = [](ucd::TypeRef type) {
        const Lines lines = lines_of(type);
        std::size_t n = 0;
        for (const std::string &line : lines.at("kernel")) n += line.starts_with("seq, ");
        return n;
    };
    CHECK(kernels(ucd::Type::contig(INT64_MAX / 16, UCD_TYPE__DOUBLE)) == 2);
    CHECK(kernels(ucd::Type::contig(INT64_MAX / 16 + 1, UCD_TYPE__DOUBLE)) == 1);
    CHECK(kernels(ucd::Type::resized(UCD_TYPE__CHAR, 0, INT64_MAX)) == 1);
    CHECK(kernels(ucd::Type::resized(UCD_TYPE__CHAR, 0, INT64_MAX - 1)) == 2);
    CHECK(kernels(ucd::Type::resized(UCD_TYPE__CHAR, 0, -INT64_MAX)) == 2);
}

TEST_CASE("advice says why") {
    const auto ends = [](ucd::TypeRef type, const std::string &reason) {
        const std::string advice = lines_of(type).at("advice").at(0);
        INFO(advice);
        CHECK(advice.size() > reason.size());
        CHECK(advice.substr(advice.size() - std::min(reason.size(), advice.size())) == reason);
    };
    const ucd_type_t byte = UCD_TYPE__BYTE;
    const std::string shorter = "too short to be handled one by one";
    ends(ucd::Type::hvector(1000, 63, 5000, byte),
         shorter + ", and rows too short for a copy engine");
    ends(ucd::Type::ndarray({5, 20, 20, 100}, {9000000, 90000, 400, 1}, byte),
         shorter + ", and a box of more dimensions than copy engines take");
    ends(ucd::Type::hindexed_block(100, {0, 150, 900}, byte), shorter + ", and not a regular box");
    std::vector<std::intptr_t> displs;
    for (std::intptr_t i = 0; i <= 1024; ++i) displs.push_back(i * 2000 + i % 3);
    ends(ucd::Type::hindexed_block(1500, displs, byte),
         "more than the 1024 entries that one call takes, and not a regular box");
    displs.pop_back();
    ends(ucd::Type::hindexed_block(1500, displs, byte),
         "1024 segments of 1500 bytes: few and long enough to be sent from where they lie");
    ends(ucd::Type::hvector(1000, 64, 5000, byte),
         "which a copy engine takes as one job; pack where there is none");
    ends(byte, "one segment, which can be sent from where it lies");
    ends(ucd::Type::contig(0, byte), "there is nothing to move");
}

} // namespace describe_test
