// What both kinds of pictures say about a cell.
#pragma once

#include "picture/picture.hpp"

#include <string>

namespace ucdtool {

// Cells few enough, and small enough, for a number in each.
bool numbers_fit(const Picture &picture);

// The place of the cell among as large pieces of the packed stream.
uint64_t number_of(const Picture &picture, const Cell &cell);

// Where in the packed stream the cell starts, and how much of it is touched: both 0 to 1.
double order_of(const Picture &picture, const Cell &cell);
double fill_of(const Picture &picture, const Cell &cell);

// "8 bytes", "2 MiB"
std::string bytes_text(uint64_t bytes);

} // namespace ucdtool
