#include "preload/comparison.h"

#include "preload/world.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <new>
#include <vector>

namespace ucd_mpi {
namespace {

// Times of one kind of call.
struct Time {
    double first = 0, shortest = 0; // seconds; 0 before the first

    template <class Move>
    void take(Move move) {
        const auto begin = std::chrono::steady_clock::now();
        move();
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
        if (first == 0) first = shortest = time.count();
        shortest = std::min(shortest, time.count());
    }
};

// Memory for some items of a type.
struct Items {
    std::vector<std::byte> memory;
    std::byte *buffer = nullptr;
    int count = 1;

    // Allocates for the union of MPI's and UCD's true bounds: some MPI libraries report wrong true
    // bounds and still move data to where UCD's bounds are.
    bool make(MPI_Datatype datatype, ucd_type_t type, std::uintptr_t bytes, std::uintptr_t size,
              const Effort &effort) {
        MPI_Count lb = 0, extent = 0, true_lb = 0, true_extent = 0;
        std::intptr_t low = 0, between = 0;
        if (PMPI_Type_get_extent_x(datatype, &lb, &extent) != MPI_SUCCESS ||
            PMPI_Type_get_true_extent_x(datatype, &true_lb, &true_extent) != MPI_SUCCESS ||
            ucd_get_true_extent(type, &low, &between) != UCD_SUCCESS)
            return false;
        const MPI_Count high = std::max<MPI_Count>(true_lb + true_extent, low + between);
        true_lb = std::min<MPI_Count>(true_lb, low);
        true_extent = high - true_lb;
        count =
            static_cast<int>(std::max<std::uintptr_t>(1, std::min(bytes, effort.max_bytes) / size));
        MPI_Count way = 0, span = 0; // from the first item to the last
        if (__builtin_mul_overflow(extent, static_cast<MPI_Count>(count - 1), &way) ||
            __builtin_add_overflow(way < 0 ? -way : way, true_extent, &span) ||
            span > effort.max_span)
            return false;
        memory.resize(static_cast<std::size_t>(span));
        buffer = memory.data() - true_lb - std::min<MPI_Count>(way, 0);
        return true;
    }
};

} // namespace

std::optional<Comparison> compare(MPI_Datatype datatype, ucd_type_t type, std::uintptr_t bytes,
                                  const Effort &effort) {
    std::uintptr_t size = 0;
    Items items;
    if (!has_world() || // MPI_Pack takes a communicator
        ucd_get_size(type, &size) != UCD_SUCCESS || size == 0 ||
        size > static_cast<std::uintptr_t>(effort.max_span))
        return std::nullopt;
    try {
        if (!items.make(datatype, type, bytes, size, effort)) return std::nullopt;
        const auto count = static_cast<std::uintptr_t>(items.count);
        std::vector<std::byte> packed(size * count), other(packed);
        const auto packed_size = static_cast<int>(packed.size());
        Time mpi_pack, mpi_unpack, pack, unpack, copy;
        int rc = MPI_SUCCESS, status = UCD_SUCCESS, position = 0;
        std::uintptr_t moved = 0;
        for (int i = 0; i < effort.rounds && rc == MPI_SUCCESS && status == UCD_SUCCESS; ++i) {
            position = 0;
            mpi_pack.take([&] {
                rc = PMPI_Pack(items.buffer, items.count, datatype, packed.data(), packed_size,
                               &position, MPI_COMM_SELF);
            });
            if (rc != MPI_SUCCESS) break;
            position = 0;
            mpi_unpack.take([&] {
                rc = PMPI_Unpack(packed.data(), packed_size, &position, items.buffer, items.count,
                                 datatype, MPI_COMM_SELF);
            });
            pack.take([&] {
                status = ucd_pack(items.buffer, count, type, 0, packed.data(), packed.size(),
                                  &moved, UCD_INFO__NULL, UCD_OP__REPLACE);
            });
            if (status != UCD_SUCCESS) break;
            unpack.take([&] {
                status = ucd_unpack(packed.data(), packed.size(), items.buffer, count, type, 0,
                                    &moved, UCD_INFO__NULL, UCD_OP__REPLACE);
            });
            copy.take([&] { std::memcpy(other.data(), packed.data(), packed.size()); });
        }
        if (rc != MPI_SUCCESS || status != UCD_SUCCESS) return std::nullopt;
        const auto all = static_cast<double>(packed.size());
        return Comparison{(mpi_pack.shortest + mpi_unpack.shortest) / all,
                          (pack.shortest + unpack.shortest) / all, copy.shortest / all,
                          pack.first - pack.shortest + unpack.first - unpack.shortest};
    } catch (const std::bad_alloc &) {
        return std::nullopt;
    }
}

std::uint64_t Gain::bytes_to_pay(std::uint64_t nanoseconds) const {
    constexpr double never = 1e18;
    const double spent = static_cast<double>(nanoseconds) + first_use;
    return static_cast<std::uint64_t>(per_byte > 0 ? std::min(never, spent / per_byte) : never);
}

std::optional<Gain> measure_gain(MPI_Datatype datatype, ucd_type_t type) {
    const auto measured = compare(datatype, type, brief.max_bytes, brief);
    if (!measured) return std::nullopt;
    constexpr double nanoseconds = 1e9;
    return Gain{nanoseconds * ((measured->mpi - measured->ucd) / 2 - measured->copy),
                nanoseconds * measured->first_use};
}

} // namespace ucd_mpi
