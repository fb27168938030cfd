// What an honest peer would say of data that is read where it is, and what one might forge.

#include "grammar.hpp"
#include "ucx/type_name.hpp"

namespace ucdfuzz {

Grammar::Script Grammar::introduce() {
    Message m = message(a_hostile(rng_), an_honest(rng_), pipeline_am);
    m.header.kind = introduction;
    // Its own; another's, which it relays; or none.
    const int owner = rng_.chance(90) ? m.from : a_hostile(rng_);
    m.user = owners_[static_cast<std::size_t>(owner - honest_peers)]->introduce(m.to, pipeline_am);
    if (rng_.chance(10)) damage(m.user);
    m.data = contents(m.from, 8);
    m.rendezvous = rng_.chance(95);
    return {m};
}

// The type, the announcement, and the offer. If the receiver declines, it waits for chunks.
Grammar::Script Grammar::direct_transfer() {
    Message m = message(a_hostile(rng_), an_honest(rng_), pipeline_am);
    DirectEnds &owner = *owners_[static_cast<std::size_t>(m.from - honest_peers)];
    if (!owner.has_key(m.to, pipeline_am) && rng_.chance(80)) return introduce();
    const Layout layout =
        samples_.draw(rng_, rng_.chance(90) ? 2000 : 60000, false, rng_.chance(10));
    Script script;
    if (rng_.chance(70)) {
        Message type = m;
        type.header.kind = direct_type;
        type.of_alphabet = false;
        type.is_type = true;
        type.data = rng_.chance(5) ? rng_.pick(samples_.deep()).flat : layout.sample->flat;
        if (rng_.chance(5)) damage(type.data);
        script.push_back(std::move(type));
    }
    m.header.total = layout.bytes;
    const bool tagged = rng_.chance(60);
    m.header.kind = tagged ? offer : user_offer;
    m.tag = static_cast<ucp_tag_t>(m.from - honest_peers) << 8 | rng_.below(3);
    script.push_back(m);
    if (tagged) {
        m.header.kind = opening;
        m.tagged = true;
        script.push_back(m);
        m.tagged = false;
    }
    DirectPlace place;
    place.low = layout.low;
    place.high = layout.high;
    place.count = layout.count;
    place.base = owner.address_of(layout.span()) - static_cast<std::uint64_t>(layout.low);
    place.type = ucdtest::name_of(layout.sample->flat);
    if (rng_.chance(90)) owner.attach(m.to, place); // else as version 0.3.0 offers it
    switch (rng_.below(16)) {
    case 0: place.low = static_cast<std::int64_t>(any_number()); break;
    case 1: place.high = static_cast<std::int64_t>(any_number()); break;
    case 2: place.count = any_number(); break;
    case 3: place.type = ucdtest::name_of(rng_.pick(samples_.all()).flat); break;
    case 4: place.memory = static_cast<std::uint32_t>(rng_.below(4)); break;
    case 5: m.header.total = any_total(layout.bytes); break;
    case 6: place.low -= static_cast<std::int64_t>(rng_.below(100)); break;
    case 7: place.high += static_cast<std::int64_t>(rng_.below(100)); break;
    default: break;
    }
    if (place.memory != 0 && place.handle.empty())
        for (int i = 0; i < 128; ++i) place.handle += static_cast<char>(rng_.bits());
    Message d = m;
    d.header.kind = direct;
    d.rendezvous = rng_.chance(95);
    d.sign = rng_.chance(93);
    d.user = encode(place);
    d.data = contents(m.from, 8);
    script.push_back(std::move(d));
    add_chunks(script, m, contents(m.from, layout.bytes));
    return script;
}

// Of a transfer that an honest peer sends, or of any.
Grammar::Script Grammar::decline_one() {
    Message m = message(a_hostile(rng_), an_honest(rng_), pipeline_am);
    const Name name = any_name(m.from, m.to, pipeline_am);
    m.header.stream = name.stream;
    m.header.number = name.number;
    m.header.kind = decline;
    m.header.status = static_cast<std::uint16_t>(rng_.chance(80) ? rng_.below(2) : any_number());
    return {m};
}

// The two messages by which an origin learns to access a window by itself.
Grammar::Script Grammar::introduce_windows() {
    const int from = a_hostile(rng_), to = an_honest(rng_);
    const int owner = rng_.chance(90) ? from : a_hostile(rng_);
    OneSided m;
    m.verb = window_introduction;
    std::string body =
        owners_[static_cast<std::size_t>(owner - honest_peers)]->introduce(to, rma_am);
    if (rng_.chance(10)) damage(body);
    return wrap(from, to, encode(wire_, m) + body, std::string());
}

Grammar::Script Grammar::grant_window() {
    const int from = a_hostile(rng_), to = an_honest(rng_);
    DirectEnds &owner = *owners_[static_cast<std::size_t>(from - honest_peers)];
    if (!owner.has_key(to, rma_am) && rng_.chance(80)) return introduce_windows();
    // Honest peers use the window of the other one's key at hostile ones.
    const ucd_ucx_window_key_t &key =
        windows_[static_cast<std::size_t>(rng_.chance(90) ? 1 - to : to)];
    OneSided m;
    m.verb = window_grant;
    std::string body = owner.grant(to, {reinterpret_cast<const char *>(key.bytes) + 8, name_bytes});
    if (rng_.chance(5)) damage(body);
    return wrap(from, to, encode(wire_, m) + body, std::string());
}

} // namespace ucdfuzz
