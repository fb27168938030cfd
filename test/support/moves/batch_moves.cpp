#include "support/moves/batch_moves.hpp"

#include "support/moves/calls.hpp"

#include <algorithm>
#include <string>

namespace ucdtest {

using namespace recipes;

std::vector<RecipePtr> all_forms() {
    const RecipePtr number = leaf(UCD_TYPE__DOUBLE);
    const RecipePtr record =
        resized(structure({1, 1, 1, 1}, {0, 8, 12, 16},
                          {number, leaf(UCD_TYPE__INT), leaf(UCD_TYPE__INT), leaf(UCD_TYPE__CHAR)}),
                0, 24);
    const RecipePtr gaps = structure({1, 2}, {0, 16}, {leaf(UCD_TYPE__INT), number});
    RecipePtr nest = number;
    std::intptr_t stride = 24;
    for (int i = 0; i < 5; ++i, stride = stride * 3 + 8) nest = hvector(3, 1, stride, nest);
    const RecipePtr column = resized(vector(40, 1, 50, number), 0, 8);
    // Two large children that differ: too many segments for a list, too mixed for a nest.
    const RecipePtr program =
        structure({1, 1}, {0, 1 << 20},
                  {vector(70000, 1, 2, leaf(UCD_TYPE__INT)), vector(70000, 1, 2, number)});
    return {contig(1000, number),
            vector(500, 1, 3, number),
            vector(100, 16, 32, leaf(UCD_TYPE__CHAR)),
            vector(100, 5, 12, leaf(UCD_TYPE__SHORT)),
            contig(100, record),
            contig(50, gaps),
            nest,
            contig(40, column),
            indexed({3, 1, 2, 4, 1}, {0, 7, 20, 11, 30}, number),
            indexed_block(2, {5, 0, 17, 9}, number),
            contig(7, resized(indexed({3, 1, 2}, {0, 7, 20}, number), 0, 400)),
            program};
}

std::intptr_t BatchMoves::place(std::intptr_t &end, std::intptr_t bytes) {
    Rng &rng = one_.rng();
    // Close to each other, so that what goes too far is seen; often aligned.
    std::intptr_t at = end + static_cast<std::intptr_t>(rng.below(20));
    if (rng.chance(60)) at = (at + 15) / 16 * 16;
    end = at + bytes;
    return at;
}

void BatchMoves::add(const Subject &subject, std::size_t offset, std::size_t length) {
    const auto bytes = static_cast<std::intptr_t>(subject.range.length());
    const std::intptr_t low = place(typed_end_, bytes);
    members_.push_back({&subject, offset, length, low - subject.range.low,
                        place(packed_end_, static_cast<std::intptr_t>(length))});
}

void BatchMoves::add_range(const Subject &subject) {
    Rng &rng = one_.rng();
    const std::size_t size = subject.size();
    if (size == 0 || rng.chance(50)) return add(subject, 0, size);
    const std::size_t offset = rng.below(size + 1);
    add(subject, offset, rng.below(size - offset + 1));
}

void BatchMoves::allocate(Memory typed, Memory packed) {
    typed_ = std::make_unique<DeviceBuffer>(one_.rng(), TouchedRange{0, typed_end_}, typed);
    packed_ = std::make_unique<DeviceBuffer>(one_.rng(), TouchedRange{0, packed_end_}, packed);
}

MoveList BatchMoves::list(bool packs) const {
    MoveList moves;
    for (const Member &m : members_) {
        char *const typed = typed_->at(m.typed);
        char *const packed = packed_->at(m.packed);
        const Subject &s = *m.subject;
        moves.push_back(packs ? pack_move(typed, s.count, s.type(), m.offset, packed, m.length)
                              : unpack_move(packed, m.length, typed, s.count, s.type(), m.offset));
        moves.back().actual_bytes = moves.back().consumed_bytes = untouched;
    }
    return moves;
}

bool BatchMoves::engines_can() const {
    return std::all_of(members_.begin(), members_.end(), [](const Member &m) {
        return ucdtest::engines_can(UCD_OP__REPLACE, *m.subject);
    });
}

std::size_t BatchMoves::bytes_moved() const {
    std::size_t bytes = 0;
    for (const Member &m : members_) bytes += m.length;
    return bytes;
}

void BatchMoves::set_up(bool packs) {
    typed_->randomise(one_.rng());
    packed_->randomise(one_.rng());
    for (const Member &m : members_)
        for (std::size_t i = 0; i < m.length; ++i) {
            const std::intptr_t typed = m.typed + m.subject->bytes[m.offset + i];
            const std::intptr_t packed = m.packed + static_cast<std::intptr_t>(i);
            if (packs)
                *packed_->expected(packed) = *typed_->actual(typed);
            else
                *typed_->expected(typed) = *packed_->actual(packed);
        }
    typed_->send();
    packed_->send();
}

void BatchMoves::check(const char *what) {
    const std::string text = std::string(what) + ", laid out in " + name_of(typed_->memory()) +
                             ", packed in " + name_of(packed_->memory());
    typed_->fetch();
    packed_->fetch();
    require_intact(one_, *typed_, (text + ": typed buffer").c_str());
    require_intact(one_, *packed_, (text + ": packed buffer").c_str());
}

} // namespace ucdtest
