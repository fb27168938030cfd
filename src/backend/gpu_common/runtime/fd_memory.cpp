#include "runtime/fd_memory.h"

#include "runtime/check.h"
#include "runtime/driver.h"
#include "runtime/fd_calls.h"
#include "runtime/shared_memory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace ucd::UCD_GPU {
namespace {

using driver::MappedPiece;
using driver::PoolMemory;
using driver::SharedBy;

// The lowest bit of a handle's identity says what its descriptors are.
constexpr uint64_t is_pool = 1;

uint64_t mix(uint64_t so_far, uint64_t next) {
    const uint64_t mixed = (so_far ^ next) * 0x9e3779b97f4a7c15u;
    return mixed ^ mixed >> 29;
}

// The sizes of pieces, which a handle has room for if they are regular: so many of one size, then
// so many of another.
class PieceSizes {
public:
    Status add(std::size_t bytes) {
        if (all_.size() == max_fds)
            return fail(UCD_ERR__NOT_SUPPORTED,
                        "the range has more than %zu pieces of memory; share parts of it", max_fds);
        if (bytes % unit != 0 || bytes / unit > UINT32_MAX)
            return fail(UCD_ERR__NOT_SUPPORTED, "a piece of memory has %zu bytes", bytes);
        const auto units = static_cast<uint32_t>(bytes / unit);
        if (runs_ == 0 || runs_at_[runs_ - 1].units != units) {
            if (runs_ == runs_at_.size())
                return fail(UCD_ERR__NOT_SUPPORTED,
                            "the range has pieces of memory of too many different sizes");
            runs_at_[runs_++] = {0, units};
        }
        ++runs_at_[runs_ - 1].pieces;
        all_.push_back(bytes);
        return success;
    }

    void write(unsigned char (&native)[sizeof FdHandle::native]) const {
        std::memcpy(native, runs_at_.data(), sizeof runs_at_);
    }

    // From another process.
    Status read(const unsigned char (&native)[sizeof FdHandle::native], std::size_t count) {
        std::memcpy(runs_at_.data(), native, sizeof runs_at_);
        std::size_t left = count;
        for (const Run &run : runs_at_) {
            if (run.pieces > left || (run.pieces > 0) != (run.units > 0))
                return fail(UCD_ERR__CORRUPT, "handle does not fit its %zu descriptors", count);
            left -= run.pieces;
            all_.insert(all_.end(), run.pieces, run.units * std::size_t{unit});
        }
        if (left == 0) return success;
        return fail(UCD_ERR__CORRUPT, "handle does not fit its %zu descriptors", count);
    }

    // At most max_fds * 2^44.
    std::size_t total() const {
        std::size_t sum = 0;
        for (const std::size_t bytes : all_) sum += bytes;
        return sum;
    }
    const std::vector<std::size_t> &all() const { return all_; }

private:
    static constexpr std::size_t unit = 4096; // drivers' pages have a multiple of it
    struct Run {
        uint32_t pieces = 0, units = 0;
    };
    std::array<Run, sizeof(FdHandle::native) / sizeof(Run)> runs_at_ = {};
    static_assert(sizeof runs_at_ == sizeof(FdHandle::native));
    std::size_t runs_ = 0;
    std::vector<std::size_t> all_;
};

// Closes the descriptors that an export has made, unless it succeeds.
class NewFds {
public:
    explicit NewFds(std::span<int> fds) : fds_(fds) {}
    ~NewFds() {
        for (std::size_t i = 0; i < made_; ++i) (void)::close(fds_[i]); // nothing was written
    }
    NewFds(const NewFds &) = delete;
    NewFds &operator=(const NewFds &) = delete;

    template <class Export>
    Status add(const Export &make) {
        int fd = -1;
        UCD_TRY(make(fd));
        fds_[made_++] = fd;
        // Drivers may make descriptors that other programs inherit.
        if (::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) return success;
        return fail(UCD_ERR__DEVICE, "%s: the driver's descriptor %d is none: %s", runtime_name, fd,
                    std::strerror(errno));
    }
    void keep() { made_ = 0; }

private:
    const std::span<int> fds_;
    std::size_t made_ = 0;
};

Status check_room(std::span<int> fds, std::size_t needed) {
    if (fds.size() >= needed) return success;
    return fail(UCD_ERR__TRUNCATED, "%zu descriptors are needed, and there is room for %zu", needed,
                fds.size());
}

Status export_pieces(uintptr_t begin, std::size_t bytes, FdHandle &handle, std::span<int> fds,
                     std::size_t &count) {
    PieceSizes sizes;
    std::vector<const void *> pieces;
    handle = {};
    uintptr_t next = begin;
    // Written so that nothing overflows: the range may end anywhere.
    for (std::size_t left = bytes; left > 0;) {
        const auto *const address = reinterpret_cast<const void *>(next);
        MappedPiece piece;
        UCD_TRY(driver::find_piece(address, piece));
        if (next - piece.begin >= piece.bytes || (!pieces.empty() && piece.begin != next))
            return fail(UCD_ERR__INVALID_ARG, "there is no whole piece of memory at %p", address);
        if (pieces.empty()) handle.offset = next - piece.begin;
        UCD_TRY(sizes.add(piece.bytes));
        pieces.push_back(address);
        handle.identity = mix(mix(handle.identity, piece.identity), piece.begin);
        const std::size_t here = piece.bytes - (next - piece.begin);
        left -= std::min(left, here);
        next += here;
    }
    handle.identity = (handle.identity | 2) & ~is_pool;
    sizes.write(handle.native);
    count = pieces.size();
    if (fds.data() != nullptr) {
        UCD_TRY(check_room(fds, pieces.size()));
        NewFds made(fds);
        for (const void *piece : pieces)
            UCD_TRY(made.add([piece](int &fd) { return driver::export_piece(piece, fd); }));
        made.keep();
    }
    return success;
}

Status export_of_pool(const void *address, std::size_t bytes, FdHandle &handle, std::span<int> fds,
                      std::size_t &count) {
    void *start = nullptr;
    std::size_t size = 0;
    UCD_TRY(driver::find_allocation(address, start, size));
    handle = {};
    handle.offset = static_cast<uint64_t>(static_cast<const char *>(address) -
                                          static_cast<const char *>(start));
    UCD_TRY(check_range(UCD_ERR__INVALID_ARG, size, handle.offset, bytes));
    driver::PoolHandle native;
    static_assert(sizeof native.native == sizeof handle.native);
    uint64_t identity = 0;
    UCD_TRY(driver::export_from_pool(start, native, identity));
    handle.identity = mix(identity, reinterpret_cast<uintptr_t>(start)) | is_pool;
    std::memcpy(handle.native, native.native, sizeof handle.native);
    if (fds.data() != nullptr) {
        NewFds made(fds);
        UCD_TRY(made.add([start](int &fd) { return driver::export_pool(start, fd); }));
        made.keep();
    }
    count = 1;
    return success;
}

// What open_fds() has opened, by its address. Never destroyed, since memory may be closed at exit.
struct Opened {
    std::vector<std::size_t> pieces; // their sizes; none: `pool` it is
    PoolMemory pool;
};
struct AllOpened {
    std::mutex mutex;
    // Drivers may open the same memory of a pool at the same address again.
    std::unordered_multimap<void *, Opened> by_address;
};
AllOpened &all_opened() {
    static auto *const all = new AllOpened;
    return *all;
}

void close(void *allocation, const Opened &opened) {
    if (opened.pieces.empty())
        driver::close_from_pool(opened.pool);
    else
        driver::unmap_pieces(allocation, opened.pieces);
}

Status open_pieces(int device, const FdHandle &handle, std::size_t bytes, std::span<const int> fds,
                   void *&address, Opened &opened) {
    PieceSizes sizes;
    UCD_TRY(sizes.read(handle.native, fds.size()));
    UCD_TRY(check_range(UCD_ERR__CORRUPT, sizes.total(), handle.offset, bytes));
    opened.pieces = sizes.all(); // once they are mapped, nothing fails
    return driver::map_pieces(device, fds, sizes.all(), address);
}

Status open_in_pool(int device, const FdHandle &handle, std::size_t bytes, std::span<const int> fds,
                    void *&address, Opened &opened) {
    if (fds.size() != 1)
        return fail(UCD_ERR__CORRUPT, "handle does not fit its %zu descriptors", fds.size());
    driver::PoolHandle native;
    std::memcpy(native.native, handle.native, sizeof native.native);
    PoolMemory memory;
    UCD_TRY(driver::open_from_pool(device, fds.front(), native, memory));
    UCD_TRY(undone(check_range(UCD_ERR__CORRUPT, memory.bytes, handle.offset, bytes),
                   [&memory] { driver::close_from_pool(memory); }));
    opened.pool = memory;
    address = memory.address;
    return success;
}

} // namespace

Status export_fds(const MemoryLocation &location, const void *address, std::size_t bytes,
                  FdHandle &handle, std::span<int> fds, std::size_t &count) {
    SharedBy by;
    UCD_TRY(driver::find_sharing(location, address, by));
    count = 0;
    switch (by) {
    case SharedBy::handle: return success;
    case SharedBy::pool: return export_of_pool(address, bytes, handle, fds, count);
    case SharedBy::pieces: break;
    }
    return export_pieces(reinterpret_cast<uintptr_t>(address), bytes, handle, fds, count);
}

Status open_fds(int device, const FdHandle &handle, std::size_t bytes, std::span<const int> fds,
                void *&allocation) {
    // The entry comes first: once the memory is open, nothing fails.
    std::unordered_multimap<void *, Opened> entry;
    entry.emplace(nullptr, Opened());
    auto node = entry.extract(entry.begin());
    AllOpened &all = all_opened();
    const std::lock_guard lock(all.mutex);
    all.by_address.reserve(all.by_address.size() + 1);
    const auto open = (handle.identity & is_pool) != 0 ? open_in_pool : open_pieces;
    UCD_TRY(open(device, handle, bytes, fds, node.key(), node.mapped()));
    allocation = node.key();
    all.by_address.insert(std::move(node));
    return success;
}

bool close_fds(void *allocation) {
    AllOpened &all = all_opened();
    std::unordered_multimap<void *, Opened>::node_type node;
    {
        const std::lock_guard lock(all.mutex);
        node = all.by_address.extract(allocation);
    }
    if (node.empty()) return false;
    close(allocation, node.mapped());
    return true;
}

} // namespace ucd::UCD_GPU
