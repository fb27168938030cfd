#include "preload/tuning.h"

#include "preload/settings.h"

#include <algorithm>
#include <atomic>
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

// For other libraries that read device memory this stands in, since it was not measured for them.
constexpr DeviceTuningRow open_mpi_5_device[] = {
#include "preload/tables/open-mpi-5-device.inc"
};

// The versions of a library in ascending order.
constexpr PreloadTuning measured[] = {
    {"MPICH Version", 4, 2 << 20, 2 << 10, mpich_4, open_mpi_5_device},
    {"MPICH Version", 5, 2 << 20, 2 << 10, mpich_5, open_mpi_5_device},
    {"Intel(R) MPI Library", 2021, 2 << 20, 2 << 10, intel_2021, open_mpi_5_device},
    {"Open MPI", 4, 4 << 20, 2 << 10, open_mpi_4, open_mpi_5_device},
    {"Open MPI", 5, 4 << 20, 2 << 10, open_mpi_5, open_mpi_5_device},
};

constexpr Sizes all_sizes = {1, any_size};
constexpr Gains always = {all_sizes, all_sizes, all_sizes};
constexpr TuningRow every_row[] = {
    {Arrangement::loop, any_size, always}, {Arrangement::column, any_size, always},
    {Arrangement::nest, any_size, always}, {Arrangement::transposed, any_size, always},
    {Arrangement::list, any_size, always}, {Arrangement::mixed, any_size, always},
};
constexpr PreloadTuning everything = {"", 0, 0, 0, every_row, {}};
constexpr PreloadTuning nothing = {"", 0, any_size, 0, {}, open_mpi_5_device};

const PreloadTuning &find_tuning() {
    if (settings().always) return everything;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (PMPI_Get_library_version(text, &length) != MPI_SUCCESS) return nothing;
    return tuning_of(text);
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

DeviceWay PreloadTuning::device_way(std::uint64_t mean_segment, std::uint64_t bytes) const {
    const auto row = std::ranges::find_if(
        device_rows, [&](const DeviceTuningRow &r) { return mean_segment <= r.max_segment; });
    if (row == device_rows.end()) return DeviceWay::device;
    if (row->by_mpi.contain(bytes)) return DeviceWay::mpi;
    return row->by_host.contain(bytes) ? DeviceWay::host : DeviceWay::device;
}

namespace {

std::atomic<int> measured_way{-1};

} // namespace

const PreloadTuning &tuning_of(const char *library) {
    const char *const number = std::strpbrk(library, "0123456789");
    const int version = number != nullptr ? std::atoi(number) : 0;
    const PreloadTuning *found = nullptr;
    for (const PreloadTuning &tuning : measured)
        if (std::strncmp(library, tuning.library, std::strlen(tuning.library)) == 0 &&
            (found == nullptr || tuning.version <= version))
            found = &tuning;
    return found != nullptr ? *found : nothing;
}

DeviceWay device_way(std::uint64_t mean_segment, std::uint64_t bytes) {
    const int way = measured_way.load(std::memory_order_relaxed);
    if (way >= 0) return static_cast<DeviceWay>(way);
    return settings().gpu_way ? *settings().gpu_way : tuning().device_way(mean_segment, bytes);
}

const PreloadTuning &tuning() {
    static const PreloadTuning &found = find_tuning();
    return found;
}

} // namespace ucd_mpi

// Sets the way of all later messages, a DeviceWay; with a negative number, the usual choice. For
// ucd-mpi-bench, which measures all ways in turns.
extern "C" [[gnu::visibility("default")]] void ucd_mpi_preload_set_gpu_way(int way) {
    ucd_mpi::measured_way.store(way, std::memory_order_relaxed);
}
