// The layouts of the ping-pong, of doubles.
#pragma once

#include "baselines/matrix.hpp"
#include "shapes/recipe.hpp"

#include <cstdint>
#include <vector>

namespace bench::apps {

class Matrix {
public:
    Matrix(MatrixKind kind, std::int64_t n);

    MatrixKind kind() const { return move_.kind; }
    std::int64_t doubles() const { return move_.doubles; } // packed
    std::int64_t span() const { return span_; }            // that memory must hold
    const std::vector<Piece> &pieces() const { return pieces_; }
    RecipePtr type() const;
    // As moves by hand take it, but for the memory.
    const MatrixMove &move() const { return move_; }

private:
    void cut_into_pieces();

    MatrixMove move_;
    std::int64_t span_;
    std::vector<Piece> pieces_; // of kind pieces
};

} // namespace bench::apps
