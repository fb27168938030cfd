#include "baselines/matrix.hpp"

#include <cstddef>
#include <cstring>

namespace bench {
namespace {

void move_doubles(double *typed, double *packed, std::int64_t count, bool pack) {
    std::memcpy(pack ? packed : typed, pack ? typed : packed,
                static_cast<std::size_t>(count) * sizeof(double));
}

template <bool pack>
void move_all(const MatrixMove &m) {
    const std::int64_t n = m.n;
    switch (m.kind) {
    case MatrixKind::contiguous: move_doubles(m.typed, m.packed, m.doubles, pack); break;
    case MatrixKind::rows:
        for (std::int64_t row = 0; row < n; ++row)
            move_doubles(m.typed + row * m.row_length, m.packed + row * n, n, pack);
        break;
    case MatrixKind::triangle:
        for (std::int64_t row = 0; row < n; ++row)
            move_doubles(m.typed + row * n, m.packed + row * (row + 1) / 2, row + 1, pack);
        break;
    case MatrixKind::pieces:
        for (std::size_t i = 0; i < m.piece_count; ++i) {
            const Piece &piece = m.pieces[i];
            move_doubles(m.typed + piece.at, m.packed + piece.packed, piece.count, pack);
        }
        break;
    case MatrixKind::columns:
        for (std::int64_t column = 0; column < n; ++column)
            for (std::int64_t row = 0; row < n; ++row) {
                double &there = m.typed[row * n + column], &here = m.packed[column * n + row];
                pack ? here = there : there = here;
            }
        break;
    }
}

} // namespace

MatrixMoves host_matrix() {
    return {move_all<true>, move_all<false>};
}

} // namespace bench
