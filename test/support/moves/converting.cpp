#include "support/moves/converting.hpp"

#include "support/buffers/guarded_buffer.hpp"
#include "support/moves/calls.hpp"

#include <algorithm>
#include <array>

namespace ucdtest {
namespace {

using namespace recipes;

// As many elements of other types. Each is placed by itself, at increasing or shuffled positions,
// or all follow each other.
RecipePtr other_elements(Rng &rng, const TypeMap &map) {
    const std::size_t elements = map.entries.size();
    const bool one_type = rng.chance(50), dense = rng.chance(30);
    const auto any_type = [&](bool complex) {
        const auto types = converted_types(complex);
        return types[rng.below(types.size())];
    };
    const bool complex = elements > 0 && map.entries[0].type->type_class == TypeClass::complex;
    const ucd_type_t same = any_type(complex);
    if (one_type && dense) return contig(static_cast<std::intptr_t>(elements), leaf(same));
    std::vector<std::size_t> order(elements);
    for (std::size_t i = 0; i < elements; ++i) order[i] = i;
    if (rng.chance(40)) rng.shuffle(order);
    std::vector<RecipePtr> types(elements);
    Ints displs(elements);
    std::intptr_t cursor = rng.between(-100, 100);
    for (const std::size_t i : order) {
        const ucd_type_t type = one_type ? same : any_type(complex);
        types[i] = leaf(type);
        displs[i] = cursor;
        cursor += static_cast<std::intptr_t>(predefined(type).extent);
        if (!dense && rng.chance(40)) cursor += rng.between(0, 9);
    }
    return structure(Ints(elements, 1), displs, types);
}

} // namespace

ConvertedPair random_converted_pair(Case &one) {
    Rng &rng = one.rng();
    RecipeOptions options;
    options.unpack_safe = true;
    options.max_bytes = rng.chance(10) ? 4096 : 512;
    const auto types = converted_types(rng.chance(15));
    // Of few types, so that there are streams of one type, too.
    const std::size_t kinds = 1 + rng.below(3);
    for (std::size_t i = 0; i < kinds; ++i)
        options.elements.push_back(types[rng.below(types.size())]);
    const RandomType type = random_type(rng, options);
    const std::size_t count = random_count(rng, type, options, 3);
    ReducedSubject source = with_elements(make_subject(one, type.recipe, count, "source"));
    ReducedSubject target = random_target(one, source);
    return {std::move(source), std::move(target)};
}

bool can_be_converted(const ReducedSubject &source) {
    return !source.elements.empty() &&
           std::ranges::all_of(source.elements, [&](const StreamElement &element) {
               return is_converted(*source.elements[0].type, *element.type);
           });
}

ReducedSubject random_target(Case &one, const ReducedSubject &source) {
    Rng &rng = one.rng();
    return with_elements(make_subject(one, other_elements(rng, *source.subject.map),
                                      source.subject.count + rng.below(2), "target"));
}

void expect_converted(const ConvertedPair &pair, const MemoryLocation &source, std::size_t first,
                      const MemoryLocation &target, std::size_t target_first, std::size_t count,
                      bool saturate) {
    for (std::size_t i = 0; i < count; ++i) {
        const StreamElement &from = pair.source.elements[first + i],
                            &to = pair.target.elements[target_first + i];
        std::array<std::byte, 16> value{}, result{};
        for (std::size_t k = 0; k < from.type->size; ++k)
            value[k] = *source.memory->actual((*source.bytes)[from.offset + k]);
        convert_element(*from.type, value.data(), *to.type, result.data(), saturate);
        for (std::size_t k = 0; k < to.type->size; ++k)
            *target.memory->expected((*target.bytes)[to.offset + k]) = result[k];
    }
}

void check_conversion(Case &one, const ConvertedPair &pair) {
    Rng &rng = one.rng();
    GuardedBuffer in(rng, pair.source.subject.range), out(rng, pair.target.subject.range);
    const MemoryLocation from = place(pair.source.subject, in),
                         to = place(pair.target.subject, out);
    const std::size_t elements = pair.source.elements.size();
    const bool saturate = rng.chance(50);
    expect_converted(pair, from, 0, to, 0, elements, saturate);
    std::uintptr_t actual = untouched;
    one.succeed(call_copy(rng, from.address, from.count, from.type, to.address, to.count, to.type,
                          &actual, saturate ? UCD_OP__CONVERT_SAT : UCD_OP__CONVERT),
                "converting copy");
    if (actual != pair.target.offset_of(elements))
        one.fail("converted to ", actual, " bytes, not ", pair.target.offset_of(elements));
    require_intact(one, out, "target of a conversion");
    require_intact(one, in, "source of a conversion");
}

} // namespace ucdtest
