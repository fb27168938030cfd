// What hostile peers say. Scripts are what an honest peer would say in a transfer or an operation;
// what is said is drawn from several at a time, and some of it is changed, doubled, left out or put
// elsewhere. Every field is drawn from the same kinds of values: what fits, what was seen or used
// before, bounds of numbers, and any. Nothing here knows what a library could get wrong.
#pragma once

#include "hostile.hpp"
#include "samples.hpp"

#include <array>
#include <ucd_ucx_rma.h>

namespace ucdfuzz {

// Peers by chance.
inline int a_hostile(ucdtest::Rng &rng) {
    return honest_peers + static_cast<int>(rng.below(peers - honest_peers));
}
inline int an_honest(ucdtest::Rng &rng) {
    return static_cast<int>(rng.below(honest_peers));
}

struct Grammar {
    struct Weights {
        unsigned change = 15;    // percent of messages that are changed somewhere
        unsigned rearrange = 30; // percent of scripts that are
        unsigned reuse = 35;     // percent of transfers whose name is not new
        unsigned greed = 3;      // percent of scripts that cost the target much
        bool opaque = false;     // see Settings
        bool pipeline = true, one_sided = true;
        unsigned direct = 20; // percent of the scripts of each protocol
    };

    using DirectOwners = std::array<DirectEnds *, peers - honest_peers>;
    Grammar(ucdtest::Rng &rng, Knowledge &knowledge, const Samples &samples, int wire,
            const Weights &weights, const std::array<ucd_ucx_window_key_t, honest_peers> &windows,
            const DirectOwners &owners);
    Message next();

private:
    using Script = std::deque<Message>;
    struct Name {
        std::uint64_t stream, number;
    };

    // grammar_values.cpp
    std::uint64_t any_number();
    std::uint64_t any_total(std::uint64_t fitting);
    Name new_name(int from);
    Name any_name(int from, int to, unsigned am);
    Name name_for(int from, int to, unsigned am);
    std::string contents(int from, std::size_t bytes);
    void damage(std::string &text);
    void change(Message &message);
    void change_length(Message &message);
    void rearrange(Script &script);

    // grammar_scripts.cpp
    Message message(int from, int to, unsigned am);
    Script draw_script();
    Script tagged_whole();
    Script tagged_chunks();
    Script user_message();
    Script lone_message();
    Script request();
    Script greedy_request();
    Script answer_one();
    std::string among_others(int from, const std::string &one);
    Script type_answer();
    Script lone_one_sided();
    void add_chunks(Script &script, const Message &first, const std::string &data);
    void add_ring_offers(Script &script, const Message &first);
    // grammar_direct.cpp
    Script introduce();
    Script direct_transfer();
    Script decline_one();
    Script introduce_windows();
    Script grant_window();
    Script transfer(Message first, std::string data);
    Script wrap(int from, int to, const std::string &text, std::string data);
    OneSided draw_request(int from, int to, Layout &layout);
    void draw_type(OneSided &request, int from, int to, Layout &layout);
    std::uint64_t draw_handle(int from, int to);
    unsigned draw_op(unsigned verb);
    void draw_place(OneSided &request, int from, int to, const Layout &layout);

    ucdtest::Rng &rng_;
    Knowledge &knowledge_;
    const Samples &samples_;
    const int wire_;
    const Weights weights_;
    const std::array<ucd_ucx_window_key_t, honest_peers> windows_;
    const DirectOwners owners_;
    std::array<std::uint64_t, peers> streams_ = {};
    std::uint64_t number_ = 0;
    // Types that hostile peers have given an index: from, to, index.
    std::map<std::tuple<int, int, std::uint32_t>, const Sample *> indexed_;
    std::vector<Script> scripts_;
};

} // namespace ucdfuzz
