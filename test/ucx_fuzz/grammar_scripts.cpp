// What an honest peer would say.

#include "grammar.hpp"

#include <algorithm>

namespace ucdfuzz {

Message Grammar::message(int from, int to, unsigned am) {
    Message m;
    m.from = from;
    m.to = to;
    m.am = am;
    m.header.version = wire_;
    const Name name = name_for(from, to, am);
    m.header.stream = name.stream;
    m.header.number = name.number;
    return m;
}

Grammar::Script Grammar::draw_script() {
    if (weights_.one_sided && rng_.chance(weights_.greed)) return greedy_request();
    const std::size_t pipelines = weights_.pipeline ? 10 : 0;
    const std::size_t draw = rng_.below(pipelines + (weights_.one_sided ? 10 : 0));
    if (draw < pipelines) {
        if (rng_.chance(weights_.direct)) {
            const std::size_t direct = rng_.below(10);
            return direct < 3 ? introduce() : direct < 9 ? direct_transfer() : decline_one();
        }
        if (draw < 2) return tagged_whole();
        if (draw < 5) return tagged_chunks();
        return draw < 9 ? user_message() : lone_message();
    }
    if (rng_.chance(weights_.direct)) return rng_.chance(30) ? introduce_windows() : grant_window();
    switch (draw - pipelines) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: return request();
    case 5:
    case 6:
    case 7: return answer_one();
    case 8: return type_answer();
    default: return lone_one_sided();
    }
}

namespace {

std::size_t a_length(ucdtest::Rng &rng) {
    return rng.chance(15) ? 0 : rng.mostly_small(1600);
}

} // namespace

Grammar::Script Grammar::tagged_whole() {
    Message m = message(a_hostile(rng_), an_honest(rng_), pipeline_am);
    m.tagged = true;
    m.tag = static_cast<ucp_tag_t>(m.from - honest_peers) << 8 | rng_.below(3);
    m.data = contents(m.from, a_length(rng_));
    m.header.total = m.data.size();
    return {m};
}

void Grammar::add_chunks(Script &script, const Message &first, const std::string &data) {
    const std::size_t before = script.size();
    for (std::size_t at = 0; at < data.size();) {
        Message m = first;
        m.header.kind = chunk;
        m.header.offset = at;
        m.header.user_id = 0;
        m.tagged = false;
        m.user.clear();
        m.rendezvous = rng_.chance(60);
        m.data = data.substr(at, 1 + rng_.mostly_small(500));
        at += m.data.size();
        script.push_back(std::move(m));
    }
    if (rng_.chance(30) && script.size() > before + 1)
        std::swap(script[before], script[before + rng_.below(script.size() - before)]);
    if (rng_.chance(85)) return;
    Message m = first;
    m.header.kind = withdraw;
    m.header.status = static_cast<std::uint16_t>(rng_.below(30));
    m.tagged = false;
    m.user.clear();
    const std::size_t at = before + rng_.below(script.size() - before + 1);
    script.insert(script.begin() + static_cast<std::ptrdiff_t>(at), std::move(m));
}

// Of a transfer whose data is in a device's memory.
void Grammar::add_ring_offers(Script &script, const Message &first) {
    const auto offered =
        static_cast<unsigned>(rng_.chance(90) ? (1 << routes) - 1 : rng_.below(256));
    for (unsigned route_or_chunk = 0; route_or_chunk <= routes; ++route_or_chunk) {
        const bool is_chunk = route_or_chunk == routes;
        if (is_chunk && rng_.chance(50)) continue;
        Message m = first;
        m.header.kind = is_chunk ? ring_chunk : route;
        if (!is_chunk) m.header.status = route_status(route_or_chunk, offered);
        m.tagged = false;
        m.rendezvous = true;
        m.data = is_chunk || rng_.chance(5) ? contents(m.from, 8) : std::string(8, '\0');
        m.user.assign(route_or_chunk == host_route ? 0 : ring_place_bytes, '\0');
        if (is_chunk && m.user.size() > 136) m.user[136] = static_cast<char>(rng_.bits());
        script.push_back(std::move(m));
    }
}

Grammar::Script Grammar::tagged_chunks() {
    Message m = message(a_hostile(rng_), an_honest(rng_), pipeline_am);
    const std::string data = contents(m.from, a_length(rng_));
    m.tag = static_cast<ucp_tag_t>(m.from - honest_peers) << 8 | rng_.below(3);
    m.header.total = data.size();
    m.header.kind = offer;
    Script script = {m};
    m.header.kind = opening;
    m.tagged = true;
    script.push_back(m);
    if (rng_.chance(15)) add_ring_offers(script, m);
    add_chunks(script, m, data);
    return script;
}

// A user's active message, or a one-sided one, in one part or more.
Grammar::Script Grammar::transfer(Message m, std::string data) {
    m.header.total = data.size();
    Script script;
    if (data.size() < 700 && rng_.chance(75)) {
        m.header.kind = whole;
        m.data = std::move(data);
        return {m};
    }
    m.header.kind = user_offer;
    script.push_back(m);
    if (rng_.chance(10)) add_ring_offers(script, m);
    add_chunks(script, m, data);
    return script;
}

Grammar::Script Grammar::user_message() {
    Message m = message(a_hostile(rng_), an_honest(rng_), pipeline_am);
    m.user = contents(m.from, rng_.mostly_small(64));
    m.header.user_id = static_cast<std::uint32_t>(rng_.below(8));
    std::string data = contents(m.from, a_length(rng_));
    return transfer(std::move(m), std::move(data));
}

Grammar::Script Grammar::lone_message() {
    Message m = message(a_hostile(rng_), an_honest(rng_), pipeline_am);
    m.header.kind = static_cast<std::uint16_t>(rng_.below(kinds));
    m.tagged = rng_.chance(30);
    m.tag = rng_.below(2) << 8 | rng_.below(3);
    m.data = contents(m.from, rng_.chance(50) ? 0 : a_length(rng_));
    m.header.total = any_total(m.data.size());
    m.header.offset = rng_.chance(70) ? 0 : any_number();
    m.rendezvous = rng_.chance(40);
    return {m};
}

// One-sided --------------------------------------------------------------

// UCX 1.13 does not look whether a header is too long for it.
constexpr std::size_t longest_header = 4000;

Grammar::Script Grammar::wrap(int from, int to, const std::string &text, std::string data) {
    Message m = message(from, to, rma_am);
    const bool is_type = text.size() > 1 && static_cast<unsigned char>(text[1]) == type_message;
    m.of_alphabet = !is_type;
    const bool is_long = text.size() > longest_header;
    if (is_long || (data.size() < 1000 && rng_.chance(75))) {
        m.has_header = false;
        m.of_alphabet = false;
        m.data = text + data;
        return {m};
    }
    m.user = text;
    return transfer(std::move(m), std::move(data));
}

unsigned Grammar::draw_op(unsigned verb) {
    if (verb < accumulate) return rng_.chance(95) ? 0 : static_cast<unsigned>(rng_.below(256));
    if (verb == get_accumulate && rng_.chance(30)) return no_op;
    if (weights_.opaque) return static_cast<unsigned>(rng_.below(14));
    static constexpr unsigned that_keep_bytes[] = {UCD_OP__REPLACE, UCD_OP__MAX, UCD_OP__MIN};
    return that_keep_bytes[rng_.below(3)];
}

std::uint64_t Grammar::draw_handle(int from, int to) {
    if (knowledge_.handles.empty() || rng_.chance(5)) return any_number();
    Knowledge::Handle handle = {};
    for (int i = 0; i < 6; ++i) {
        handle = knowledge_.handles[rng_.below(knowledge_.handles.size())];
        if (handle.node == to && handle.at == from) break;
    }
    return handle.handle;
}

void Grammar::draw_place(OneSided &r, int from, int to, const Layout &layout) {
    const ucd_ucx_window_key_t &key =
        windows_[static_cast<std::size_t>(rng_.chance(95) ? to : an_honest(rng_))];
    r.window.assign(reinterpret_cast<const char *>(key.bytes) + 8, name_bytes);
    if (rng_.chance(50)) {
        r.window.clear();
        r.handle = draw_handle(from, to);
    } else if (rng_.chance(3)) {
        damage(r.window);
        r.window.resize(name_bytes);
    }
    const std::int64_t room = 1024 - (layout.high - layout.low);
    r.displacement = room < 0 || rng_.chance(10)
                         ? static_cast<std::int64_t>(any_number())
                         : rng_.between(rng_.chance(90) ? 0 : -40, room) - layout.low;
}

// How the type is told; with an index, it may be another one than was drawn.
void Grammar::draw_type(OneSided &r, int from, int to, Layout &layout) {
    r.type = layout.sample->flat;
    if (!knowledge_.names.empty() && rng_.chance(15)) {
        r.form = TypeForm::name;
        r.type = knowledge_.names[rng_.below(knowledge_.names.size())];
    }
    r.index = static_cast<std::uint32_t>(rng_.chance(90) ? rng_.below(6) : any_number());
    const Sample *&known = indexed_[{from, to, r.index}];
    if (rng_.chance(40) && (known != nullptr || rng_.chance(10))) {
        r.form = TypeForm::index;
        r.type.clear();
        if (known != nullptr && rng_.chance(95)) layout = layout_of(*known, 1 + rng_.below(3));
    } else {
        known = layout.sample;
    }
}

OneSided Grammar::draw_request(int from, int to, Layout &layout) {
    OneSided r;
    r.verb = put + static_cast<unsigned>(rng_.below(4));
    layout =
        samples_.draw(rng_, rng_.chance(95) ? 1000 : 3000, r.verb >= accumulate, rng_.chance(15));
    draw_type(r, from, to, layout);
    r.first = draw_op(r.verb);
    r.number = rng_.chance(80) ? ++number_ : rng_.mostly_small(8);
    r.count = layout.count;
    draw_place(r, from, to, layout);
    return r;
}

Grammar::Script Grammar::request() {
    const int from = a_hostile(rng_), to = an_honest(rng_);
    Layout layout;
    OneSided r = draw_request(from, to, layout);
    switch (rng_.below(20)) {
    case 0: r.count = any_number(); break;
    case 1: damage(r.type); break;
    default: break;
    }
    const bool sends = r.verb != get && r.first != no_op;
    std::string text = encode(rng_.chance(2) ? 5 - wire_ : wire_, r); // or of the other version
    if (rng_.chance(4) && weights_.opaque) damage(text);
    const std::string data = sends ? contents(from, layout.bytes) : std::string();
    if (rng_.chance(15)) return wrap(from, to, among_others(from, text + data), std::string());
    return wrap(from, to, text, data);
}

// What costs the target much: an answer of any length, a type of many levels, an operation whose
// data does not come.
Grammar::Script Grammar::greedy_request() {
    const int from = a_hostile(rng_), to = an_honest(rng_);
    Layout layout;
    OneSided r = draw_request(from, to, layout);
    const std::size_t kind = rng_.below(3);
    const Sample &deep = samples_.deep()[rng_.below(samples_.deep().size())];
    r.form = TypeForm::flattened;
    r.type = kind == 1 ? deep.flat : samples_.of_extent_0().flat;
    r.count = kind == 1 ? 1 : std::uint64_t{1} << rng_.below(46);
    if (kind < 2) r.verb = rng_.chance(70) ? get : get_accumulate;
    if (kind == 2) r.verb = put + 2 * static_cast<unsigned>(rng_.below(2));
    r.first = r.verb == get_accumulate ? no_op : 0;
    r.displacement = static_cast<std::int64_t>(rng_.below(64));
    indexed_.erase({from, to, r.index});
    const std::string text = encode(wire_, r);
    if (kind < 2) return wrap(from, to, text, std::string());
    Message m = message(from, to, rma_am);
    m.of_alphabet = false;
    m.user = text;
    m.header.kind = user_offer;
    m.header.total = 4 * r.count;
    return {m};
}

Grammar::Script Grammar::answer_one() {
    if (knowledge_.asked.empty()) return request();
    const std::size_t i = rng_.below(knowledge_.asked.size());
    const Asked asked = knowledge_.asked[i];
    const int from = rng_.chance(95) ? asked.at : a_hostile(rng_);
    if (rng_.chance(80))
        knowledge_.asked.erase(knowledge_.asked.begin() + static_cast<std::ptrdiff_t>(i));
    OneSided a;
    a.number = asked.number;
    a.verb = rng_.chance(15) ? need_type : answer;
    if (a.verb == answer && rng_.chance(40)) {
        a.verb = answer_with_handle;
        a.handle = any_number();
    }
    a.first = rng_.chance(85) ? 0 : static_cast<unsigned>(rng_.below(10));
    a.second = rng_.chance(85) ? 0 : static_cast<unsigned>(rng_.below(256));
    const bool fetches = asked.verb == get || asked.verb == get_accumulate;
    const std::uint64_t bytes = fetches && a.verb != need_type && a.first == 0 ? asked.bytes : 0;
    const std::string data = contents(from, std::min<std::uint64_t>(bytes, 4000));
    if (!rng_.chance(30)) return wrap(from, asked.from, encode(wire_, a), data);
    return wrap(from, asked.from, among_others(from, encode(wire_, a) + data), std::string());
}

// As one message with others of whatever kind, some of them cut short.
std::string Grammar::among_others(int from, const std::string &one) {
    std::vector<std::string> all(1 + rng_.below(4));
    for (std::string &other : all) {
        OneSided m;
        m.verb = rng_.chance(70) ? answer : static_cast<unsigned>(rng_.below(verbs));
        m.number = any_number();
        m.handle = any_number();
        m.window.assign(name_bytes, '\0');
        other = encode(wire_, m) + contents(from, rng_.below(40));
        if (rng_.chance(10)) other = join_answers({other});
    }
    all[rng_.below(all.size())] = one;
    std::string joined = join_answers(all);
    if (rng_.chance(15)) joined.resize(rng_.below(joined.size()));
    return joined;
}

Grammar::Script Grammar::type_answer() {
    if (knowledge_.questions.empty() || !weights_.opaque) return request();
    const auto [node, number] = knowledge_.questions[rng_.below(knowledge_.questions.size())];
    OneSided t;
    t.verb = type_message;
    t.number = number;
    std::string flat =
        rng_.chance(20) ? rng_.pick(samples_.deep()).flat : rng_.pick(samples_.all()).flat;
    if (rng_.chance(20)) damage(flat);
    return wrap(a_hostile(rng_), node, encode(wire_, t), flat);
}

Grammar::Script Grammar::lone_one_sided() {
    OneSided m;
    m.verb = static_cast<unsigned>(rng_.below(verbs));
    m.number = any_number();
    m.window.assign(name_bytes, '\0');
    std::string text = encode(wire_, m);
    if (rng_.chance(50) && weights_.opaque) damage(text);
    const int from = a_hostile(rng_);
    return wrap(from, an_honest(rng_), text, contents(from, a_length(rng_)));
}

} // namespace ucdfuzz
