#include "preload/comparison.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <new>
#include <vector>

namespace ucd_mpi {
namespace {

constexpr std::uintptr_t max_bytes = 256 << 10; // moved at once
constexpr MPI_Count max_span = 64 << 20;
constexpr int rounds = 5; // of which the shortest counts

using Seconds = std::chrono::duration<double>;

template <class Move>
void keep_shortest(double &shortest, Move move) {
    const auto begin = std::chrono::steady_clock::now();
    move();
    const Seconds time = std::chrono::steady_clock::now() - begin;
    shortest = std::min(shortest, time.count());
}

// Memory for some items of a type.
struct Items {
    std::vector<std::byte> memory;
    std::byte *buffer = nullptr;
    int count = 1;

    bool make(MPI_Datatype datatype, std::uintptr_t bytes, std::uintptr_t size) {
        MPI_Count lb = 0, extent = 0, true_lb = 0, true_extent = 0;
        if (PMPI_Type_get_extent_x(datatype, &lb, &extent) != MPI_SUCCESS ||
            PMPI_Type_get_true_extent_x(datatype, &true_lb, &true_extent) != MPI_SUCCESS)
            return false;
        count = static_cast<int>(std::max<std::uintptr_t>(1, std::min(bytes, max_bytes) / size));
        MPI_Count way = 0, span = 0; // from the first item to the last
        if (__builtin_mul_overflow(extent, static_cast<MPI_Count>(count - 1), &way) ||
            __builtin_add_overflow(way < 0 ? -way : way, true_extent, &span) || span > max_span)
            return false;
        memory.resize(static_cast<std::size_t>(span));
        buffer = memory.data() - true_lb - std::min<MPI_Count>(way, 0);
        return true;
    }
};

} // namespace

std::optional<Comparison> compare(MPI_Datatype datatype, ucd_type_t type, std::uintptr_t bytes) {
    std::uintptr_t size = 0;
    Items items;
    if (ucd_get_size(type, &size) != UCD_SUCCESS || size == 0 ||
        size > static_cast<std::uintptr_t>(max_span))
        return std::nullopt;
    try {
        if (!items.make(datatype, bytes, size)) return std::nullopt;
        const auto count = static_cast<std::uintptr_t>(items.count);
        std::vector<std::byte> packed(size * count), other(packed);
        const auto packed_size = static_cast<int>(packed.size());
        double mpi[2], ucd[2], copy = 1e9;
        std::fill_n(mpi, 2, 1e9);
        std::fill_n(ucd, 2, 1e9);
        int rc = MPI_SUCCESS, status = UCD_SUCCESS, position = 0;
        std::uintptr_t moved = 0;
        for (int i = 0; i < rounds && rc == MPI_SUCCESS && status == UCD_SUCCESS; ++i) {
            position = 0;
            keep_shortest(mpi[0], [&] {
                rc = PMPI_Pack(items.buffer, items.count, datatype, packed.data(), packed_size,
                               &position, MPI_COMM_SELF);
            });
            if (rc != MPI_SUCCESS) break;
            position = 0;
            keep_shortest(mpi[1], [&] {
                rc = PMPI_Unpack(packed.data(), packed_size, &position, items.buffer, items.count,
                                 datatype, MPI_COMM_SELF);
            });
            keep_shortest(ucd[0], [&] {
                status = ucd_pack(items.buffer, count, type, 0, packed.data(), packed.size(),
                                  &moved, UCD_INFO__NULL, UCD_OP__REPLACE);
            });
            if (status != UCD_SUCCESS) break;
            keep_shortest(ucd[1], [&] {
                status = ucd_unpack(packed.data(), packed.size(), items.buffer, count, type, 0,
                                    &moved, UCD_INFO__NULL, UCD_OP__REPLACE);
            });
            keep_shortest(copy, [&] { std::memcpy(other.data(), packed.data(), packed.size()); });
        }
        if (rc != MPI_SUCCESS || status != UCD_SUCCESS) return std::nullopt;
        return Comparison{(mpi[0] + mpi[1]) / (ucd[0] + ucd[1]),
                          copy / static_cast<double>(packed.size())};
    } catch (const std::bad_alloc &) {
        return std::nullopt;
    }
}

} // namespace ucd_mpi
