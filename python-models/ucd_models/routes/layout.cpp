#include "routes/layout.h"

#include <algorithm>
#include <stdexcept>

namespace ucd_models {

namespace {

// More than any machine has. A number for each rank is kept while messages are laid out.
constexpr int64_t max_ranks = int64_t{1} << 26;

// Messages whose lengths repeat after more peers than this have a stretch for each share.
constexpr std::size_t max_period = 64;

// Counts the places at which the distance between positions that lie `stride` apart changes.
std::size_t changes(const std::vector<int64_t> &positions, std::size_t stride) {
    std::size_t found = 0;
    for (std::size_t k = 0; k + 2 * stride < positions.size(); ++k)
        found += positions[k + stride] - positions[k] !=
                 positions[k + 2 * stride] - positions[k + stride];
    return found;
}

// Returns the stride that gives the fewest stretches: usually 1, else the period of the lengths of
// messages.
std::size_t stride_of(const std::vector<int64_t> &positions) {
    std::size_t best = 1, fewest = 1 + changes(positions, 1);
    for (std::size_t stride = 2; stride <= max_period && stride < fewest; ++stride) {
        const std::size_t stretches = stride + changes(positions, stride);
        if (stretches < fewest) best = stride, fewest = stretches;
    }
    return best;
}

void add_stretches(const std::vector<int64_t> &positions, std::vector<Stretch> &found) {
    const std::size_t stride = stride_of(positions);
    for (std::size_t begin = 0; begin < std::min(stride, positions.size()); ++begin) {
        bool is_first = true;
        for (std::size_t k = begin; k < positions.size(); k += stride) {
            const int64_t position = positions[k];
            if (!is_first) {
                Stretch &last = found.back();
                const int64_t distance = position - last.position;
                if (last.count == 1) last.step = distance;
                if (distance == last.step * last.count) {
                    ++last.count;
                    continue;
                }
            }
            found.push_back({static_cast<int64_t>(k), 1, static_cast<int64_t>(stride), position, 0});
            is_first = false;
        }
    }
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
    std::vector<int64_t> positions;
    for (const Fan &fan : fans) {
        positions.clear();
        for (int64_t k = 0; k < fan.count; ++k) {
            int64_t &position = of(fan, k);
            positions.push_back(position);
            position += fan.nbytes;
        }
        add_stretches(positions, found.shares.emplace_back());
    }
    return found;
}

} // namespace ucd_models
