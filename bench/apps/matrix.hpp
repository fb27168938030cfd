// The layouts of the ping-pong, of doubles: what UCD is told, and where each double is.
#pragma once

#include "ucd_peer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench::apps {

enum class MatrixKind {
    contiguous,
    rows,     // n rows of n in a matrix with longer ones
    triangle, // the lower one of n rows of n
    pieces,   // about n * n doubles, in pieces of 1 to 31 with gaps of 1 to 15 between
    columns,  // n columns of n rows of n, one after another
};

// Pieces of doubles, in packed order: their places in the layout and in the packed stream.
struct Piece {
    std::uint32_t at, packed, count;
};

class Matrix {
public:
    Matrix(MatrixKind kind, std::int64_t n);

    MatrixKind kind() const { return kind_; }
    std::int64_t n() const { return n_; }
    std::int64_t row_length() const { return row_length_; }      // from row to row
    std::int64_t doubles() const { return doubles_; }            // packed
    std::int64_t span() const { return span_; }                  // that memory must hold
    const std::vector<Piece> &pieces() const { return pieces_; } // of kind pieces

    UcdType type() const;

    // Calls visit(place) for each double, in packed order.
    template <class Visit>
    void for_each(Visit visit) const {
        switch (kind_) {
        case MatrixKind::contiguous:
            for (std::int64_t i = 0; i < doubles_; ++i) visit(i);
            break;
        case MatrixKind::rows:
            for (std::int64_t row = 0; row < n_; ++row)
                for (std::int64_t i = 0; i < n_; ++i) visit(row * row_length_ + i);
            break;
        case MatrixKind::triangle:
            for (std::int64_t row = 0; row < n_; ++row)
                for (std::int64_t i = 0; i <= row; ++i) visit(row * n_ + i);
            break;
        case MatrixKind::pieces:
            for (const Piece &piece : pieces_)
                for (std::int64_t i = 0; i < piece.count; ++i) visit(std::int64_t{piece.at} + i);
            break;
        case MatrixKind::columns:
            for (std::int64_t column = 0; column < n_; ++column)
                for (std::int64_t row = 0; row < n_; ++row) visit(row * n_ + column);
            break;
        }
    }

private:
    void cut_into_pieces();

    MatrixKind kind_;
    std::int64_t n_, row_length_, doubles_, span_;
    std::vector<Piece> pieces_;
};

} // namespace bench::apps
