// Units of work for backends. A Move transfers a byte range of the packed stream of (count, layout)
// to or from a packed buffer; a CopyMove transfers a range between two such streams.
#pragma once

#include "direction.h"
#include "element.h"
#include "layout.h"
#include "memory.h"
#include "span.h"
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

// The elements of a packed stream, for reductions. `kind` is the representation of all elements. If
// they differ, it is Element::none, and `runs`, a layout over the packed stream itself whose blocks
// have elements, tells which element is where.
struct Elements {
    Element kind = Element::none;
    Layout runs;
    int64_t extent = 0; // of one repetition of `runs`: the packed size of the type
};

enum class Engine : uint8_t {
    automatic,
    kernel,
    dma, // copy engines only (pitched_copies.h says what they support); never a kernel
};

struct Limits {
    uint32_t threads = 1;    // the most host threads for one call
    uint32_t max_blocks = 0; // the most compute units; 0: no limit
    Engine engine = Engine::automatic;
    friend bool operator==(const Limits &, const Limits &) = default;
};

// The settings that the moves of one call share. Small enough to be copied as one vector.
struct MoveSettings {
    Direction direction = Direction::pack;
    Op op = Op::replace; // destination = destination op source
    // The kinds of memory of the two sides, as far as they affect how to launch.
    MemoryKind typed_kind = MemoryKind::device, packed_kind = MemoryKind::device;
    Limits limits;
    friend bool operator==(const MoveSettings &, const MoveSettings &) = default;
};
static_assert(sizeof(MoveSettings) == 16);

struct Move {
    // See MoveSettings, from which set() takes these five.
    Direction direction = Direction::pack;
    Op op = Op::replace;
    MemoryKind typed_kind = MemoryKind::device, packed_kind = MemoryKind::device;
    Limits limits;
    void set(const MoveSettings &s) {
        direction = s.direction;
        op = s.op;
        typed_kind = s.typed_kind;
        packed_kind = s.packed_kind;
        limits = s.limits;
    }

    const KernelPlan *plan = nullptr; // made by the backend that runs the move
    char *typed = nullptr;            // the address of displacement 0; may be null
    char *packed = nullptr;           // the byte of the packed buffer for stream byte `offset`
    uint64_t count = 0;               // repetitions of the layout
    uint64_t offset = 0; // the first byte to move, in the packed stream of all repetitions
    uint64_t length = 0; // bytes to move, > 0
    const Elements *elements = nullptr; // set unless op is replace
};

inline Slice range_of(const Move &move) {
    return {move.offset, move.length};
}

// Copies bytes of one layout's packed stream to those of another layout's, or converts elements of
// the one to elements of the other. There is no packed buffer and no reduction.
struct CopyMove {
    struct Side {
        const KernelPlan *plan = nullptr; // made by the backend that runs the copy
        char *typed = nullptr;            // as in Move
        uint64_t count = 0;
        uint64_t offset = 0; // the first byte to copy, in this side's packed stream
    };
    Side from, to;
    uint64_t length = 0; // bytes to copy, > 0; of a conversion, bytes of the source's stream
    Limits limits;
    Op op = Op::replace; // or a conversion
    // The kinds of all elements that backends convert. A side without a plan is consecutive bytes:
    // the first one is at its address plus its offset.
    Element from_element = Element::none, to_element = Element::none;
};

// Moves to be launched together, in no particular order. The list does not own them.
struct MoveList {
    MoveList(std::span<const Move> list) : moves(list) {}
    MoveList(const std::vector<Move> &list) : moves(list) {}
    explicit MoveList(std::span<const CopyMove> list) : copies(list) {}
    MoveList(std::span<const Move> list, std::span<const CopyMove> copy_list)
        : moves(list), copies(copy_list) {}
    Span<const Move> moves;
    Span<const CopyMove> copies;
};

// The addresses of a move's two sides; see Move.
struct MoveAddresses {
    char *typed, *packed;
};

class MoveMaker;

// See the functions of MoveMaker, and the note on tables of functions in backend.h.
struct MoveMakerFunctions {
    uint32_t struct_size;
    std::size_t (*members)(const MoveMaker *);
    int (*make)(MoveMaker *, std::size_t *first, Move *move, MoveAddresses *at, std::size_t room,
                std::size_t *made);
    int (*divide)(MoveMaker *, unsigned *parts);
    MoveMaker *(*part)(MoveMaker *, unsigned i);
    int (*unite)(MoveMaker *);
};

// Makes the moves of a batch in portions, as a backend asks for them, because a list of all moves
// would only be written and read once more. The moves have equal settings, and no op. The frontend
// derives its makers from MoveMakerOf (implement.h).
class MoveMaker {
public:
    std::size_t members() const { return functions_->members(this); }
    // Makes the next moves, beginning with that of member `first`, and advances `first` to the
    // first remaining member. The moves of one call differ only in their addresses; `move` has what
    // they share. `made` is their number, which is 0 after the last one.
    Status make(std::size_t &first, Move &move, std::span<MoveAddresses> at, std::size_t &made) {
        return Status(functions_->make(this, &first, &move, at.data(), at.size(), &made));
    }

    // Divides the members into consecutive parts, one for each thread that should make moves. If
    // their number is 1, there are no parts. Each part counts its members from 0.
    Status divide(unsigned &parts) { return Status(functions_->divide(this, &parts)); }
    MoveMaker &part(unsigned i) { return *functions_->part(this, i); }
    // Called after the last call of a part.
    Status unite() { return Status(functions_->unite(this)); }

protected:
    explicit MoveMaker(const MoveMakerFunctions &functions) : functions_(&functions) {}
    ~MoveMaker() = default;

private:
    const MoveMakerFunctions *functions_;
};

// Makes all moves as a list.
inline Status make_all(MoveMaker &maker, std::vector<Move> &moves) {
    moves.clear();
    moves.reserve(maker.members()); // performance only: the list grows once
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
