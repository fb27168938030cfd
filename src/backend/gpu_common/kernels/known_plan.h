// Finds bytes of the packed stream by a device plan whose word and levels are known when the kernel
// is compiled.
#pragma once

#include "kernels/plan_places.h"

namespace ucd::UCD_GPU {

// The log2 of a width. No function: the host's compiler sees what is initialised with it.
template <unsigned width>
inline constexpr uint32_t shift_of_width = (width > 1 ? 1 : 0) + (width > 2 ? 1 : 0) +
                                           (width > 4 ? 1 : 0) + (width > 8 ? 1 : 0);

// Where a known layout is. The log2 of the width of words is a constant.
template <unsigned width>
struct KnownLayout {
    static constexpr uint32_t shift = shift_of_width<width>;
    uintptr_t typed;
};

// Levels that the plan does not have are as the host fills them: children of a byte, next to each
// other, which changes no position.
template <unsigned width, LevelKind... kinds>
class KnownPlaces {
public:
    static_assert(width == 1 || width == 2 || width == 4 || width == 8 || width == 16);
    static_assert(sizeof...(kinds) <= max_plan_levels);
    static constexpr unsigned known_width = width;
    using Layout = KnownLayout<width>;

    UCD_GPU_FUNCTION explicit KnownPlaces(const ucd_device_plan_t &plan) : plan_(plan) {
#pragma unroll
        for (unsigned k = 0; k != sizeof...(kinds); ++k) {
            level_[k].each = divisor_of(plan.level[k]);
            level_[k].stride = static_cast<int32_t>(plan.level[k].stride);
        }
    }

    template <unsigned count>
    UCD_GPU_FUNCTION void find(const Layout &m, uint32_t (&position)[count],
                               uintptr_t (&places)[count]) const {
#pragma unroll
        for (unsigned i = 0; i < count; ++i) places[i] = m.typed + displacement(position[i]);
    }

    template <unsigned count>
    UCD_GPU_FUNCTION void find(const Layout &m, uint32_t word, uint32_t apart,
                               uintptr_t (&places)[count]) const {
#pragma unroll
        for (unsigned i = 0; i < count; ++i)
            places[i] = i > 0 && in_steps() ? places[i - 1] + apart * step()
                                            : m.typed + displacement(word + i * apart);
    }

    // Whether the addresses of all words of a vector need few registers.
    static constexpr bool finds_many = sizeof...(kinds) < 2;

private:
    // Whether each word is a child of one strided level, so that addresses are a stride apart.
    UCD_GPU_FUNCTION bool in_steps() const {
        constexpr LevelKind kind[] = {kinds..., LevelKind::indexed};
        return sizeof...(kinds) == 1 && kind[0] == LevelKind::strided && width < vector_bytes &&
               level_[0].each.value == width;
    }
    UCD_GPU_FUNCTION uint64_t step() const {
        return static_cast<uint64_t>(int64_t{level_[0].stride});
    }

    UCD_GPU_FUNCTION uint64_t displacement(uint32_t word) const {
        uint32_t position = word * width;
        int64_t sum = 0;
        [[maybe_unused]] unsigned k = 0;
        (descend_level<kinds>(k++, position, sum), ...);
        return static_cast<uint64_t>(sum) + position;
    }

    template <LevelKind kind>
    UCD_GPU_FUNCTION void descend_level(unsigned k, uint32_t &position, int64_t &sum) const {
        if constexpr (kind == LevelKind::strided)
            descend<1, kind>(level_[k], NestList(), position, sum);
        else
            descend<1, kind>(level_[k], list_at(plan_, k), position, sum);
    }

    const ucd_device_plan_t &plan_;
    NestLevel level_[sizeof...(kinds) + 1]; // one more, because there may be none
};

} // namespace ucd::UCD_GPU
