#include "cases/apps/matrix.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

namespace bench::apps {

Matrix::Matrix(MatrixKind kind, std::int64_t n)
    : move_{kind, n, n, n * n, nullptr, 0, nullptr, nullptr}, span_(n * n) {
    switch (kind) {
    case MatrixKind::contiguous:
    case MatrixKind::columns: break;
    case MatrixKind::rows:
        move_.row_length = n + std::max<std::int64_t>(2, n / 4 / 2 * 2);
        span_ = n * move_.row_length;
        break;
    case MatrixKind::triangle: move_.doubles = n * (n + 1) / 2; break;
    case MatrixKind::pieces: cut_into_pieces(); break;
    }
}

void Matrix::cut_into_pieces() {
    std::minstd_rand random; // the same pieces in every process
    std::int64_t at = 0, packed = 0;
    while (packed < move_.doubles) {
        const std::int64_t count = std::min<std::int64_t>(
            1 + static_cast<std::int64_t>(random() >> 8) % 31, move_.doubles - packed);
        pieces_.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(packed),
                           static_cast<std::uint32_t>(count)});
        packed += count;
        at += count + 1 + static_cast<std::int64_t>(random() >> 8) % 15;
    }
    move_.piece_count = static_cast<std::uint32_t>(pieces_.size());
    span_ = at;
    if (span_ > INT64_C(0xffffffff)) throw std::runtime_error("a matrix is too large for pieces");
}

RecipePtr Matrix::type() const {
    switch (move_.kind) {
    case MatrixKind::contiguous: return recipe(Contig{move_.doubles, bench::doubles()});
    case MatrixKind::rows:
        return recipe(Vector{move_.n, move_.n, move_.row_length, bench::doubles()});
    case MatrixKind::triangle: return lower_triangle(move_.n);
    case MatrixKind::columns: return transposed(move_.n);
    case MatrixKind::pieces: break;
    }
    Ints lengths, displs;
    for (const Piece &piece : pieces_) {
        lengths.push_back(piece.count);
        displs.push_back(piece.at);
    }
    return recipe(Indexed{std::move(lengths), std::move(displs), bench::doubles()});
}

} // namespace bench::apps
