// The displacements and lengths that a constructor of a type was given. They have an owner with a
// state of its own: the type does not change, but its lists are given up once a layout says the
// same, and are then made from that for who asks; see types/lists.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace ucd {

class BlockLists {
public:
    BlockLists() = default;
    ~BlockLists(); // keeps their memory for the next type
    BlockLists(const BlockLists &) = delete;
    BlockLists &operator=(const BlockLists &) = delete;

    // Filled by the constructor of the type. Read while they are held, or where nobody gives them
    // up: those of structures, and the lengths unless give_up() said so.
    std::vector<int64_t> displs, lengths;

    // Keeps the lists until drop(); false if they have been given up.
    bool hold();
    void drop();
    // Frees the displacements, and the lengths if `lengths_too`, as soon as nobody holds them.
    void give_up(bool lengths_too);
    // Whether the lengths are, or will be, given up.
    bool gives_up_lengths() const;

private:
    void free_if_unused(uint32_t state);
    std::atomic<uint32_t> state_{0}; // how many hold the lists, and what is given up
};

} // namespace ucd
