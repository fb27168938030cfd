// Device memory for other processes by file descriptors: see fake_pieces.h.
#include "support/host_vendor/state.h"
#include "vendor.h"

#include "runtime/fd_calls.h"

#include "support/fake_device/fake_driver.h"
#include "support/fake_device/fake_pieces.h"
#include "support/spared_allocations.hpp"

#include <cstring>

#include <fcntl.h>

namespace ucd::hostgpu::driver {
namespace {

struct InPool {
    std::uint64_t offset, bytes; // of the pool's file
};

Status refuse_some(std::atomic<int> &knob, const char *what) {
    if (!is_failing_one(knob) && !is_refused()) return success;
    return fail(UCD_ERR__DEVICE, "mock: %s was refused", what);
}

Status copy_file(int file, int &fd) {
    UCD_TRY(refuse_some(mock::knobs.failing_export, "exporting memory"));
    fd = ::fcntl(file, F_DUPFD, 0); // as drivers do, without close-on-exec
    if (fd < 0) return fail(UCD_ERR__DEVICE, "mock: there is no descriptor left");
    ++mock::counts.exports;
    return success;
}

Status refuse_open() {
    if (mock::knobs.failing_opens > 0) {
        --mock::knobs.failing_opens;
        return fail(UCD_ERR__DEVICE, "mock: opening memory was refused");
    }
    return is_refused() ? fail(UCD_ERR__DEVICE, "mock: opening memory was refused") : success;
}

Status opened(void *address) {
    if (address == nullptr)
        return fail(UCD_ERR__DEVICE, "mock: a descriptor is not of memory within reach");
    ++mock::counts.opens;
    ++mock::counts.live_opens;
    return success;
}

} // namespace

Status find_sharing(const MemoryLocation &, const void *address, SharedBy &by) {
    switch (mock::find_piece(address).kind) {
    case mock::Piece::Kind::none: by = SharedBy::handle; break;
    case mock::Piece::Kind::mapped: by = SharedBy::pieces; break;
    case mock::Piece::Kind::pool: by = SharedBy::pool; break;
    }
    return success;
}

Status find_piece(const void *address, MappedPiece &piece) {
    const mock::Piece found = mock::find_piece(address);
    if (found.kind != mock::Piece::Kind::mapped)
        return fail(UCD_ERR__INVALID_ARG, "no memory is mapped at %p", address);
    if (!found.exportable)
        return fail(UCD_ERR__NOT_SUPPORTED, "the memory at %p cannot be shared", address);
    piece = {reinterpret_cast<uintptr_t>(found.begin), found.bytes, found.identity};
    return success;
}

Status export_piece(const void *address, int &fd) {
    return copy_file(mock::find_piece(address).file, fd);
}

Status map_pieces(int device, std::span<const int> fds, std::span<const std::size_t> sizes,
                  void *&address) {
    UCD_TRY(refuse_open());
    const ucdtest::SpareAllocations spared;
    address = mock::map_pieces(device, fds, sizes);
    return opened(address);
}

void unmap_pieces(void *address, std::span<const std::size_t> sizes) {
    char *piece = static_cast<char *>(address);
    for (const std::size_t bytes : sizes) {
        mock::unmap_piece(piece);
        piece += bytes;
    }
    --mock::counts.live_opens;
}

Status export_from_pool(const void *allocation, PoolHandle &handle, uint64_t &identity) {
    const mock::Piece found = mock::find_piece(allocation);
    if (!found.exportable)
        return fail(UCD_ERR__NOT_SUPPORTED, "the pool of %p cannot be shared", allocation);
    const InPool data{found.offset, found.bytes};
    std::memcpy(handle.native, &data, sizeof data);
    identity = found.identity;
    return success;
}

Status export_pool(const void *allocation, int &fd) {
    return copy_file(mock::find_piece(allocation).file, fd);
}

Status open_from_pool(int device, int fd, const PoolHandle &handle, PoolMemory &memory) {
    UCD_TRY(refuse_open());
    InPool data;
    std::memcpy(&data, handle.native, sizeof data);
    const ucdtest::SpareAllocations spared;
    memory = {mock::open_in_pool(device, fd, data.offset, data.bytes), data.bytes, nullptr};
    return opened(memory.address);
}

void close_from_pool(const PoolMemory &memory) {
    mock::release(memory.address);
    --mock::counts.live_opens;
}

} // namespace ucd::hostgpu::driver
