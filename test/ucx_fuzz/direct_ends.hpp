// What a hostile peer needs for direct transfers (docs/guide/direct.md), by system calls alone: the
// socket by which it introduces itself, memory to offer, and connections to those who introduce
// themselves to it.
#pragma once

#include "contents.hpp"
#include "net.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ucdfuzz {

class DirectEnds {
public:
    static constexpr std::size_t introduction_bytes = 32, grant_bytes = 80;
    DirectEnds(Writer writer, ucdtest::Rng &rng);
    ~DirectEnds();
    DirectEnds(const DirectEnds &) = delete;
    DirectEnds &operator=(const DirectEnds &) = delete;

    // As an owner of memory: name of the socket and token, for the peer.
    std::string introduce(int node);
    bool has_key(int node) const { return !keys_[static_cast<std::size_t>(node)].empty(); }
    // Puts the number and the code into an offer: its header and what follows. False: there is no
    // key, or it is not this peer's to offer.
    bool sign(int node, std::string &offer);
    // An address from which on so many bytes are this peer's; before and behind them are others,
    // which nobody may read. Or, sometimes, memory that is not there at times.
    std::uint64_t address_of(std::uint64_t bytes);

    // As a reader: connects to the socket that an introduction names.
    void connect(std::string_view introduction);

    // Accepts and answers; at times ends connections, and takes memory away or gives it back.
    void progress();

private:
    static constexpr std::size_t page = 4096, own_bytes = 16 * page, around = 4 * page;
    static constexpr std::uint64_t nowhere = std::uint64_t{1} << 62; // beyond all memory
    bool may_offer(std::string_view offer) const;
    char *make_memory(Writer writer, ucdtest::Rng &rng) const;
    void answer(int connection);
    void close_one();

    ucdtest::Rng &rng_;
    std::string name_;
    int listening_ = -1;
    std::vector<int> connections_;
    std::array<std::string, honest_peers> tokens_, keys_;
    std::array<std::uint64_t, honest_peers> numbers_ = {};
    char *memory_, *memory_at_times_;
};

// What follows the header of an offer.
struct DirectPlace {
    std::uint64_t base = 0;
    std::int64_t low = 0, high = 0;
    std::uint64_t count = 0;
    std::string type; // its name
    std::uint32_t memory = 0;
    std::string handle;
};
std::string encode(const DirectPlace &place);

} // namespace ucdfuzz
