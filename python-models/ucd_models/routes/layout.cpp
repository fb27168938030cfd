#include "routes/layout.h"

#include <algorithm>
#include <stdexcept>

namespace ucd_models {

namespace {

// More than any machine has. A number for each rank is kept while messages are laid out.
constexpr int64_t max_ranks = int64_t{1} << 26;

// Adds a share to the last stretch, if it is at the next distance.
bool joined(Stretch &last, int64_t position) {
    const int64_t distance = position - last.position;
    if (last.count == 1) last.step = distance;
    if (distance != last.step * last.count) return false;
    ++last.count;
    return true;
}

} // namespace

Layout layout_of(const std::vector<Fan> &fans) {
    int64_t ranks = 0;
    for (const Fan &fan : fans)
        ranks = std::max({ranks, fan.rank + 1, fan.rank + (fan.count - 1) * fan.step + 1});
    if (ranks > max_ranks) throw std::invalid_argument("a rank is larger than 2**26");
    // By rank: the length of the message, then where the next share goes.
    std::vector<int64_t> next(static_cast<std::size_t>(ranks));
    const auto of = [&next](const Fan &fan, int64_t k) -> int64_t & {
        return next[static_cast<std::size_t>(fan.rank + k * fan.step)];
    };
    for (const Fan &fan : fans)
        for (int64_t k = 0; k < fan.count; ++k) of(fan, k) += fan.nbytes;
    Layout found;
    int64_t begin = 0;
    for (int64_t rank = 0; rank < ranks; ++rank) {
        int64_t &entry = next[static_cast<std::size_t>(rank)];
        if (entry == 0) continue;
        found.peers.push_back(rank);
        found.begins.push_back(begin);
        begin += entry;
        entry = found.begins.back();
    }
    found.begins.push_back(begin);
    for (const Fan &fan : fans) {
        std::vector<Stretch> &shares = found.shares.emplace_back();
        for (int64_t k = 0; k < fan.count; ++k) {
            int64_t &position = of(fan, k);
            if (shares.empty() || !joined(shares.back(), position))
                shares.push_back({k, 1, position, 0});
            position += fan.nbytes;
        }
    }
    return found;
}

} // namespace ucd_models
