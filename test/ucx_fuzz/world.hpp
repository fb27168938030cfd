// Two honest peers and two hostile ones, for some hundred messages.
#pragma once

#include "grammar.hpp"
#include "node.hpp"

#include <functional>

namespace ucdfuzz {

struct Plan {
    Protocols protocols;
    int wire = newest_wire;
    bool mute = false; // hostile peers say nothing: nothing may be found
};

struct Counts {
    std::uint64_t messages = 0, bytes = 0;
};

class World {
public:
    World(Net &net, const Samples &samples, const Plan &plan, std::uint64_t seed);
    ~World();
    World(const World &) = delete;
    World &operator=(const World &) = delete;
    // All of it.
    Counts run();

private:
    void draw_settings();
    void act();
    void round();
    void lose_between(int a, int b);
    void reconnect(int a, int b);
    bool rounds_until(int most, const std::function<bool()> &condition);
    void finish_honest();
    void lose_all();
    void lose_endpoints();
    std::size_t types_kept() const;
    void end_everything();
    void check_memory();
    void check_time(double began);
    Counts counts() const;
    Hostile &hostile(int peer) { return *hostiles_[static_cast<std::size_t>(peer - honest_peers)]; }
    Node &node(int peer) { return *nodes_[static_cast<std::size_t>(peer)]; }

    Net &net_;
    const Samples &samples_;
    const Plan plan_;
    ucdtest::Rng rng_;
    Settings settings_;
    Grammar::Weights weights_;
    unsigned activity_ = 0;               // percent of actions that are an honest peer's
    unsigned losses_ = 0;                 // permille of actions
    std::array<bool, peers> asleep_ = {}; // makes no progress, so it takes nothing
    std::size_t before_ = 0;              // bytes in use when the world began
    Knowledge knowledge_;
    std::array<std::unique_ptr<Node>, honest_peers> nodes_;
    std::array<std::unique_ptr<Hostile>, peers - honest_peers> hostiles_;
    std::unique_ptr<Grammar> grammar_;
};

} // namespace ucdfuzz
