#include "subjects.hpp"

#include "support/moves/calls.hpp"

#include <algorithm>

namespace ucdtest::fuzz {

Case case_of(const char *name, const std::uint8_t *data, std::size_t size) {
    std::uint64_t hash = 14695981039346656037u;
    for (std::size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 1099511628211u;
    return Case(name, hash);
}

std::size_t count_of(Input &input, const ProgramType &type, std::size_t most) {
    const std::size_t chosen = input.byte();
    std::size_t count = chosen == 255 ? 0 : 1 + chosen % most;
    const auto fits = [&](std::size_t n) {
        const TouchedRange range = touched_range(*type.map, n);
        return range.high - range.low <= 2 * max_program_span;
    };
    while (count > 1 && !fits(count)) --count;
    return count;
}

Subject subject_of(Case &one, const ProgramType &type, std::size_t count, const char *role) {
    one.about(role, type.recipe, count);
    Subject subject;
    subject.recipe = type.recipe;
    subject.map = type.map;
    subject.count = count;
    subject.bytes = byte_map(*subject.map, count);
    subject.range = touched_range(subject.bytes);
    subject.built = BuiltType(subject.recipe);
    return subject;
}

ucd_op_t op_of(Input &input, const ReducedSubject &what) {
    const ucd_op_t op = all_ops()[input.up_to(all_ops().size() - 1)].op;
    const Subject &s = what.subject;
    const bool can = is_supported(op, *s.map) && has_consistent_overlap(*s.map, s.count);
    return can ? op : static_cast<ucd_op_t>(UCD_OP__REPLACE);
}

std::optional<ConvertedPair> converted_pair(Case &one, const ProgramType &type,
                                            const ReducedSubject &what) {
    if (!can_be_converted(what)) return std::nullopt;
    ReducedSubject source = with_elements(subject_of(one, type, what.subject.count, "source"));
    ReducedSubject target = random_target(one, source);
    return ConvertedPair{std::move(source), std::move(target)};
}

StreamRange range_of(Input &input, std::size_t units) {
    const std::size_t first = input.up_to(units);
    // Of elements none is too few, if there are some left.
    return {first, first == units ? first : units - input.up_to(units - first - 1)};
}

void check_bounds(Case &one, const Subject &subject, ucd_type_t type) {
    const TypeMap &map = *subject.map;
    std::uintptr_t size = untouched;
    std::intptr_t lb = 0, extent = 0, true_lb = 0, true_extent = 0;
    one.succeed(ucd_get_size(type, &size), "ucd_get_size");
    one.succeed(ucd_get_extent(type, &lb, &extent), "ucd_get_extent");
    one.succeed(ucd_get_true_extent(type, &true_lb, &true_extent), "ucd_get_true_extent");
    if (size != map.size || lb != map.lb || extent != map.extent || true_lb != map.true_lb ||
        true_extent != map.true_extent)
        one.fail("size ", size, ", bounds ", lb, " and ", extent, ", true bounds ", true_lb,
                 " and ", true_extent, "; not ", map.size, ", ", map.lb, " and ", map.extent, ", ",
                 map.true_lb, " and ", map.true_extent);
}

} // namespace ucdtest::fuzz
