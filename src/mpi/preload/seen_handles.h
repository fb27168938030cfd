// Handles of types that have, or once had, the attribute. MPI is asked for the attribute of these
// handles only: for an invalid handle it would raise an error on MPI_COMM_WORLD, where the user's
// call raises it on its own communicator.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ucd_mpi {

// Thread-safe and lock-free. A Bloom filter: it may report a handle that was never added.
class SeenHandles {
public:
    using Handle = std::uintptr_t;

    void add(Handle type) {
        bits_[word_of(type)].fetch_or(mask_of(type), std::memory_order_relaxed);
    }
    bool may_contain(Handle type) const {
        return (bits_[word_of(type)].load(std::memory_order_relaxed) & mask_of(type)) != 0;
    }

private:
    static constexpr std::size_t words = 512; // powers of two
    static constexpr std::uint64_t hash(Handle type) {
        return (std::uint64_t{type} * 0x9e3779b97f4a7c15) >> 32;
    }
    static constexpr std::size_t word_of(Handle type) { return hash(type) / 64 % words; }
    static constexpr std::uint64_t mask_of(Handle type) {
        return std::uint64_t{1} << hash(type) % 64;
    }

    std::array<std::atomic<std::uint64_t>, words> bits_{};
};

} // namespace ucd_mpi
