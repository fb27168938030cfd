#include "world.hpp"

#include "live_bytes.hpp"

#include <ctime>

namespace ucdfuzz {
namespace {

// Rounds of progress that are enough for whatever can end.
constexpr int many_rounds = 3000;

// What the library's objects may keep, in bytes, when all endpoints are gone: tables that have
// grown, a few blocks, and 64 messages' memory for later ones. And what is reserved for when there
// is no memory: a message with a long header; of one-sided operations also the beginning of a
// message, and places for answers.
constexpr std::size_t spare_header = 9 << 10, reserved = 8 << 10, messages_kept = 64 * (4 << 10);
constexpr std::size_t may_be_kept = (12 << 10) + spare_header,
                      may_be_kept_one_sided = (12 << 10) + messages_kept + spare_header + reserved;

// With direct transfers also sockets, and the types that the program itself has sent.
constexpr std::size_t own_types = 96 << 10;

// What is in use beside what the ledgers say and what hostile peers keep themselves: UCX's memory,
// which is more with TCP, and that of the honest peers for what they do.
constexpr std::size_t beside = 2 << 20, beside_with_tcp = 32 << 20;
constexpr double seconds_of_message = 2e-3, seconds_of_world = 2;

double processor_seconds() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

} // namespace

World::World(Net &net, const Samples &samples, const Plan &plan, std::uint64_t seed)
    : net_(net), samples_(samples), plan_(plan), rng_(seed) {
    draw_settings();
    net_.connect_all();
    for (int i = 0; i < honest_peers; ++i)
        nodes_[static_cast<std::size_t>(i)] =
            std::make_unique<Node>(net_, i, samples_, rng_, settings_);
    node(0).meet(node(1));
    node(1).meet(node(0));
    for (const auto &n : nodes_) {
        const ucd_ucx_window_key_t key = n->public_key();
        knowledge_.windows.emplace_back(reinterpret_cast<const char *>(key.bytes) + 8, name_bytes);
    }
    for (int i = honest_peers; i < peers; ++i)
        hostiles_[static_cast<std::size_t>(i - honest_peers)] =
            std::make_unique<Hostile>(net_, i, rng_, knowledge_, plan_.wire, settings_.opaque);
    grammar_ = std::make_unique<Grammar>(
        rng_, knowledge_, samples_, plan_.wire, weights_,
        std::array{node(0).public_key(), node(1).public_key()},
        Grammar::DirectOwners{&hostiles_[0]->direct_ends, &hostiles_[1]->direct_ends});
}

World::~World() = default;

void World::draw_settings() {
    settings_.protocols = plan_.protocols;
    if (plan_.protocols.pipeline && plan_.protocols.one_sided && rng_.chance(60))
        (rng_.chance(50) ? settings_.protocols.pipeline : settings_.protocols.one_sided) = false;
    settings_.opaque = rng_.chance(35);
    // With little, no type is remembered, and direct offers are declined.
    static constexpr std::size_t types_kept[] = {0, 16 << 10, 1 << 20};
    settings_.types_kept = types_kept[rng_.below(3)];
    settings_.joined = rng_.chance(50);
    // With little, grants for windows are not taken either.
    settings_.peer_memory = rng_.chance(50) ? 1 << 20 : 16 << 20;
    const auto one_of = [&](std::initializer_list<const char *> values) {
        return *(values.begin() + static_cast<std::ptrdiff_t>(rng_.below(values.size())));
    };
    settings_.keys = {{"ucd.ucx.eager", one_of({"0", "64", "256", "4096"})},
                      {"ucd.ucx.chunk", one_of({"64", "128", "512", "262144"})},
                      {"ucd.ucx.depth", one_of({"1", "2", "4"})},
                      {"ucd.ucx.staging", one_of({"0", "4096"})},
                      {"ucd.ucx.direct", one_of({"no", "yes", "always", "always"})},
                      {"ucd.ucx.direct_bytes", one_of({"0", "1000"})},
                      {"ucd.ucx.peer_memory", std::to_string(settings_.peer_memory)},
                      {"ucd.ucx.rma.peer_operations", one_of({"16", "1024"})},
                      {"ucd.ucx.rma.types", std::to_string(settings_.types_kept)}};
    static constexpr unsigned changes[] = {0, 5, 20, 40}, honest[] = {3, 10, 30};
    weights_.change = changes[rng_.below(4)];
    weights_.rearrange = changes[rng_.below(4)] * 2;
    weights_.reuse = changes[rng_.below(4)] * 2;
    weights_.greed = rng_.chance(20) ? 70 : 3;
    weights_.opaque = settings_.opaque;
    weights_.pipeline = settings_.protocols.pipeline;
    weights_.one_sided = settings_.protocols.one_sided;
    activity_ = honest[rng_.below(3)];
    losses_ = rng_.chance(50) ? 0 : 4;
    for (int i = honest_peers; i < peers; ++i)
        asleep_[static_cast<std::size_t>(i)] = rng_.chance(20);
}

void World::round() {
    for (auto &n : nodes_) {
        n->progress();
        n->poll();
    }
    for (int i = honest_peers; i < peers; ++i) {
        if (asleep_[static_cast<std::size_t>(i)]) continue;
        ucp_worker_progress(net_.worker(i));
        hostile(i).sweep();
    }
}

bool World::rounds_until(int most, const std::function<bool()> &condition) {
    for (int i = 0; i < most; ++i) {
        if (condition()) return true;
        round();
    }
    return condition();
}

void World::act() {
    Node &n = node(static_cast<int>(rng_.below(honest_peers)));
    const int other = honest_peers + static_cast<int>(rng_.below(peers - honest_peers));
    if (rng_.below(1000) < losses_) {
        const int a = static_cast<int>(rng_.below(honest_peers));
        const int b = rng_.chance(20) ? 1 - a : other;
        if (rng_.chance(60)) return reconnect(a, b);
        if (is_hostile(b)) node(a).lose(b);
        return;
    }
    if (!rng_.chance(activity_)) {
        Message m = grammar_->next();
        Hostile &sender = hostile(m.from);
        if (plan_.mute) return;
        return sender.send(std::move(m));
    }
    switch (rng_.below(10)) {
    case 0:
    case 1:
    case 2: return n.start_honest();
    case 3:
    case 4: return n.start_towards(other);
    case 5:
    case 6: return n.post_receive();
    case 7: return n.settle_held();
    case 8: return hostile(other).settle_held();
    default: return n.cancel_one();
    }
}

// Told of each endpoint between them.
void World::lose_between(int a, int b) {
    node(a).lose(b);
    if (!is_hostile(b)) node(b).lose(a);
}

// The library is told, and the endpoint closed if UCX has nothing under way there: without error
// handling, as shared memory has none, UCX 1.13 cannot close it else, and delivers what is on its
// way also after the close.
void World::reconnect(int a, int b) {
    const bool honest = !is_hostile(b);
    asleep_[static_cast<std::size_t>(b)] = false;
    if (honest) {
        node(a).excuse_honest();
        node(b).excuse_honest();
    }
    const auto quiet = [&] {
        if (!honest) return node(a).idle_with(b) && hostile(b).is_quiet_with(a);
        return node(a).idle_with(b) && node(b).idle_with(a);
    };
    bool is_quiet = false;
    // Again and again: what was on its way comes after the first time.
    for (int i = 0; i < (honest ? many_rounds / 50 : 2) && !is_quiet; ++i) {
        lose_between(a, b);
        if (!honest) hostile(b).release_all();
        is_quiet = rounds_until(50, quiet);
        if (net_.can_fail()) continue;
        net_.deliver(a, b);
        is_quiet = quiet();
    }
    if (!is_quiet && honest)
        found_fatal(finding::stuck, "transfers of an endpoint that is lost: " +
                                        node(a).honest_left() + "; " + node(b).honest_left());
    if (!is_quiet && !net_.can_fail()) return;
    // What comes while UCX closes it is of an endpoint that is gone, too.
    const ucp_ep_h of_a = net_.ep(a, b), of_b = net_.ep(b, a);
    lose_between(a, b);
    net_.close(a, b);
    node(a).lose(of_a);
    if (honest) node(b).lose(of_b);
    net_.connect(a, b);
    if (!honest) return;
    node(a).start_afresh();
    node(b).start_afresh();
}

Counts World::run() {
    before_ = live_bytes();
    const double began = processor_seconds();
    const std::uint64_t messages = 100 + rng_.below(500);
    unsigned pace = 1 + static_cast<unsigned>(rng_.below(6));
    for (std::uint64_t i = 0; i < 10 * messages && counts().messages < messages; ++i) {
        act();
        if (rng_.below(pace) == 0) round();
        if (i % 128 == 127) pace = 1 + static_cast<unsigned>(rng_.below(6));
        if (i % 32 == 31) check_memory();
    }
    check_memory();
    check_time(began);
    finish_honest();
    asleep_ = {};
    lose_all();
    end_everything();
    return counts();
}

Counts World::counts() const {
    Counts c;
    for (const auto &h : hostiles_) {
        c.messages += h->messages;
        c.bytes += h->bytes;
    }
    return c;
}

// What is in use is what the ledgers say, and these keep to their budgets.
void World::check_memory() {
    std::size_t known = net_.can_fail() ? beside_with_tcp : beside;
    for (const auto &h : hostiles_) known += h->kept();
    for (const auto &n : nodes_) {
        const Node::Charged charged = n->charged();
        known += charged.all;
        if (charged.most > settings_.peer_memory)
            found(finding::over_budget,
                  std::to_string(charged.most) + " bytes are charged to a peer");
    }
    const std::size_t now = live_bytes();
    if (now > before_ + known)
        found(finding::much_memory, std::to_string(now - before_) + " bytes are kept, of which " +
                                        std::to_string(known) + " are known; in " +
                                        std::to_string(counts().messages) + " messages");
}

void World::check_time(double began) {
    const Counts c = counts();
    const double seconds = processor_seconds() - began;
    if (seconds > seconds_of_world + seconds_of_message * static_cast<double>(c.messages))
        found(finding::much_work,
              std::to_string(seconds) + " seconds for " + std::to_string(c.messages) + " messages");
}

void World::finish_honest() {
    const auto done = [&] { return node(0).honest_is_done() && node(1).honest_is_done(); };
    if (rounds_until(many_rounds, done)) return;
    found(finding::honest_stuck,
          "first: " + node(0).honest_left() + "; second: " + node(1).honest_left());
    for (auto &n : nodes_) n->excuse_honest();
    reconnect(0, 1);
}

void World::lose_all() {
    // What is on its way, also of those who slept.
    (void)rounds_until(many_rounds / 10, [&] {
        for (auto &h : hostiles_) h->release_all();
        return hostiles_[0]->is_quiet() && hostiles_[1]->is_quiet();
    });
    rounds_until(20, [] { return false; });
    lose_endpoints();
    for (auto &n : nodes_) n->give_up();
    const auto over = [&] {
        for (auto &h : hostiles_) h->release_all();
        for (auto &n : nodes_) n->give_up();
        return node(0).idle() && node(1).idle();
    };
    if (!rounds_until(many_rounds, over))
        found_fatal(finding::stuck, "requests do not end with their endpoints: " + node(0).left() +
                                        "; " + node(1).left());
    const auto closed = [&] {
        for (auto &h : hostiles_) h->release_all();
        return node(0).close_windows() && node(1).close_windows();
    };
    if (!rounds_until(many_rounds, closed))
        found_fatal(finding::stuck, "a window cannot be destroyed when endpoints are gone");
    // Once more, for what has come since.
    net_.deliver_all();
    lose_endpoints();
    rounds_until(5, [] { return false; });
    (void)rounds_until(many_rounds, [&] {
        const std::size_t types = types_kept();
        return node(0).charged().all <= types && node(1).charged().all <= types;
    });
}

void World::lose_endpoints() {
    for (int a = 0; a < honest_peers; ++a)
        for (int b = 0; b < peers; ++b)
            if (a != b) node(a).lose(b);
}

// Both of a node's objects may remember types.
std::size_t World::types_kept() const {
    const bool both = settings_.protocols.pipeline &&
                      (settings_.joined || settings_.keys.at("ucd.ucx.direct") != "no");
    return settings_.types_kept * (both ? 2 : 1);
}

void World::end_everything() {
    const bool direct = settings_.keys["ucd.ucx.direct"] != "no";
    const bool pipeline = settings_.protocols.pipeline, joined = settings_.joined;
    const std::size_t types = types_kept();
    for (auto &n : nodes_) {
        const std::uint64_t charged = n->charged().all;
        if (charged > types)
            found(finding::kept_memory, std::to_string(charged) + " bytes are still charged");
        const std::size_t kept = n->close();
        const std::size_t most =
            (!settings_.protocols.one_sided && !joined ? may_be_kept : may_be_kept_one_sided) +
            (pipeline && joined ? may_be_kept_one_sided : 0) + types + (direct ? own_types : 0);
        if (kept > most)
            found(finding::kept_memory, std::to_string(kept) + " bytes of " +
                                            std::to_string(counts().bytes) + " in " +
                                            std::to_string(counts().messages) + " messages");
    }
    // UCX's own is taken away, for the next world.
    const auto quiet = [&] {
        for (int i = 0; i < honest_peers; ++i) net_.drain(i);
        for (auto &h : hostiles_) h->release_all();
        return hostiles_[0]->is_quiet() && hostiles_[1]->is_quiet();
    };
    bool is_quiet = false;
    for (int i = 0; i < many_rounds && !is_quiet; ++i) {
        net_.progress();
        for (auto &h : hostiles_) h->sweep();
        is_quiet = quiet();
    }
    if (!is_quiet) found(finding::stuck, "messages of a hostile peer do not end");
    for (int i = 0; i < 10; ++i) net_.progress();
    if (!is_quiet || rng_.chance(20)) net_.close_all();
}

} // namespace ucdfuzz
