// Which way data in device memory goes that MPI reads.

#include "preload/tuning.h"
#include "support/catch.hpp"

#include <cstdint>

extern "C" void ucd_mpi_preload_set_gpu_way(int way);

namespace tuning_test {

using ucd_mpi::device_way;
using ucd_mpi::DeviceTuningRow;
using ucd_mpi::DeviceWay;
using ucd_mpi::PreloadTuning;

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
