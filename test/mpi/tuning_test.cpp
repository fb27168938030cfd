// Which table an MPI library has, and which way data in device memory goes that MPI reads.

#include "preload/tuning.h"
#include "support/catch.hpp"

#include <cstdint>
#include <string>

extern "C" void ucd_mpi_preload_set_gpu_way(int way);

namespace tuning_test {

using ucd_mpi::device_way;
using ucd_mpi::DeviceTuningRow;
using ucd_mpi::DeviceWay;
using ucd_mpi::PreloadTuning;

// As MPI_Get_library_version of each begins. The text of a development version may have no number.
TEST_CASE("tuning: the measured version before that of the MPI library, or else the first") {
    const auto check = [](const char *text, const char *library, int version) {
        INFO(text);
        const PreloadTuning &found = ucd_mpi::tuning_of(text);
        CHECK(std::string(found.library) == library);
        CHECK(found.version == version);
        CHECK(found.rows.empty() == (version == 0));
    };
    check("MPICH Version:      3.4.1", "MPICH Version", 4);
    check("MPICH Version:      4.0", "MPICH Version", 4);
    check("MPICH Version:      4.3.2", "MPICH Version", 4);
    check("MPICH Version:      5.0.2", "MPICH Version", 5);
    check("MPICH Version:      10.0", "MPICH Version", 5);
    check("MPICH Version:      main", "MPICH Version", 4);
    check("Intel(R) MPI Library 2018 for Linux* OS", "Intel(R) MPI Library", 2021);
    check("Intel(R) MPI Library 2021.15 for Linux* OS", "Intel(R) MPI Library", 2021);
    check("Open MPI v3.1.6, package: 5", "Open MPI", 4);
    check("Open MPI v4.1.2", "Open MPI", 4);
    check("Open MPI v5.0.7", "Open MPI", 5);
    check("Another MPI 5.0, not MPICH Version 5", "", 0);
    check("", "", 0);
}

TEST_CASE("tuning: the row of the mean segment has the sizes of each way") {
    constexpr DeviceTuningRow rows[] = {
        {8, {}, {1, 1000}},
        {64, {1, 100}, {50, 200}},
    };
    const PreloadTuning tuning = {"", 0, 0, 0, {}, rows};
    CHECK(tuning.device_way(1, 1) == DeviceWay::host);
    CHECK(tuning.device_way(8, 1000) == DeviceWay::host);
    CHECK(tuning.device_way(8, 1001) == DeviceWay::device);
    CHECK(tuning.device_way(9, 100) == DeviceWay::mpi);
    CHECK(tuning.device_way(64, 101) == DeviceWay::host);
    CHECK(tuning.device_way(64, 201) == DeviceWay::device);
    CHECK(tuning.device_way(65, 1) == DeviceWay::device);
    CHECK(PreloadTuning{}.device_way(8, 8) == DeviceWay::device);
}

TEST_CASE("tuning: an MPI library that was not measured has a table of device memory, too") {
    CHECK(!ucd_mpi::tuning().device_rows.empty());
    CHECK(device_way(8, 1024) == ucd_mpi::tuning().device_way(8, 1024));
    CHECK(device_way(8, 1024) == DeviceWay::host);
    CHECK(device_way(8, std::uint64_t{64} << 20) == DeviceWay::device);
}

TEST_CASE("tuning: the benchmark sets a way for all messages") {
    for (const DeviceWay way : {DeviceWay::device, DeviceWay::host, DeviceWay::mpi}) {
        ucd_mpi_preload_set_gpu_way(static_cast<int>(way));
        CHECK(device_way(8, 1024) == way);
    }
    ucd_mpi_preload_set_gpu_way(-1);
    CHECK(device_way(8, 1024) == DeviceWay::host);
}

} // namespace tuning_test
