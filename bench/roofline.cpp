#include "roofline.hpp"

#include <algorithm>
#include <cstring>

namespace bench {
namespace {

constexpr std::int64_t line = 64;

std::int64_t touched_lines(const Workbench &bench) {
    std::vector<std::int64_t> lines;
    for (const Segment &s : bench.segments()) {
        const auto begin = reinterpret_cast<std::intptr_t>(bench.laid_out() + s.displacement);
        for (std::int64_t l = begin / line; l <= (begin + s.bytes - 1) / line; ++l)
            lines.push_back(l);
    }
    std::sort(lines.begin(), lines.end());
    return std::unique(lines.begin(), lines.end()) - lines.begin();
}

} // namespace

Work memcpy_work(char *to, const char *from, std::int64_t bytes) {
    return repeated([=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
}

Roofline::Roofline(const Workbench &bench)
    : bytes_((line * touched_lines(bench) + bench.bytes()) / 2),
      from_(static_cast<std::size_t>(bytes_)), to_(static_cast<std::size_t>(bytes_)) {
    std::memset(from_.data(), 1, static_cast<std::size_t>(bytes_));
    std::memset(to_.data(), 2, static_cast<std::size_t>(bytes_));
}

} // namespace bench
