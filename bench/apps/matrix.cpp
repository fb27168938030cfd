#include "apps/matrix.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

namespace bench::apps {

Matrix::Matrix(MatrixKind kind, std::int64_t n)
    : kind_(kind), n_(n), row_length_(n), doubles_(n * n), span_(n * n) {
    switch (kind) {
    case MatrixKind::contiguous:
    case MatrixKind::columns: break;
    case MatrixKind::rows:
        row_length_ = n + std::max<std::int64_t>(2, n / 4 / 2 * 2);
        span_ = n * row_length_;
        break;
    case MatrixKind::triangle: doubles_ = n * (n + 1) / 2; break;
    case MatrixKind::pieces: cut_into_pieces(); break;
    }
}

void Matrix::cut_into_pieces() {
    std::minstd_rand random; // the same pieces in every process
    std::int64_t at = 0, packed = 0;
    while (packed < doubles_) {
        const std::int64_t count = std::min<std::int64_t>(
            1 + static_cast<std::int64_t>(random() >> 8) % 31, doubles_ - packed);
        pieces_.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(packed),
                           static_cast<std::uint32_t>(count)});
        packed += count;
        at += count + 1 + static_cast<std::int64_t>(random() >> 8) % 15;
    }
    span_ = at;
    if (span_ > INT64_C(0xffffffff)) throw std::runtime_error("a matrix is too large for pieces");
}

UcdType Matrix::type() const {
    const ucd_type_t number = UCD_TYPE__DOUBLE;
    ucd_type_t type;
    switch (kind_) {
    case MatrixKind::contiguous:
        check_ucd(ucd_create_contig(doubles_, number, UCD_INFO__NULL, &type));
        break;
    case MatrixKind::rows:
        check_ucd(ucd_create_vector(n_, n_, row_length_, number, UCD_INFO__NULL, &type));
        break;
    case MatrixKind::triangle:
    case MatrixKind::pieces: {
        std::vector<std::intptr_t> lengths, places;
        if (kind_ == MatrixKind::triangle)
            for (std::int64_t row = 0; row < n_; ++row) {
                lengths.push_back(row + 1);
                places.push_back(row * n_);
            }
        for (const Piece &piece : pieces_) {
            lengths.push_back(piece.count);
            places.push_back(piece.at);
        }
        check_ucd(ucd_create_indexed(static_cast<std::intptr_t>(lengths.size()), lengths.data(),
                                     places.data(), number, UCD_INFO__NULL, &type));
        break;
    }
    case MatrixKind::columns: {
        ucd_type_t column, next_to_each_other;
        check_ucd(ucd_create_vector(n_, 1, n_, number, UCD_INFO__NULL, &column));
        const UcdType owned_column(column);
        check_ucd(
            ucd_create_resized(column, 0, sizeof(double), UCD_INFO__NULL, &next_to_each_other));
        const UcdType owned_resized(next_to_each_other);
        check_ucd(ucd_create_contig(n_, next_to_each_other, UCD_INFO__NULL, &type));
        break;
    }
    }
    return UcdType(type);
}

} // namespace bench::apps
