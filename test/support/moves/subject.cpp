#include "support/moves/subject.hpp"

namespace ucdtest {
namespace {

Subject subject_of(Case &one, RandomType type, std::size_t count, const char *role) {
    one.about(role, type.recipe, count);
    Subject subject;
    subject.recipe = std::move(type.recipe);
    subject.map = std::move(type.map);
    subject.count = count;
    subject.bytes = byte_map(*subject.map, count);
    subject.range = touched_range(subject.bytes);
    subject.built = BuiltType(subject.recipe);
    return subject;
}

} // namespace

Subject make_subject(Case &one, const RecipePtr &recipe, std::size_t count, const char *role) {
    auto map = std::make_shared<const TypeMap>(type_map(*recipe));
    return subject_of(one, {recipe, std::move(map)}, count, role);
}

Subject random_subject(Case &one, const RecipeOptions &options, std::size_t max_count,
                       const char *role) {
    RandomType type = random_type(one.rng(), options);
    const std::size_t count = random_count(one.rng(), type, options, max_count);
    return subject_of(one, std::move(type), count, role);
}

Subject random_nonempty_subject(Case &one, const RecipeOptions &options, std::size_t max_count,
                                const char *role) {
    for (;;) {
        RandomType type = random_type(one.rng(), options);
        const std::size_t count = random_count(one.rng(), type, options, max_count);
        if (count * type.map->size != 0) {
            return subject_of(one, std::move(type), count, role);
        }
    }
}

MemoryLocation place(const Subject &subject, ImageBuffer &memory) {
    return {&memory, memory.base(), subject.type(), subject.count, &subject.bytes};
}

MemoryLocation absolute_place(Rng &rng, const Subject &subject, ImageBuffer &memory,
                              BuiltType &shifted) {
    // Keeps the extent, and so the distance of elements.
    const auto shift = static_cast<std::intptr_t>(memory.address());
    const ucd_type_t old = subject.type();
    const std::intptr_t one = 1;
    ucd_type_t type = UCD_TYPE__NULL;
    int rc = UCD_SUCCESS;
    switch (rng.below(3)) {
    case 0: rc = ucd_create_hindexed_block(1, 1, &shift, old, UCD_INFO__NULL, &type); break;
    case 1: rc = ucd_create_hindexed(1, &one, &shift, old, UCD_INFO__NULL, &type); break;
    default: rc = ucd_create_struct(1, &one, &shift, &old, UCD_INFO__NULL, &type); break;
    }
    if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_last_error());
    shifted = BuiltType(type);
    return {&memory, nullptr, type, subject.count, &subject.bytes};
}

} // namespace ucdtest
