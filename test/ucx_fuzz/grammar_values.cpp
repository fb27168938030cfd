// How values are drawn, and how good messages become others.

#include "grammar.hpp"

namespace ucdfuzz {

Grammar::Grammar(ucdtest::Rng &rng, Knowledge &knowledge, const Samples &samples, int wire,
                 const Weights &weights,
                 const std::array<ucd_ucx_window_key_t, honest_peers> &windows,
                 const DirectOwners &owners)
    : rng_(rng), knowledge_(knowledge), samples_(samples), wire_(wire), weights_(weights),
      windows_(windows), owners_(owners) {
    for (std::uint64_t &stream : streams_) stream = rng_.bits();
}

std::uint64_t Grammar::any_number() {
    static constexpr std::uint64_t bounds[] = {0,
                                               1,
                                               8,
                                               48,
                                               64,
                                               128,
                                               256,
                                               1000,
                                               4096,
                                               1 << 16,
                                               1 << 20,
                                               100'000'000,
                                               std::uint64_t{1} << 30,
                                               std::uint64_t{1} << 31,
                                               std::uint64_t{1} << 32,
                                               std::uint64_t{1} << 63,
                                               UINT64_MAX};
    switch (rng_.below(8)) {
    case 0: return rng_.bits();
    case 1: return rng_.bits() >> rng_.below(64);
    case 2:
    case 3: return rng_.mostly_small(2000);
    default: break;
    }
    return bounds[rng_.below(std::size(bounds))] + rng_.below(5) - 2;
}

std::uint64_t Grammar::any_total(std::uint64_t fitting) {
    if (rng_.chance(30)) return fitting;
    if (!knowledge_.totals.empty() && rng_.chance(50))
        return knowledge_.totals[rng_.below(knowledge_.totals.size())];
    return any_number();
}

Grammar::Name Grammar::new_name(int from) {
    return {streams_[static_cast<std::size_t>(from)], ++number_};
}

// Of what honest and hostile peers have used.
Grammar::Name Grammar::any_name(int from, int to, unsigned am) {
    const bool of_honest = !knowledge_.ids.empty() && rng_.chance(40);
    if (of_honest || (knowledge_.own_ids.empty() && !knowledge_.ids.empty())) {
        // Of the same kind, if there is one; this one, or one that will be used soon.
        Knowledge::Id id = {};
        for (int i = 0; i < 4; ++i) {
            id = knowledge_
                     .ids[knowledge_.ids.size() - 1 - rng_.mostly_small(knowledge_.ids.size() - 1)];
            if (id.am == am && id.node != to) break;
        }
        return {id.stream, id.number + (rng_.chance(30) ? 0 : rng_.mostly_small(8))};
    }
    if (knowledge_.own_ids.empty() || rng_.chance(10)) {
        const std::uint64_t stream = rng_.chance(50) ? any_number() : new_name(from).stream;
        return {stream, any_number()};
    }
    const auto &used = knowledge_.own_ids;
    const Knowledge::Id &id = used[used.size() - 1 - rng_.mostly_small(used.size() - 1)];
    return {id.stream, id.number};
}

Grammar::Name Grammar::name_for(int from, int to, unsigned am) {
    const Name name = rng_.chance(weights_.reuse) ? any_name(from, to, am) : new_name(from);
    Knowledge::remember(knowledge_.own_ids, {to, am, name.stream, name.number, 0});
    return name;
}

std::string Grammar::contents(int from, std::size_t bytes) {
    return written_by(static_cast<Writer>(hostile_0 + from - honest_peers), bytes, rng_);
}

void Grammar::damage(std::string &text) {
    for (std::size_t n = 1 + rng_.mostly_small(4); n > 0 && !text.empty(); --n) {
        const std::size_t at = rng_.below(text.size());
        switch (rng_.below(6)) {
        case 0: text[at] = static_cast<char>(text[at] ^ 1 << rng_.below(8)); break;
        case 1: text[at] = static_cast<char>(rng_.bits()); break;
        case 2: text.resize(at); break;
        case 3: text.append(rng_.below(20), static_cast<char>(rng_.bits())); break;
        case 4:
            for (std::size_t i = at; i < std::min(at + 8, text.size()); ++i)
                text[i] = static_cast<char>(rng_.chance(80) ? 255 : 127);
            break;
        default: text.insert(at, 1, static_cast<char>(rng_.bits()));
        }
    }
}

void Grammar::change_length(Message &m) {
    const std::size_t bytes =
        rng_.chance(60) && !m.data.empty() ? rng_.below(m.data.size()) : rng_.mostly_small(3000);
    const bool was_whole = m.header.total == m.data.size();
    if (m.of_alphabet)
        m.data = contents(m.from, bytes);
    else if (bytes < m.data.size())
        m.data.resize(bytes);
    else
        m.data += contents(m.from, bytes - m.data.size());
    if (was_whole && rng_.chance(70)) m.header.total = bytes;
}

void Grammar::change(Message &m) {
    switch (rng_.below(17)) {
    case 0: m.header.kind = static_cast<std::uint16_t>(rng_.below(kinds)); break;
    case 1:
    case 2: m.header.total = any_total(m.data.size()); break;
    case 3: m.header.offset = rng_.chance(50) ? any_number() : rng_.mostly_small(1500); break;
    case 4: {
        const Name name = any_name(m.from, m.to, m.am);
        m.header.stream = name.stream;
        m.header.number = name.number;
        break;
    }
    case 5:
    case 6: change_length(m); break;
    case 7: m.rendezvous = !m.rendezvous; break;
    case 8: m.reply = !m.reply; break;
    case 9:
        // Who sends it has to be seen from it.
        if (!m.of_alphabet && !weights_.opaque) break;
        m.from = honest_peers + static_cast<int>(rng_.below(peers - honest_peers));
        if (m.of_alphabet) m.data = contents(m.from, m.data.size());
        break;
    case 10: m.to = static_cast<int>(rng_.below(honest_peers)); break;
    case 11:
    case 12:
        // Where a message ends and data begins must not move, or it becomes data. Nor may an op
        // become one that makes other bytes of those that are there.
        if (m.has_header || weights_.opaque) {
            const std::string before = m.user;
            damage(m.has_header ? m.user : m.data);
            for (const std::size_t verb_or_op : {1u, 2u})
                if (!weights_.opaque && verb_or_op < std::min(before.size(), m.user.size()))
                    m.user[verb_or_op] = before[verb_or_op];
        }
        break;
    case 13:
        switch (rng_.below(4)) {
        case 0: m.header.version = 5 - wire_; break;
        case 1: m.header.letters = static_cast<std::uint32_t>(rng_.bits()); break;
        case 2: m.header.kind = static_cast<std::uint16_t>(any_number()); break;
        default:
            m.true_length = false;
            m.header.user_header = static_cast<std::uint32_t>(any_number());
        }
        break;
    case 14: m.am = m.am == rma_am ? pipeline_am : rma_am; break;
    case 15:
        m.tagged = !m.tagged;
        m.user.clear();
        break;
    default:
        m.header.status = static_cast<std::uint16_t>(any_number());
        m.header.user_id = static_cast<std::uint32_t>(any_number());
    }
}

void Grammar::rearrange(Script &script) {
    const auto at = [&] { return static_cast<std::ptrdiff_t>(rng_.below(script.size())); };
    for (std::size_t n = 1 + rng_.mostly_small(2); n > 0 && !script.empty(); --n) {
        Message m = script[static_cast<std::size_t>(at())];
        switch (rng_.below(8)) {
        case 0: script.insert(script.begin() + at(), m); break;
        case 1: script.push_back(m); break;
        case 2: script.erase(script.begin() + at()); break;
        case 3: std::swap(script[static_cast<std::size_t>(at())], script.front()); break;
        default: // the same transfer, otherwise
            m.header.kind = static_cast<std::uint16_t>(rng_.below(kinds));
            m.tagged = m.header.kind == opening || (m.tagged && m.header.kind == whole);
            if (rng_.chance(70)) m.data.clear();
            if (m.header.kind != whole && m.header.kind != user_offer && rng_.chance(80))
                m.user.clear();
            if (rng_.chance(30)) change_length(rng_.chance(50) ? m : script.front());
            script.insert(script.begin() + at(), m);
        }
    }
}

Message Grammar::next() {
    if (scripts_.size() < 6 && rng_.chance(scripts_.empty() ? 100 : 60)) {
        Script script = draw_script();
        if (rng_.chance(weights_.rearrange)) rearrange(script);
        if (!script.empty()) scripts_.push_back(std::move(script));
    }
    if (scripts_.empty()) return next();
    const std::size_t i = rng_.below(scripts_.size());
    Script &script = scripts_[i];
    const auto at = static_cast<std::ptrdiff_t>(rng_.chance(90) ? 0 : rng_.below(script.size()));
    Message m = std::move(script[static_cast<std::size_t>(at)]);
    script.erase(script.begin() + at);
    if (script.empty()) scripts_.erase(scripts_.begin() + static_cast<std::ptrdiff_t>(i));
    if (rng_.chance(weights_.change)) change(m);
    // A tagged message has no other part than its data.
    if (m.tagged && !weights_.opaque) m.user.clear();
    if (m.tagged && !weights_.opaque && !m.has_header) m.tagged = false;
    // What is of no writer's alphabet is not data of a receive: flattened types, receipts of
    // routes.
    const bool is_receipt = m.data.find_first_not_of('\0') == m.data.npos;
    if ((m.is_type && (m.tagged || m.header.kind != direct_type)) ||
        (is_receipt && (m.tagged || m.header.kind != route)))
        m.data = contents(m.from, m.data.size());
    if (!weights_.pipeline) m.tagged = false, m.am = rma_am;
    if (!weights_.one_sided) m.am = pipeline_am;
    return m;
}

} // namespace ucdfuzz
