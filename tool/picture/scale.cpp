#include "picture/scale.hpp"

#include "filled.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace ucdtool {
namespace {

constexpr uint64_t max_numbers = 1000;
constexpr std::size_t max_numbered_columns = 32;

} // namespace

bool numbers_fit(const Picture &p) {
    return p.exact() && p.packed_bytes / p.cell_bytes < max_numbers &&
           p.columns <= max_numbered_columns;
}

uint64_t number_of(const Picture &p, const Cell &cell) {
    return cell.first / p.cell_bytes;
}

double order_of(const Picture &p, const Cell &cell) {
    return p.packed_bytes == 0
               ? 0
               : static_cast<double>(cell.first) / static_cast<double>(p.packed_bytes);
}

double fill_of(const Picture &p, const Cell &cell) {
    const double room = static_cast<double>(p.cell_bytes) * static_cast<double>(p.rows_each);
    return std::min(1.0, cell.bytes / room);
}

std::string bytes_text(uint64_t bytes) {
    constexpr const char *units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return filled("{} byte{}", bytes, bytes == 1 ? "" : "s");
    auto value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
    char digits[16];
    const auto end =
        std::to_chars(std::begin(digits), std::end(digits), value, std::chars_format::general, 4);
    return filled("{} {}", std::string_view(digits, end.ptr), units[unit]);
}

} // namespace ucdtool
