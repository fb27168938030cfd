// Device memory that file descriptors identify, within one process: pieces of physical memory,
// ranges across their seams, and memory of pools. Between processes:
// hostgpu_fds_processes_test.cpp.
#include "support/catch.hpp"

#include "backend.h"

#include "support/fd_ranges.hpp"
#include "support/host_vendor/capture.h"
#include "support/moves/strided_move.hpp"

#include <ucd_memory.h>

#include <limits>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hostgpu_fds_test {

using namespace ucdtest;

namespace {

// What another process would open, in this one: the backend knows of no process.
struct Exported {
    ucd::Owner<ucd::Backend> backend = ucd::hostgpu::make_backend();
    ucd::FdHandle handle;
    Fds fds;

    Exported(const void *address, std::size_t bytes) {
        int made[UCD_IPC__MAX_FDS];
        std::size_t count = 0;
        REQUIRE(backend->export_fds(address, bytes, handle, made, std::size(made), count).ok());
        fds = Fds(std::vector<int>(made, made + count));
    }
    int open(const ucd::FdHandle &h, std::size_t bytes, const std::vector<int> &of,
             void *&opened) const {
        return backend->open_fds(0, h, bytes, of.data(), of.size(), opened).code();
    }
    std::vector<int> all() const { return {fds.data(), fds.data() + fds.count()}; }
};

} // namespace

TEST_CASE("a range of pieces is exported with a descriptor of each that it touches") {
    DeviceSession session;
    const Pieces pieces({2 * unit, unit, 3 * unit, unit});
    const struct {
        std::size_t offset, bytes;
        int fds;
    } ranges[] = {{0, 1, 1},
                  {0, 2 * unit, 1},
                  {0, 2 * unit + 1, 2},
                  {2 * unit - 1, unit + 2, 3},
                  {2 * unit, unit, 1},
                  {5, 7 * unit - 5, 4},
                  {7 * unit - 1, 1, 1}};
    const int open_before = count_open_files();
    for (const auto &r : ranges) {
        INFO(r.offset << " " << r.bytes);
        ucd_ipc_handle_t handle;
        int count = -1;
        REQUIRE(query(pieces.address + r.offset, r.bytes, handle, count) == UCD_SUCCESS);
        CHECK(count == r.fds);
        CHECK(count_open_files() == open_before);
        const SharedRange range = export_range(pieces.address + r.offset, r.bytes);
        CHECK(range.fds.count() == r.fds);
        CHECK(same(range.handle, handle));
        for (int i = 0; i < r.fds; ++i)
            CHECK((::fcntl(range.fds[static_cast<std::size_t>(i)], F_GETFD) & FD_CLOEXEC) != 0);
    }
    CHECK(count_open_files() == open_before);
    ucd_ipc_handle_t handle;
    int count = 0;
    for (const auto &[offset, bytes] : {std::pair<std::size_t, std::size_t>(0, 7 * unit + 1),
                                        {7 * unit - 1, 2},
                                        {1, SIZE_MAX},
                                        {3 * unit, SIZE_MAX - 3 * unit}})
        CHECK(query(pieces.address + offset, bytes, handle, count) == UCD_ERR__INVALID_ARG);
    // A handle alone is not enough for such memory.
    CHECK(ucd_ipc_export(pieces.address, 8, &handle) != UCD_SUCCESS);
}

TEST_CASE("memory that needs no descriptors is exported without") {
    DeviceSession session;
    void *memory = nullptr;
    REQUIRE(ucd_memory_alloc(device().c_str(), UCD_MEMORY__DEVICE, 1000, &memory) == UCD_SUCCESS);
    const SharedRange range = export_range(memory, 1000);
    CHECK(range.fds.count() == 0);
    ucd_ipc_handle_t alone;
    REQUIRE(ucd_ipc_export(memory, 1000, &alone) == UCD_SUCCESS);
    CHECK(same(range.handle, alone));
    std::uintptr_t bytes = 0;
    CHECK(open_range(range, bytes) == memory);
    CHECK(bytes == 1000);
    CHECK(ucd_ipc_close(memory) == UCD_SUCCESS);
    void *address = nullptr;
    const int fd = ::fcntl(2, F_DUPFD_CLOEXEC, 0);
    CHECK(ucd_ipc_open_fds(&range.handle, &fd, 1, device().c_str(), &address, &bytes) ==
          UCD_ERR__CORRUPT);
    ::close(fd);
    CHECK(ucd_memory_free(memory) == UCD_SUCCESS);
}

TEST_CASE("memory that was not made for it is not exported") {
    DeviceSession session;
    ucd_ipc_handle_t handle;
    int count = 5;
    const Pieces pieces({unit, unit}, mock::Exportable::no);
    CHECK(query(pieces.address, 8, handle, count) == UCD_ERR__NOT_SUPPORTED);
    void *const in_pool = mock::allocate_in_pool(0, 100, mock::Exportable::no);
    CHECK(query(in_pool, 8, handle, count) == UCD_ERR__NOT_SUPPORTED);
    mock::release(in_pool);
    void *const managed = mock::allocate(ucd::MemoryKind::managed, 0, 100);
    CHECK(query(managed, 8, handle, count) == UCD_ERR__NOT_SUPPORTED);
    CHECK(std::string(ucd_last_error()).find("managed") != std::string::npos);
    CHECK(ucd_ipc_export(managed, 8, &handle) == UCD_ERR__NOT_SUPPORTED);
    mock::release(managed);
    int here = 0;
    CHECK(query(&here, sizeof here, handle, count) == UCD_ERR__INVALID_ARG);
    CHECK(count == 5);
}

TEST_CASE("an export that fails leaves no descriptor open") {
    DeviceSession session;
    const Pieces pieces(std::vector<std::size_t>(5, unit));
    const int open_before = count_open_files();
    ucd_ipc_handle_t handle;
    int fds[5], count = 4;
    CHECK(ucd_ipc_export_fds(pieces.address, 5 * unit, &handle, fds, &count) == UCD_ERR__TRUNCATED);
    CHECK(count == 5);
    count = 0;
    CHECK(ucd_ipc_export_fds(pieces.address, 5 * unit, &handle, fds, &count) == UCD_SUCCESS);
    CHECK(count == 5);
    CHECK(count_open_files() == open_before);
    for (int n = 1; n <= 5; ++n) {
        count = 5;
        mock::knobs.failing_export = n;
        CHECK(ucd_ipc_export_fds(pieces.address, 5 * unit, &handle, fds, &count) ==
              UCD_ERR__DEVICE);
        CHECK(count == 5);
        CHECK(count_open_files() == open_before);
    }
}

TEST_CASE("there may be as many pieces as a message carries descriptors, of eight sizes in turn") {
    DeviceSession session;
    ucd_ipc_handle_t handle;
    int count = 0;
    const Pieces many(std::vector<std::size_t>(UCD_IPC__MAX_FDS + 1, unit));
    CHECK(query(many.address, UCD_IPC__MAX_FDS * unit, handle, count) == UCD_SUCCESS);
    CHECK(count == UCD_IPC__MAX_FDS);
    CHECK(query(many.address + 1, UCD_IPC__MAX_FDS * unit, handle, count) ==
          UCD_ERR__NOT_SUPPORTED);
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < 9; ++i) sizes.push_back((1 + i % 2) * unit);
    const Pieces irregular(sizes);
    CHECK(query(irregular.address, 12 * unit, handle, count) == UCD_SUCCESS);
    CHECK(count == 8);
    CHECK(query(irregular.address, 12 * unit + 1, handle, count) == UCD_ERR__NOT_SUPPORTED);
}

TEST_CASE("the handle of a range stays the same until other memory is there") {
    DeviceSession session;
    Pieces pieces({unit, unit, unit});
    const SharedRange first = export_range(pieces.address + 10, 2 * unit);
    CHECK(same(export_range(pieces.address + 10, 2 * unit).handle, first.handle));
    std::uintptr_t bytes = 0;
    // In this process it opens where it is.
    CHECK(open_range(first, bytes) == pieces.address + 10);
    CHECK(bytes == 2 * unit);
    CHECK(ucd_ipc_close(pieces.address + 10) == UCD_SUCCESS);
    mock::replace_piece(pieces.address + unit);
    ucd_ipc_handle_t handle;
    int count = 0;
    REQUIRE(query(pieces.address + 10, 2 * unit, handle, count) == UCD_SUCCESS);
    CHECK(!same(handle, first.handle));
    REQUIRE(query(pieces.address + 10, unit - 10, handle, count) == UCD_SUCCESS);
    void *address = nullptr;
    CHECK(ucd_ipc_open_fds(&first.handle, first.fds.data(), first.fds.count(), device().c_str(),
                           &address, &bytes) == UCD_ERR__CORRUPT);
    CHECK(address == nullptr);
}

TEST_CASE("what is opened reaches across seams, and ends where the memory ends") {
    DeviceSession session;
    const Pieces pieces({unit, 2 * unit, unit});
    const std::size_t offset = unit / 2 + 4;
    const std::vector<char> before = filled(4 * unit);
    mock::write(pieces.address, before.data(), before.size());
    const Exported exported(pieces.address + offset, extent);
    void *opened = nullptr;
    REQUIRE(exported.open(exported.handle, extent, exported.all(), opened) == UCD_SUCCESS);
    CHECK(opened != pieces.address);
    CHECK(exported.handle.offset == offset);
    complement(static_cast<char *>(opened) + offset, ints);
    std::vector<char> after(before.size());
    mock::read(after.data(), pieces.address, after.size());
    CHECK(is_complemented(after, before, offset, ints));
    exported.backend->close_memory(0, opened);
    CHECK(mock::counts.live_opens == 0);
}

TEST_CASE("a backend opens no more of pieces than there is") {
    DeviceSession session;
    const Pieces pieces({unit, 2 * unit, unit});
    const Exported exported(pieces.address + 100, 4 * unit - 200);
    REQUIRE(exported.fds.count() == 3);
    const int open_before = count_open_files();
    const auto refused = [&](const ucd::FdHandle &handle, std::size_t bytes,
                             const std::vector<int> &fds, int code) {
        void *opened = nullptr;
        CHECK(exported.open(handle, bytes, fds, opened) == code);
        CHECK(opened == nullptr);
        CHECK(mock::counts.live_opens == 0);
        CHECK(count_open_files() == open_before);
    };
    const std::vector<int> good = exported.all();
    refused(exported.handle, 4 * unit - 99, good, UCD_ERR__CORRUPT);
    refused(exported.handle, SIZE_MAX - 50, good, UCD_ERR__CORRUPT);
    ucd::FdHandle bad = exported.handle;
    bad.offset = 4 * unit + 1;
    refused(bad, 1, good, UCD_ERR__CORRUPT);
    bad.offset = UINT64_MAX;
    refused(bad, 2, good, UCD_ERR__CORRUPT);
    // The sizes of no pieces: of eight runs of pieces, three are used.
    for (std::size_t byte = 3 * 8; byte < sizeof bad.native; ++byte) {
        bad = exported.handle;
        bad.native[byte] = 1;
        refused(bad, 8, good, UCD_ERR__CORRUPT);
    }
    // Descriptors too few, too many, in another order, of other files.
    refused(exported.handle, 8, {good[0], good[1]}, UCD_ERR__CORRUPT);
    refused(exported.handle, 8, {}, UCD_ERR__CORRUPT);
    refused(exported.handle, 8, {good[0], good[1], good[2], good[0]}, UCD_ERR__CORRUPT);
    refused(exported.handle, 8, {good[1], good[0], good[2]}, UCD_ERR__DEVICE); // one is too short
    std::vector<int> others = {
        ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ::open("/dev/null", O_RDWR | O_CLOEXEC),
        ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), ::memfd_create("some file", MFD_CLOEXEC),
        // Named as device memory is, but it may shrink, or is too short.
        ::memfd_create("mock device memory of 0", MFD_CLOEXEC),
        ::memfd_create("mock device memory of 0", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    for (const int fd : {others[3], others[4]})
        REQUIRE(::ftruncate(fd, static_cast<off_t>(4 * unit)) == 0);
    REQUIRE(::fcntl(others[5], F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    const Fds closed_at_the_end(others);
    for (const int fd : others) {
        const int open_now = count_open_files();
        for (std::size_t i = 0; i < 3; ++i) {
            std::vector<int> fds = good;
            fds[i] = fd;
            void *opened = nullptr;
            CHECK(exported.open(exported.handle, 8, fds, opened) == UCD_ERR__DEVICE);
            CHECK(opened == nullptr);
        }
        CHECK(count_open_files() == open_now);
    }
    mock::knobs.failing_opens = 1;
    void *opened = nullptr;
    CHECK(exported.open(exported.handle, 8, good, opened) == UCD_ERR__DEVICE);
    // Bytes as they may come: refused, or opened with what there is.
    Rng rng(9);
    for (int i = 0; i < 5000; ++i) {
        bad = exported.handle;
        auto *const bytes = reinterpret_cast<unsigned char *>(&bad);
        for (std::size_t b = 0; b < sizeof bad; ++b)
            if (rng.chance(5)) bytes[b] = static_cast<unsigned char>(rng.bits());
        opened = nullptr;
        const std::size_t size = rng.chance(50) ? 8 : static_cast<std::size_t>(rng.bits());
        if (exported.open(bad, size, good, opened) != UCD_SUCCESS) continue;
        char byte = 0;
        mock::read(&byte, static_cast<char *>(opened) + bad.offset + size - 1, 1);
        exported.backend->close_memory(0, opened);
    }
    CHECK(mock::counts.live_opens == 0);
}

TEST_CASE("the public function refuses descriptors that are none, and other numbers of them") {
    DeviceSession session;
    const Pieces pieces({unit, unit});
    SharedRange range = export_range(pieces.address, 2 * unit);
    void *address = nullptr;
    std::uintptr_t bytes = 77;
    const auto open_with = [&](const int *fds, int count) {
        return ucd_ipc_open_fds(&range.handle, fds, count, device().c_str(), &address, &bytes);
    };
    const int closed[2] = {range.fds[0], 9999};
    const int negative[2] = {range.fds[0], -1};
    CHECK(open_with(closed, 2) == UCD_ERR__INVALID_ARG);
    CHECK(open_with(negative, 2) == UCD_ERR__INVALID_ARG);
    CHECK(open_with(range.fds.data(), std::numeric_limits<int>::max()) == UCD_ERR__INVALID_ARG);
    CHECK(open_with(nullptr, 0) == UCD_ERR__CORRUPT);
    CHECK(ucd_ipc_open(&range.handle, device().c_str(), &address, &bytes) == UCD_ERR__CORRUPT);
    for (std::size_t bit = 0; bit < 8 * sizeof range.handle.bytes; ++bit) {
        unsigned char &byte = range.handle.bytes[bit / 8];
        byte = static_cast<unsigned char>(byte ^ 1 << bit % 8);
        INFO("bit " << bit);
        CHECK(open_with(range.fds.data(), 2) == UCD_ERR__CORRUPT);
        byte = static_cast<unsigned char>(byte ^ 1 << bit % 8);
    }
    CHECK(address == nullptr);
    CHECK(bytes == 77);
}

TEST_CASE("memory of a pool is shared by one descriptor of the pool") {
    DeviceSession session;
    auto *const memory = static_cast<char *>(mock::allocate_in_pool(0, 4 * unit));
    REQUIRE(memory != nullptr);
    const std::vector<char> before = filled(4 * unit);
    mock::write(memory, before.data(), before.size());
    {
        const Exported exported(memory + 8, 4 * unit - 8);
        REQUIRE(exported.fds.count() == 1);
        void *opened = nullptr;
        REQUIRE(exported.open(exported.handle, 4 * unit - 8, exported.all(), opened) ==
                UCD_SUCCESS);
        complement(static_cast<char *>(opened) + 8, ints);
        std::vector<char> after(before.size());
        mock::read(after.data(), memory, after.size());
        CHECK(is_complemented(after, before, 8, ints));
        exported.backend->close_memory(0, opened);
        opened = nullptr;
        CHECK(exported.open(exported.handle, 4 * unit - 7, exported.all(), opened) ==
              UCD_ERR__CORRUPT);
        CHECK(exported.open(exported.handle, 8, {exported.fds[0], exported.fds[0]}, opened) ==
              UCD_ERR__CORRUPT);
        CHECK(opened == nullptr);
        CHECK(mock::counts.live_opens == 0);
    }
    ucd_ipc_handle_t handle;
    int count = 0;
    CHECK(query(memory, 4 * unit + 1, handle, count) == UCD_ERR__INVALID_ARG);
    CHECK(query(memory + 4 * unit - 1, 1, handle, count) == UCD_SUCCESS);
    mock::release(memory);
}

} // namespace hostgpu_fds_test
