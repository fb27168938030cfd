// Elements of a target that overlap each other where something is written: the target finds every
// overlap, writes nothing then, and refuses nothing else.

#include "support/catch.hpp"
#include "ucx/rma_pair.hpp"

#include <numeric>

namespace attacks_overlap_test {

using namespace ucdtest;

namespace {

using List = std::vector<std::intptr_t>;

// Types of ints, made of each other; all are freed with it.
class Types {
public:
    ~Types() {
        for (ucd_type_t &t : made_) (void)ucd_free(&t);
    }
    ucd_type_t list(const List &displacements, ucd_type_t of = UCD_TYPE__INT) {
        return make("hindexed_block", [&](ucd_type_t *t) {
            return ucd_create_hindexed_block(static_cast<std::intptr_t>(displacements.size()), 1,
                                             displacements.data(), of, UCD_INFO__NULL, t);
        });
    }
    ucd_type_t blocks(const List &lengths, const List &displacements) {
        return make("hindexed", [&](ucd_type_t *t) {
            return ucd_create_hindexed(static_cast<std::intptr_t>(lengths.size()), lengths.data(),
                                       displacements.data(), UCD_TYPE__INT, UCD_INFO__NULL, t);
        });
    }
    ucd_type_t vector(std::intptr_t count, std::intptr_t length, std::intptr_t stride,
                      ucd_type_t of = UCD_TYPE__INT) {
        return make("hvector", [&](ucd_type_t *t) {
            return ucd_create_hvector(count, length, stride, of, UCD_INFO__NULL, t);
        });
    }
    ucd_type_t fields(const List &displacements, const std::vector<ucd_type_t> &types) {
        const List ones(types.size(), 1);
        return make("struct", [&](ucd_type_t *t) {
            return ucd_create_struct(static_cast<std::intptr_t>(types.size()), ones.data(),
                                     displacements.data(), types.data(), UCD_INFO__NULL, t);
        });
    }
    ucd_type_t resized(std::intptr_t extent, ucd_type_t of = UCD_TYPE__INT) {
        return make("resized", [&](ucd_type_t *t) {
            return ucd_create_resized(of, 0, extent, UCD_INFO__NULL, t);
        });
    }

private:
    template <class Create>
    ucd_type_t make(const char *what, Create create) {
        ucd_type_t type;
        if (create(&type) != UCD_SUCCESS)
            throw std::runtime_error(std::string(what) + ": " + ucd_last_error());
        made_.push_back(type);
        return type;
    }
    std::vector<ucd_type_t> made_;
};

struct Layout {
    const char *name;
    ucd_type_t type;
    std::uintptr_t count = 1;
};

List many_and_the_first_again() {
    List displacements;
    for (std::intptr_t i = 0; i < 400; ++i) displacements.push_back(4 * i + i % 3 * 4000);
    displacements.push_back(0);
    return displacements;
}

std::vector<Layout> overlapping(Types &t) {
    return {
        {"the same twice", t.list({0, 0, 100})},
        {"the same twice, apart", t.list({0, 100, 0})},
        {"half of the other", t.list({0, 2, 100})},
        {"one byte", t.list({0, 100, 97})},
        {"blocks of different lengths", t.blocks({3, 1, 2}, {0, 100, 8})},
        {"vector with a stride of half an element", t.vector(3, 1, 2)},
        {"vector with stride 0", t.vector(3, 1, 0)},
        {"vector that goes back by half an element", t.vector(3, 1, -2)},
        {"vector whose blocks overlap", t.vector(3, 2, 4)},
        {"vector whose long blocks overlap", t.vector(2, 100, 396)},
        {"extent 0", t.resized(0), 3},
        {"extent less than an element", t.resized(2), 3},
        {"extent that goes back by less than an element", t.resized(-2), 3},
        {"extent less than the true extent", t.resized(8, t.vector(2, 1, 8)), 2},
        {"the fourth meets the first", t.resized(4, t.vector(2, 1, 12)), 4},
        {"the far element meets another", t.resized(100, t.vector(2, 1, 400)), 5},
        {"fields that overlap", t.fields({0, 2}, {UCD_TYPE__INT, UCD_TYPE__INT})},
        {"a field twice", t.fields({0, 8, 0}, {UCD_TYPE__INT, UCD_TYPE__INT, UCD_TYPE__INT})},
        {"a field in another's gap, and too long",
         t.fields({0, 4}, {t.vector(4, 1, 12), t.vector(2, 3, 12)})},
        {"a list of lists that overlap", t.list({0, 40, 20}, t.list({0, 8, 20}))},
        {"a vector of vectors that overlap", t.vector(4, 1, 6, t.vector(3, 1, 12))},
        {"a vector of vectors that meet late", t.vector(10, 1, 36, t.vector(10, 1, 4))},
        {"a vector of lists that meet", t.vector(3, 1, 24, t.list({0, 4, 48}))},
        {"many, and the first again", t.list(many_and_the_first_again())},
        {"many of them, the last on the first", t.list({0, 4000, 200, -600}, t.vector(200, 1, 4))},
    };
}

std::vector<Layout> legal(Types &t) {
    return {
        {"interleaved by extent", t.resized(4, t.vector(2, 1, 8)), 2},
        {"interleaved by extent, three", t.resized(4, t.vector(2, 1, 12)), 3},
        {"columns of a matrix", t.resized(4, t.vector(20, 1, 80)), 20},
        {"negative stride", t.vector(3, 1, -8)},
        {"negative stride that touches", t.vector(3, 1, -4)},
        {"negative extent", t.resized(-4), 5},
        {"backwards", t.list({100, 50, 0})},
        {"touching, in any order", t.list({8, 0, 12, 4})},
        {"a triangle", t.blocks({1, 2, 3, 4, 5}, {0, 80, 160, 240, 320})},
        {"a triangle that is packed", t.blocks({1, 2, 3, 4}, {0, 4, 12, 24})},
        {"an upper triangle", t.blocks({4, 3, 2, 1}, {0, 20, 40, 60})},
        {"two triangles that make a square",
         t.fields({0, 0},
                  {t.blocks({4, 3, 2, 1}, {0, 20, 40, 60}), t.blocks({1, 2, 3}, {16, 32, 48})})},
        {"fields in each other's gaps", t.fields({0, 4}, {t.vector(10, 1, 8), t.vector(10, 1, 8)})},
        {"a list in a vector's gaps", t.fields({0, 4}, {t.vector(4, 1, 12), t.list({0, 12, 28})})},
        {"lists in each other's gaps", t.list({0, 4}, t.list({0, 8, 24}))},
        {"a vector of lists in their gaps", t.vector(3, 1, 4, t.list({0, 100, 212}))},
        {"extent 0 of one", t.resized(0), 1},
        {"stride 0 of one", t.vector(1, 1, 0)},
        {"nothing, overlapping", t.vector(3, 0, 0)},
    };
}

struct OverlapTarget {
    static constexpr std::size_t ints = 8000, base = 3000;
    RmaPair pair;
    std::vector<int> memory = std::vector<int>(ints);
    Window window{pair.b, memory.data(), ints * sizeof(int)};

    OverlapTarget() { reset(); }
    void reset() { std::iota(memory.begin(), memory.end(), 1000000); }
    bool is_untouched() const {
        std::vector<int> expected(ints);
        std::iota(expected.begin(), expected.end(), 1000000);
        return memory == expected;
    }
    // As the library has it of `op`: REPLACE by put or accumulate, SUM by the two accumulates.
    enum Way { put, replace, sum, fetching_sum, fetching_replace, no_op, ways };
    ucs_status_t run(Way way, const Layout &layout, std::vector<int> &from, std::vector<int> &old) {
        Outcome o;
        const auto key = window.key();
        const std::intptr_t at = base * sizeof(int);
        auto &a = pair.a;
        const ucd_op_t op = way == sum || way == fetching_sum ? UCD_OP__SUM
                            : way == no_op                    ? UCD_UCX_OP__NO_OP
                                                              : UCD_OP__REPLACE;
        const std::uintptr_t n = from.size();
        if (way == put)
            start_put(a, {from.data(), n, UCD_TYPE__INT}, {key, at, layout.count, layout.type}, o);
        else if (way == replace || way == sum)
            start_accumulate(a, {from.data(), n, UCD_TYPE__INT},
                             {key, at, layout.count, layout.type}, op, o);
        else
            start_get_accumulate(a, {from.data(), n, UCD_TYPE__INT}, {old.data(), n, UCD_TYPE__INT},
                                 {key, at, layout.count, layout.type}, op, o);
        pair.until([&] { return o.done(); });
        return o.result.status;
    }
};

std::size_t ints_of(const Layout &layout) {
    std::uintptr_t size;
    ok(ucd_get_size(layout.type, &size), "size");
    return size * layout.count / sizeof(int);
}

} // namespace

TEST_CASE("target elements that overlap are refused, and nothing is written") {
    OverlapTarget target;
    Types types;
    for (const Layout &layout : overlapping(types)) {
        std::vector<int> from(ints_of(layout)), old(from.size());
        std::iota(from.begin(), from.end(), 1);
        for (int way = 0; way < OverlapTarget::no_op; ++way) {
            INFO(layout.name << ", way " << way);
            const ucs_status_t status =
                target.run(static_cast<OverlapTarget::Way>(way), layout, from, old);
            CHECK(std::string(ucs_status_string(status)) ==
                  ucs_status_string(UCS_ERR_INVALID_PARAM));
            CHECK(target.is_untouched());
            target.reset();
        }
        // Elements that are only read may overlap.
        INFO(layout.name);
        CHECK(target.run(OverlapTarget::no_op, layout, from, old) == UCS_OK);
        Outcome got;
        start_get(
            target.pair.a, {old.data(), old.size(), UCD_TYPE__INT},
            {target.window.key(), OverlapTarget::base * sizeof(int), layout.count, layout.type},
            got);
        target.pair.until([&] { return got.done(); });
        CHECK(got.result.status == UCS_OK);
    }
}

TEST_CASE("target elements that lie between each other are written") {
    OverlapTarget target;
    Types types;
    for (const Layout &layout : legal(types)) {
        std::vector<int> from(ints_of(layout)), old(from.size());
        std::iota(from.begin(), from.end(), 1);
        for (int way = 0; way < OverlapTarget::no_op; ++way) {
            INFO(layout.name << ", way " << way);
            std::vector<int> expected = target.memory;
            std::uintptr_t moved;
            const bool sums = way == OverlapTarget::sum || way == OverlapTarget::fetching_sum;
            ok(ucd_unpack(from.data(), from.size() * sizeof(int),
                          expected.data() + OverlapTarget::base, layout.count, layout.type, 0,
                          &moved, UCD_INFO__NULL, sums ? UCD_OP__SUM : UCD_OP__REPLACE),
               "unpack");
            CHECK(target.run(static_cast<OverlapTarget::Way>(way), layout, from, old) == UCS_OK);
            const bool as_expected = target.memory == expected;
            CHECK(as_expected);
            target.reset();
        }
    }
}

} // namespace attacks_overlap_test
