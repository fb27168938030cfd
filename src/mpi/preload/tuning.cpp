#include "preload/tuning.h"

#include "preload/settings.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace ucd_mpi {
namespace {

constexpr std::uint64_t any_size = UINT64_MAX;

// Each file has rows of one library.
constexpr TuningRow mpich_4[] = {
#include "preload/tables/mpich-4.inc"
};
constexpr TuningRow mpich_5[] = {
#include "preload/tables/mpich-5.inc"
};
constexpr TuningRow intel_2021[] = {
#include "preload/tables/intel-2021.inc"
};
constexpr TuningRow open_mpi_4[] = {
#include "preload/tables/open-mpi-4.inc"
};
constexpr TuningRow open_mpi_5[] = {
#include "preload/tables/open-mpi-5.inc"
};

// The versions of a library in ascending order.
constexpr PreloadTuning measured[] = {
    {"MPICH Version", 4, 2 << 20, 2 << 10, mpich_4},
    {"MPICH Version", 5, 2 << 20, 2 << 10, mpich_5},
    {"Intel(R) MPI Library", 2021, 2 << 20, 2 << 10, intel_2021},
    {"Open MPI", 4, 4 << 20, 2 << 10, open_mpi_4},
    {"Open MPI", 5, 4 << 20, 2 << 10, open_mpi_5},
};

constexpr Sizes all_sizes = {1, any_size};
constexpr Gains always = {all_sizes, all_sizes, all_sizes};
constexpr TuningRow every_row[] = {
    {Arrangement::loop, any_size, always}, {Arrangement::column, any_size, always},
    {Arrangement::nest, any_size, always}, {Arrangement::transposed, any_size, always},
    {Arrangement::list, any_size, always}, {Arrangement::mixed, any_size, always},
};
constexpr PreloadTuning everything = {"", 0, 0, 0, every_row};
constexpr PreloadTuning nothing = {"", 0, any_size, 0, {}};

// The measured version of the same library that comes before the running one, or else the first.
const PreloadTuning &find_tuning() {
    if (settings().always) return everything;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (PMPI_Get_library_version(text, &length) != MPI_SUCCESS) return nothing;
    const char *const number = std::strpbrk(text, "0123456789");
    const int version = number != nullptr ? std::atoi(number) : 0;
    const PreloadTuning *found = nullptr;
    for (const PreloadTuning &tuning : measured)
        if (std::strncmp(text, tuning.library, std::strlen(tuning.library)) == 0 &&
            (found == nullptr || tuning.version <= version))
            found = &tuning;
    return found != nullptr ? *found : nothing;
}

} // namespace

Gains PreloadTuning::gains(Arrangement arrangement, std::uint64_t mean_segment) const {
    const auto row = std::ranges::find_if(rows, [&](const TuningRow &r) {
        return r.arrangement == arrangement && mean_segment <= r.max_segment;
    });
    return row != rows.end() ? row->gains : Gains{};
}

std::uint64_t PreloadTuning::least() const {
    std::uint64_t least = any_size;
    for (const TuningRow &row : rows)
        least = std::min(
            {least, row.gains.pack.least, row.gains.message.least, row.gains.collective.least});
    return least;
}

const PreloadTuning &tuning() {
    static const PreloadTuning &found = find_tuning();
    return found;
}

} // namespace ucd_mpi
