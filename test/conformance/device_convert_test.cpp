// Conversions between the memories of devices, on whatever backend the program is linked with.
#include "support/catch.hpp"

#include "support/moves/device_converting.hpp"
#include "support/random/random_layouts.hpp"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <list>
#include <vector>

namespace device_convert_test {

using namespace ucdtest;
using namespace ucdtest::recipes;

TEST_CASE("conversions between any two layouts in any two memories") {
    DeviceSession session;
    run_cases("device conversions", 1500, [](Case &one) {
        Rng &rng = one.rng();
        if (rng.chance(50))
            use_staging(std::size_t{64} << rng.below(8), 1 + static_cast<unsigned>(rng.below(4)));
        const ConvertedPair pair = random_converted_pair(one);
        check_device_conversion(one, pair, random_memory(rng), random_memory(rng));
    });
}

TEST_CASE("conversions between arrays of other shapes and orders") {
    DeviceSession session;
    run_cases("device conversions of strides", 1500, [](Case &one) {
        Rng &rng = one.rng();
        constexpr std::intptr_t totals[] = {1, 7, 36, 64, 360, 1024, 1152, 4096};
        const std::intptr_t total = totals[rng.below(std::size(totals))];
        const auto types = converted_types(rng.chance(10));
        const auto array = [&](const char *role) {
            const ucd_type_t type = types[rng.below(types.size())];
            const auto bytes = static_cast<std::intptr_t>(predefined(type).size);
            return with_elements(
                make_subject(one, random_strides(rng, total, leaf(type), bytes), 1, role));
        };
        const ConvertedPair pair{array("source"), array("target")};
        check_device_conversion(one, pair, random_memory(rng), random_memory(rng));
    });
}

namespace {

// A conversion in device memory that a plan makes, of all elements of two arrays or of some.
class PlannedConversion {
public:
    PlannedConversion(Case &one, ucd_type_t from, ucd_type_t to, bool saturate)
        : total_(random_total(one.rng())), pair_{with_elements(array(one, from, "source")),
                                                 with_elements(array(one, to, "target"))},
          in_(one.rng(), pair_.source.subject.range, Memory::device0),
          out_(one.rng(), pair_.target.subject.range, Memory::device0) {
        Rng &rng = one.rng();
        const Subject &source = pair_.source.subject, &target = pair_.target.subject;
        const std::size_t elements = pair_.source.elements.size();
        const std::size_t first = rng.chance(70) ? 0 : rng.below(elements);
        const std::size_t last =
            rng.chance(70) ? elements : first + 1 + rng.below(elements - first);
        expect_converted(pair_, {&in_, in_.base(), source.type(), 1, &source.bytes}, first,
                         {&out_, out_.base(), target.type(), 1, &target.bytes}, first, last - first,
                         saturate);
        in_.send();
        out_.send();
        const std::size_t offset = pair_.source.offset_of(first);
        move =
            part_move(in_.real_base(), 1, source.type(), offset, out_.real_base(), 1, target.type(),
                      pair_.target.offset_of(first), pair_.source.offset_of(last) - offset);
    }
    void check(Case &one) {
        out_.fetch();
        require_intact(one, out_, "target of a plan of conversions");
    }
    ucd_move_t move;

private:
    static std::intptr_t random_total(Rng &rng) {
        constexpr std::intptr_t totals[] = {1, 7, 36, 64, 1024, 1152, 4096, 20000};
        return totals[rng.below(std::size(totals))];
    }
    Subject array(Case &one, ucd_type_t type, const char *role) const {
        Rng &rng = one.rng();
        const auto bytes = static_cast<std::intptr_t>(predefined(type).size);
        return make_subject(one,
                            rng.chance(30) ? contig(total_, leaf(type))
                                           : random_strides(rng, total_, leaf(type), bytes),
                            1, role);
    }
    std::intptr_t total_;
    ConvertedPair pair_;
    DeviceBuffer in_, out_;
};

} // namespace

TEST_CASE("plans convert many arrays of one pair of types") {
    DeviceSession session;
    const auto types = converted_types(false);
    run_cases("plans of conversions", 400, [&](Case &one) {
        Rng &rng = one.rng();
        const ucd_type_t from = types[rng.below(types.size())], to = types[rng.below(types.size())];
        if (from == to) return;
        const bool saturate = rng.chance(50);
        std::list<PlannedConversion> members;
        MoveList moves;
        for (std::size_t n = 2 + rng.below(12); n > 0; --n)
            moves.push_back(members.emplace_back(one, from, to, saturate).move);
        ucd_plan_t plan = UCD_PLAN__NULL;
        ucd_request_t request = UCD_REQUEST__NULL;
        one.succeed(ucd_plan_create(moves.data(), moves.size(), UCD_INFO__NULL,
                                    saturate ? UCD_OP__CONVERT_SAT : UCD_OP__CONVERT, &plan),
                    "plan");
        one.succeed(ucd_plan_start(plan, &request), "start");
        one.succeed(ucd_wait(&request), "wait");
        one.succeed(ucd_plan_free(&plan), "free");
        for (PlannedConversion &member : members) member.check(one);
    });
}

TEST_CASE("conversions in device memory give the bits of the oracle for all pairs of types") {
    DeviceSession session;
    const auto types = converted_types(false);
    run_cases("device pairs", types.size() * types.size(), [&](Case &one) {
        const ucd_type_t from = types[one.number() % types.size()],
                         to = types[one.number() / types.size() % types.size()];
        const ConvertedPair pair{with_elements(make_subject(one, leaf(from), 3000, "source")),
                                 with_elements(make_subject(one, leaf(to), 3000, "target"))};
        check_device_conversion(one, pair, Memory::device0, Memory::device0);
    });
}

namespace {

constexpr std::size_t numbers = std::size_t{1} << 16;

// All numbers of so many bytes, in turns.
void fill_with_all_numbers(DeviceBuffer &in, std::size_t bytes) {
    for (std::size_t i = 0; i < numbers; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        const auto place = static_cast<std::intptr_t>(bytes * i);
        std::memcpy(in.actual(place), &bits, bytes);
        std::memcpy(in.expected(place), &bits, bytes);
    }
}

} // namespace

TEST_CASE("every number of 8 and of 16 bits is converted in rows and in tiles in device memory") {
    DeviceSession session;
    struct {
        ucd_type_t type;
        std::size_t bytes;
    } const from[] = {{UCD_TYPE__BFLOAT16, 2},
                      {UCD_TYPE__FLOAT16, 2},
                      {UCD_TYPE__FLOAT8_E4M3, 1},
                      {UCD_TYPE__FLOAT8_E5M2, 1}};
    const auto to = converted_types(false);
    run_cases("device numbers", 2 * std::size(from) * to.size(), [&](Case &one) {
        const auto [source, bytes] = from[one.number() % std::size(from)];
        const ucd_type_t target = to[one.number() / std::size(from) % to.size()];
        if (source == target) return;
        // By turns in order, and a matrix of 256^2 transposed.
        const bool in_order = one.number() / std::size(from) / to.size() % 2 == 0;
        const RecipePtr typed = in_order ? contig(65536, leaf(source))
                                         : contig(256, resized(vector(256, 1, 256, leaf(source)), 0,
                                                               static_cast<std::intptr_t>(bytes)));
        const ConvertedPair pair{
            with_elements(make_subject(one, typed, 1, "source")),
            with_elements(make_subject(one, contig(65536, leaf(target)), 1, "target"))};
        check_device_conversion(one, pair, Memory::device0, Memory::device0, 0, numbers,
                                [&](DeviceBuffer &in) { fill_with_all_numbers(in, bytes); });
    });
}

} // namespace device_convert_test
