// Committed types that have not been read, with the number of bytes moved with each. What is learnt
// about a type is an attribute of it. Setting and deleting an attribute takes as long as a message
// of a kilobyte, and programs that make a new type for each message often free it before reading it
// would pay.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ucd_mpi {

// Thread-safe and lock-free. Only one thread's `remove` of a type returns true. A type that MPI
// freed without this library's knowledge stays until a type of the same handle replaces it.
class UnreadTypes {
public:
    using Handle = std::uintptr_t; // 0 is no handle

    // False if the type's place is in use.
    bool add(Handle type);
    bool contains(Handle type) const {
        return type != 0 && place_of(type).type.load(std::memory_order_acquire) == type;
    }
    // Adds `bytes` and returns the sum so far. For a type that is not in the table, the result is
    // arbitrary.
    std::uint64_t count(Handle type, std::uint64_t bytes) {
        return place_of(type).bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    }
    std::uint64_t bytes_moved(Handle type) const {
        return place_of(type).bytes.load(std::memory_order_relaxed);
    }
    // False if the type is not in the table.
    bool remove(Handle type);
    void clear();

    static constexpr std::size_t max_types = 64;

private:
    struct Unread {
        std::atomic<Handle> type{0};
        std::atomic<std::uint64_t> bytes{0};
    };
    // Handles are addresses, or numbers whose lowest bits are an index.
    static std::size_t index_of(Handle type) { return (type ^ type >> 6 ^ type >> 12) % max_types; }
    const Unread &place_of(Handle type) const { return types_[index_of(type)]; }
    Unread &place_of(Handle type) { return types_[index_of(type)]; }

    std::array<Unread, max_types> types_;
};

} // namespace ucd_mpi
