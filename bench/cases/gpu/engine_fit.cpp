#include "cases/gpu/engine_fit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace bench::gpu {
namespace {

constexpr double kib = 1024, mib = 1024 * 1024;
constexpr double never = 1e18; // longer than any block

class Direction {
public:
    Direction(std::span<const EngineSample> samples, bool to_host) {
        for (const EngineSample &s : samples)
            if (s.to_host == to_host) samples_.push_back(s);
    }

    const EngineSample &find(double row, double bytes) const {
        for (const EngineSample &s : samples_)
            if (!s.listed && s.block == row && s.blocks == std::floor(bytes / row)) return s;
        throw std::runtime_error(
            fmt::format("{} bytes in rows of {} were not measured", bytes, row));
    }

    // What one more row takes the engine, from `few` bytes to `many`.
    double engine_per_row(double row, double few, double many) const {
        const EngineSample &a = find(row, few), &b = find(row, many);
        return (b.engine - a.engine) / (b.blocks - a.blocks);
    }
    double kernel_per_byte(double row, double few, double many) const {
        const EngineSample &a = find(row, few), &b = find(row, many);
        return (b.kernel - a.kernel) / ((b.blocks - a.blocks) * row);
    }

    // The median of what kernels of few rows take longer to be done.
    double earlier() const {
        std::vector<double> all;
        for (const EngineSample &s : samples_)
            if (!s.listed && s.blocks <= 16) all.push_back(s.kernel - s.engine);
        if (all.empty()) throw std::runtime_error("no few rows were measured");
        std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
        return std::max(all[all.size() / 2], 0.0);
    }

    // The length of listed blocks from which on the engine is faster for each number of them. Two
    // blocks are rows.
    double list_block() const {
        double longest_slow = 0, shortest_fast = never;
        for (const EngineSample &s : samples_)
            if (s.listed && s.blocks > 2 && s.engine > s.kernel)
                longest_slow = std::max(longest_slow, s.block);
        for (const EngineSample &s : samples_)
            if (s.listed && s.blocks > 2 && s.block > longest_slow)
                shortest_fast = std::min(shortest_fast, s.block);
        return shortest_fast;
    }

private:
    std::vector<EngineSample> samples_;
};

std::string lines(const char *direction, const Direction &d) {
    const double kernel_per_byte = d.kernel_per_byte(128, mib, 16 * mib);
    const double odd = d.engine_per_row(129, mib, 16 * mib) - 129 * kernel_per_byte;
    std::string text;
    const auto line = [&](const char *name, double value) {
        text += fmt::format("{}.{} = {:.6g}\n", direction, name, value);
    };
    line("earlier", d.earlier());
    line("per_row", d.engine_per_row(32, 256 * kib, mib));
    line("per_odd_row", std::max(odd, 0.0));
    line("kernel_per_byte", kernel_per_byte);
    line("row_per_byte", d.engine_per_row(128, mib, 16 * mib) / 128);
    line("list_block", d.list_block());
    return text;
}

} // namespace

std::string tuning_section(const std::string &device, std::span<const EngineSample> samples) {
    return fmt::format("# ucd-bench --tune; nanoseconds\n[{}]\n", device) +
           lines("to_host", Direction(samples, true)) +
           lines("from_host", Direction(samples, false));
}

} // namespace bench::gpu
