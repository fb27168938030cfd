// Device memory that the mock's driver shares by file descriptors: pieces of physical memory that
// are mapped one behind the other, and memory of pools. It is strict, as all memory of
// fake_driver.h is: a device's thread may cross from one piece into the next one, and nobody may
// cross its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mock {

// Pieces have a multiple of this size.
inline constexpr std::size_t granularity = 16384;

enum class Exportable : bool { no, yes };

// Physical memory of these sizes, mapped one behind the other. Null if there is none. Each piece
// ends with unmap_piece().
void *map_new_pieces(int device, std::span<const std::size_t> sizes,
                     Exportable exportable = Exportable::yes);
void unmap_piece(void *address);
// Maps new physical memory in the place of the piece at the address.
void replace_piece(void *address);

// An allocation of a pool, which consists of it and of what lies before and behind it.
void *allocate_in_pool(int device, std::size_t bytes, Exportable exportable = Exportable::yes);

// What the memory of an address is.
struct Piece {
    enum class Kind : std::uint8_t { none, mapped, pool } kind = Kind::none;
    char *begin = nullptr;
    std::size_t bytes = 0;
    std::uint64_t identity = 0;
    bool exportable = false;
    int file = -1;          // the mock's own
    std::size_t offset = 0; // in the file, of memory of a pool
};
Piece find_piece(const void *address);

// As they come from another process: opened only if each file is one of device memory, and not too
// small. The files remain the caller's.
void *map_pieces(int device, std::span<const int> files, std::span<const std::size_t> sizes);
void *open_in_pool(int device, int file, std::size_t offset, std::size_t bytes);

} // namespace mock
