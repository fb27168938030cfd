#include "apps/matrix_kernels.hpp"

#include <cstring>

namespace bench::apps {
namespace {

void move_doubles(double *laid_out, double *packed, std::int64_t count, bool pack) {
    std::memcpy(pack ? packed : laid_out, pack ? laid_out : packed,
                static_cast<std::size_t>(count) * sizeof(double));
}

template <bool pack>
void move_all(const HandMove &move) {
    const Matrix &m = move.matrix;
    const std::int64_t n = m.n();
    switch (m.kind()) {
    case MatrixKind::contiguous: move_doubles(move.laid_out, move.packed, m.doubles(), pack); break;
    case MatrixKind::rows:
        for (std::int64_t row = 0; row < n; ++row)
            move_doubles(move.laid_out + row * m.row_length(), move.packed + row * n, n, pack);
        break;
    case MatrixKind::triangle:
        for (std::int64_t row = 0; row < n; ++row)
            move_doubles(move.laid_out + row * n, move.packed + row * (row + 1) / 2, row + 1, pack);
        break;
    case MatrixKind::pieces:
        for (std::size_t i = 0; i < m.pieces().size(); ++i) {
            const Piece &piece = move.pieces[i];
            move_doubles(move.laid_out + piece.at, move.packed + piece.packed, piece.count, pack);
        }
        break;
    case MatrixKind::columns:
        for (std::int64_t column = 0; column < n; ++column)
            for (std::int64_t row = 0; row < n; ++row) {
                double &there = move.laid_out[row * n + column],
                       &here = move.packed[column * n + row];
                pack ? here = there : there = here;
            }
        break;
    }
}

} // namespace

MatrixKernels host_matrix() {
    return {move_all<true>, move_all<false>};
}

} // namespace bench::apps
