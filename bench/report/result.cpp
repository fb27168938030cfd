#include "report/result.hpp"

#include <algorithm>
#include <cmath>

namespace bench {

double Timing::median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double Timing::best() const {
    return *std::min_element(seconds.begin(), seconds.end());
}

double geometric_mean(const std::vector<double> &values) {
    double logarithms = 0;
    for (const double v : values) logarithms += std::log(v);
    return std::exp(logarithms / static_cast<double>(values.size()));
}

} // namespace bench
