// Pieces of work for a backend. A Move is a byte range of the packed stream of (count, layout), to
// or from a packed buffer; a CopyMove is a range of two such streams.
#pragma once

#include "direction.h"
#include "element.h"
#include "layout.h"
#include "memory.h"
#include "status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ucd {

class KernelPlan;

// A range of bytes of a packed stream.
struct Slice {
    uint64_t offset = 0, length = 0;
};

// What a packed stream is made of, for reductions. `kind` is the one representation of all
// elements, or Element::none where they differ: then `runs`, a layout over the packed stream itself
// whose blocks carry their element, tells what stands where.
struct Elements {
    Element kind = Element::none;
    Layout runs;
    int64_t extent = 0; // of one repetition of `runs`: the packed size of the type
};

enum class Engine : uint8_t {
    automatic,
    kernel,
    dma, // copy engines only: pitched_copies.h says what they take; no kernel may move it
};

struct Limits {
    uint32_t threads = 1;    // host threads for one call
    uint32_t max_blocks = 0; // compute units; 0: no cap
    Engine engine = Engine::automatic;
    friend bool operator==(const Limits &, const Limits &) = default;
};

// What the moves of one call have in common. It is copied as one vector.
struct MoveSettings {
    Direction direction = Direction::pack;
    Op op = Op::replace; // destination = destination op source
    // Where the two sides are, as far as the launch may profit from knowing it.
    MemoryKind typed_kind = MemoryKind::device, packed_kind = MemoryKind::device;
    Limits limits;
    friend bool operator==(const MoveSettings &, const MoveSettings &) = default;
};
static_assert(sizeof(MoveSettings) == 16);

struct Move : MoveSettings {
    const KernelPlan *plan = nullptr; // made by the backend that runs the move
    char *typed = nullptr;            // the address that displacement 0 stands for; may be null
    char *packed = nullptr; // the byte of the packed buffer that stream byte `offset` goes to
    uint64_t count = 0;     // repetitions of the layout
    uint64_t offset = 0;    // first byte of the packed stream of all repetitions
    uint64_t length = 0;    // bytes to move, > 0
    const Elements *elements = nullptr; // set unless op is replace
};

inline Slice range_of(const Move &move) {
    return {move.offset, move.length};
}

// Another kind of move: bytes of the packed stream of one layout become bytes of that of another.
// There is no packed buffer, and no reduction.
struct CopyMove {
    struct Side {
        const KernelPlan *plan = nullptr; // made by the backend that runs the copy
        char *typed = nullptr;            // as Move's
        uint64_t count = 0;
        uint64_t offset = 0; // the byte of this side's packed stream that the range begins with
    };
    Side from, to;
    uint64_t length = 0; // bytes to copy, > 0
    Limits limits;
};

// Moves to be launched together, unordered among each other. It refers to its moves.
struct MoveList {
    MoveList(std::span<const Move> list) : moves(list) {}
    MoveList(const std::vector<Move> &list) : moves(list) {}
    explicit MoveList(std::span<const CopyMove> list) : copies(list) {}
    MoveList(std::span<const Move> list, std::span<const CopyMove> copy_list)
        : moves(list), copies(copy_list) {}
    std::span<const Move> moves;
    std::span<const CopyMove> copies;
};

// Where a move's two sides are; see Move.
struct MoveAddresses {
    char *typed, *packed;
};

// Makes the moves of a batch as a backend asks for them: a list of them all would only be written
// and read once more. They have equal settings, and no op.
class MoveMaker {
public:
    virtual std::size_t members() const = 0;
    // The next moves, from that of member `first` on, which becomes the first member that is left:
    // as many as differ in their addresses only. What they have in common is in `move`; `made` is
    // how many they are, 0 after the last one.
    virtual Status make(std::size_t &first, Move &move, std::span<MoveAddresses> at,
                        std::size_t &made) = 0;

    // Divides the members into consecutive parts, for as many threads as may and should make them;
    // how many. Each part counts its members from 0. There are no parts if one thread is to do all.
    virtual unsigned divide() = 0;
    virtual MoveMaker &part(unsigned i) = 0;
    // After the last call of a part.
    virtual void unite() = 0;

protected:
    ~MoveMaker() = default;
};

// All of the maker's moves, as a list.
inline Status make_all(MoveMaker &maker, std::vector<Move> &moves) {
    moves.clear();
    moves.reserve(maker.members());
    std::array<MoveAddresses, 64> at;
    Move move;
    for (std::size_t first = 0, made = 1; made > 0;) {
        UCD_TRY(maker.make(first, move, at, made));
        for (const MoveAddresses &each : std::span(at).first(made)) {
            moves.push_back(move);
            moves.back().typed = each.typed;
            moves.back().packed = each.packed;
        }
    }
    return success;
}

} // namespace ucd
