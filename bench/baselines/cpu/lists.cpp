#include "baselines/cpu/lists.hpp"

#include "baselines/cpu/copy.hpp"

#include <stdexcept>

namespace bench::hand {
namespace {

constexpr std::int64_t element = 8;

template <std::int64_t piece>
void pack_pieces(const std::intptr_t *displs, const std::intptr_t *, std::int64_t entries,
                 char *typed, char *packed) {
    for (std::int64_t i = 0; i < entries; ++i)
        copy<To::packed, piece>(typed + displs[i] * element, packed + i * piece);
}

void pack_runs(const std::intptr_t *displs, const std::intptr_t *lengths, std::int64_t entries,
               char *typed, char *packed) {
    for (std::int64_t i = 0; i < entries; ++i) {
        copy<To::packed>(typed + displs[i] * element, packed, lengths[i] * element);
        packed += lengths[i] * element;
    }
}

void pack_doubles(const std::intptr_t *displs, const std::intptr_t *lengths, std::int64_t entries,
                  char *typed, char *packed) {
    for (std::int64_t i = 0; i < entries; ++i)
        for (std::int64_t k = 0; k < lengths[i]; ++k, packed += element)
            copy<To::packed, element>(typed + (displs[i] + k) * element, packed);
}

// A branch on the length: fast as long as the processor can learn which lengths follow each other.
void pack_cases(const std::intptr_t *displs, const std::intptr_t *lengths, std::int64_t entries,
                char *typed, char *packed) {
    for (std::int64_t i = 0; i < entries; packed += lengths[i++] * element) {
        char *const at = typed + displs[i] * element;
        switch (lengths[i]) {
        case 1: copy<To::packed, 1 * element>(at, packed); break;
        case 2: copy<To::packed, 2 * element>(at, packed); break;
        case 3: copy<To::packed, 3 * element>(at, packed); break;
        case 4: copy<To::packed, 4 * element>(at, packed); break;
        default: copy<To::packed>(at, packed, lengths[i] * element);
        }
    }
}

template <std::int64_t piece>
std::span<const ListWay> one_loop() {
    static constexpr ListWay ways[] = {{"loop", pack_pieces<piece>}};
    return ways;
}

} // namespace

std::span<const ListWay> lists_of_pieces(std::int64_t piece) {
    switch (piece) {
    case 8: return one_loop<8>();
    case 16: return one_loop<16>();
    case 64: return one_loop<64>();
    case 512: return one_loop<512>();
    case 16384: return one_loop<16384>();
    default: throw std::logic_error("no loop for such pieces");
    }
}

std::span<const ListWay> lists_of_runs() {
    static constexpr ListWay ways[] = {
        {"memcpy", pack_runs}, {"by doubles", pack_doubles}, {"by case", pack_cases}};
    return ways;
}

} // namespace bench::hand
