// Many moves between two buffers that they share, for batches: each member has its own place in
// both.
#pragma once

#include "support/moves/device_moves.hpp"
#include "support/moves/move_list.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace ucdtest {

// Something of every form: nests, lists, structs, many levels, transposes, one block, and what
// needs a program.
std::vector<RecipePtr> all_forms();

class BatchMoves {
public:
    explicit BatchMoves(Case &one) : one_(one) {}

    // Bytes [offset, offset + length) of the subject, which lives longer.
    void add(const Subject &subject, std::size_t offset, std::size_t length);
    // A random range, often all of it.
    void add_range(const Subject &subject);

    // Once all members are there.
    void allocate(Memory typed, Memory packed);

    MoveList packs() const { return list(true); }
    MoveList unpacks() const { return list(false); }
    MoveList list(bool packs) const;

    // Makes the expected images with new data, and sends both buffers to their memories.
    void set_up_pack() { set_up(true); }
    void set_up_unpack() { set_up(false); }
    void set_up(bool packs);
    void check(const char *what);

    std::size_t size() const { return members_.size(); }
    std::size_t bytes_moved() const;
    bool engines_can() const;

private:
    struct Member {
        const Subject *subject;
        std::size_t offset, length;
        std::intptr_t typed, packed; // in the buffers
    };
    std::intptr_t place(std::intptr_t &end, std::intptr_t bytes);

    Case &one_;
    std::vector<Member> members_;
    std::intptr_t typed_end_ = 0, packed_end_ = 0;
    std::unique_ptr<DeviceBuffer> typed_, packed_;
};

} // namespace ucdtest
