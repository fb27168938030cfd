// What a hostile peer needs for direct transfers and direct access to windows
// (docs/internals/ucx-engine.md), by system calls alone: the socket by which it introduces itself,
// memory to offer, and connections to those who introduce themselves to it.
#pragma once

#include "contents.hpp"
#include "net.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ucdfuzz {

// What follows the header of an offer.
struct DirectPlace {
    static constexpr std::uint32_t attached = 2; // of `memory`
    std::uint64_t base = 0;
    std::int64_t low = 0, high = 0;
    std::uint64_t count = 0;
    std::string type; // its name
    std::uint32_t memory = 0, descriptors = 0;
    std::uint64_t first_descriptor = 0;
    std::string handle;
};
std::string encode(const DirectPlace &place);

class DirectEnds {
public:
    static constexpr std::size_t introduction_bytes = 32, grant_bytes = 96;
    DirectEnds(Writer writer, ucdtest::Rng &rng);
    ~DirectEnds();
    DirectEnds(const DirectEnds &) = delete;
    DirectEnds &operator=(const DirectEnds &) = delete;

    // As an owner of memory: name of the socket and token, for the peer. The two protocols have
    // links of their own.
    std::string introduce(int node, unsigned am);
    bool has_key(int node, unsigned am) const { return !owned_[index(node, am)].key.empty(); }
    // Puts the number and the code into an offer: its header and what follows. False: there is no
    // key.
    bool sign(int node, std::string &offer);
    // Of memory that nobody can map, so that nobody reads or writes it, whatever is offered.
    std::uint64_t address_of(std::uint64_t bytes);
    // Has the place be in memory that the reader can map, or could if it were right.
    void attach(int node, DirectPlace &place);
    // A grant of memory under the name of a window.
    std::string grant(int node, std::string_view window);

    // As a reader: connects to the socket that an introduction names.
    void connect(std::string_view introduction);
    // Whether a grant is authenticated by a key that has come.
    bool is_authentic(std::string_view grant);

    // Accepts and answers; at times ends connections.
    void progress();

private:
    static constexpr std::size_t page = 4096, own_bytes = 16 * page;
    // A link to a reader.
    struct Owned {
        std::string token, key;
        std::uint64_t number = 0; // of the last offer
        int connection = -1;
        std::uint64_t passed = 0; // descriptors
        std::string attached;     // handle of the last memory to map
        std::uint64_t attached_bytes = 0;
        std::uint64_t *access_page = nullptr;
    };
    static std::size_t index(int node, unsigned am) {
        return static_cast<std::size_t>(node + (am == rma_am ? honest_peers : 0));
    }
    void pass_file(Owned &link, int file);
    std::uint64_t pass_window(Owned &link, std::uint64_t bytes);
    void pass_access_page(Owned &link);
    void forget_access_page(Owned &link);
    void hear(int connection);
    void answer(int connection, std::string_view shown);
    void close_one();

    ucdtest::Rng &rng_;
    std::string name_;
    int listening_ = -1;
    std::vector<int> connections_;
    std::array<Owned, 2 * honest_peers> owned_;
    std::vector<std::string> keys_;  // of owners
    const std::string own_, hidden_; // the bytes of memory to map, and what cannot be mapped
};

} // namespace ucdfuzz
