// Values of cells that both kinds of pictures show.
#pragma once

#include "picture/picture.hpp"

#include <string>

namespace ucdtool {

// Whether the cells are few and small enough to show a number in each.
bool numbers_fit(const Picture &picture);

// The cell's position in the packed stream, in pieces of the cell's size.
uint64_t number_of(const Picture &picture, const Cell &cell);

// The position of the cell in the packed stream, and the part of it that is touched, both from 0 to
// 1.
double order_of(const Picture &picture, const Cell &cell);
double fill_of(const Picture &picture, const Cell &cell);

// For example, "8 bytes" or "2 MiB".
std::string bytes_text(uint64_t bytes);

} // namespace ucdtool
