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
    // In one call.
    void pack_and_check(const char *what, ucd_info_t info = UCD_INFO__NULL) {
        moves.set_up_pack();
        REQUIRE(move_all(moves.packs(), info) == UCD_SUCCESS);
        moves.check(what);
    }
    void free_types() {
        for (Subject &s : subjects) s.built = BuiltType();
    }
};

// A pack of four doubles whose indices are in device memory, for a list.
struct MemberByReference : WholeMove {
    MemberByReference()
        : WholeMove("member by reference", recipe(), Memory::device0, Memory::device0) {
        set_up_pack(move());
    }
    static RecipePtr recipe() {
        const std::vector<std::int64_t> places = {3, 1, 0, 2};
        return recipes::indexed_block_ref(
            1, places, UCD_TYPE__INT32_T, 8, 0, 64, recipes::leaf(UCD_TYPE__DOUBLE),
            copy_in(Memory::device0, bytes_of_indices(places, UCD_TYPE__INT32_T)));
    }
};

} // namespace ucdtest
