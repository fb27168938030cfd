// Committed types of which nothing is known but how much was moved with them. What is known of a
// type is an attribute of it. To set it and to delete it takes as long as a message of a kilobyte,
// and programs that make a type anew for each message often free it before reading it would pay.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ucd_mpi {

// Any thread, without a lock. Whoever removes a type is the only one who does. A type that MPI
// freed without this library's knowledge stays: then one of the same handle takes its place.
class UnreadTypes {
public:
    using Handle = std::uintptr_t; // never 0, but for what is no handle

    // False if there is no room for it.
    bool add(Handle type);
    bool contains(Handle type) const {
        return type != 0 && place_of(type).type.load(std::memory_order_acquire) == type;
    }
    // `bytes` are moved with it now; returns all so far. Of a type that is not here, any number.
    std::uint64_t count(Handle type, std::uint64_t bytes) {
        return place_of(type).bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    }
    std::uint64_t bytes_moved(Handle type) const {
        return place_of(type).bytes.load(std::memory_order_relaxed);
    }
    // False if it is not here.
    bool remove(Handle type);
    void clear();

    static constexpr std::size_t max_types = 64;

private:
    struct Unread {
        std::atomic<Handle> type{0};
        std::atomic<std::uint64_t> bytes{0};
    };
    // Handles are numbers with the index in the lowest bits, or addresses.
    static std::size_t index_of(Handle type) { return (type ^ type >> 6 ^ type >> 12) % max_types; }
    const Unread &place_of(Handle type) const { return types_[index_of(type)]; }
    Unread &place_of(Handle type) { return types_[index_of(type)]; }

    std::array<Unread, max_types> types_;
};

} // namespace ucd_mpi
