// Batches of packs as the tests of the GPU backend make them.
#pragma once

#include "support/catch.hpp"
#include "support/moves/batch_moves.hpp"
#include "support/moves/strided_move.hpp"

#include <list>
#include <vector>

namespace ucdtest {

// That both sides are on the first device. Batches with hints are known again before the backend
// sees them.
class Hints : public Keys {
public:
    explicit Hints(bool given, const char *threads = nullptr) {
        if (threads != nullptr) set("ucd.threads", threads);
        if (!given) return;
        for (const char *key : {"ucd.inbuf", "ucd.outbuf"}) set(key, hint_for(Memory::device0));
    }
};

inline void forget_counts() {
    mock::counts.launches = mock::counts.copies = mock::counts.allocations = 0;
}

// `members` of doubles by a stride, each of another length.
struct Vectors {
    Case one{"vectors", 0};
    std::list<Subject> subjects;
    BatchMoves moves{one};

    explicit Vectors(int members, Memory typed = Memory::device0, Memory packed = Memory::device0) {
        for (int i = 0; i < members; ++i) {
            const Subject &s = subjects.emplace_back(make_subject(
                one, recipes::vector(10 + i % 90, 1, 2 + i % 5, recipes::leaf(UCD_TYPE__DOUBLE)),
                1));
            moves.add(s, 0, s.size());
        }
        moves.allocate(typed, packed);
    }
};

// A member of four doubles whose indices are in device memory.
class MemberByReference {
public:
    MemberByReference() {
        mock::write(indices_, places, sizeof places);
        mock::write(typed_, values, sizeof values);
        REQUIRE(ucd_create_indexed_block_ref(4, 1, indices_, UCD_TYPE__INT32_T, 8, 0, 64,
                                             UCD_TYPE__DOUBLE, UCD_INFO__NULL,
                                             &type_) == UCD_SUCCESS);
    }
    ~MemberByReference() {
        ucd_free(&type_);
        for (void *memory : {indices_, typed_, packed_}) mock::release(memory);
    }
    MemberByReference(const MemberByReference &) = delete;
    MemberByReference &operator=(const MemberByReference &) = delete;

    ucd_move_t move() const { return pack_move(typed_, 1, type_, 0, packed_, 32); }
    void check() const {
        double got[4];
        mock::read(got, packed_, sizeof got);
        for (int i = 0; i < 4; ++i) CHECK(got[i] == values[places[i]]);
    }

private:
    static constexpr std::int32_t places[] = {3, 1, 0, 2};
    static constexpr double values[] = {1, 2, 3, 4};
    void *const indices_ = mock::allocate(ucd::MemoryKind::device, 0, 16);
    void *const typed_ = mock::allocate(ucd::MemoryKind::device, 0, 64);
    void *const packed_ = mock::allocate(ucd::MemoryKind::device, 0, 32);
    ucd_type_t type_ = UCD_TYPE__NULL;
};

} // namespace ucdtest
