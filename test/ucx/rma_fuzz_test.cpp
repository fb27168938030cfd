// Damaged and random messages to a target, and to an origin that waits for an answer. A quick run
// has some thousands; UCD_TEST_CASES=250 makes a million of them.

#include "content_name.h"
#include "message.h"
#include "support/catch.hpp"
#include "support/mock_buffer.hpp"
#include "ucx/rma_by_hand.hpp"

#include <cstring>
#include <map>
#include <optional>

using namespace ucdtest;

namespace {

constexpr std::size_t exposed = 256, guard = 1024;

std::string name_of(const std::string &flat) {
    const auto name = ucd_ucx::name_of(flat.data(), flat.size());
    return {name.begin(), name.end()};
}

// A layout that is good before it is damaged.
struct Sample {
    std::string flat, name;
    std::uint64_t count, bytes;
    std::int64_t displacement;
};

std::vector<Sample> make_samples() {
    std::vector<Sample> samples;
    const auto add = [&](ucd_type_t type, std::uint64_t count, std::int64_t displacement) {
        std::uintptr_t size;
        ok(ucd_get_size(type, &size), "size");
        const std::string flat = flattened(type);
        samples.push_back({flat, name_of(flat), count, size * count, displacement});
    };
    const auto add_and_free = [&](ucd_type_t type, std::uint64_t count, std::int64_t displacement) {
        add(type, count, displacement);
        ok(ucd_free(&type), "free");
    };
    add(UCD_TYPE__INT, 10, 8);
    add(UCD_TYPE__BYTE, 0, 0);
    ucd_type_t type;
    ok(ucd_create_vector(5, 1, 2, UCD_TYPE__INT, UCD_INFO__NULL, &type), "vector");
    add_and_free(type, 2, 4);
    ok(ucd_create_hvector(4, 2, -24, UCD_TYPE__INT, UCD_INFO__NULL, &type), "hvector");
    add_and_free(type, 1, 100);
    const std::intptr_t lengths[] = {1, 2, 3, 4}, displs[] = {3, 40, 11, 27};
    ok(ucd_create_indexed(4, lengths, displs, UCD_TYPE__INT, UCD_INFO__NULL, &type), "indexed");
    add_and_free(type, 1, 0);
    return samples;
}

void damage(Rng &rng, std::string &text) {
    for (std::size_t n = rng.mostly_small(6); n > 0; --n) {
        if (text.empty()) return;
        const std::size_t at = rng.below(text.size());
        switch (rng.below(6)) {
        case 0: text[at] = static_cast<char>(text[at] ^ 1 << rng.below(8)); break;
        case 1: text[at] = static_cast<char>(rng.bits()); break;
        case 2: text.resize(at); break;
        case 3: text.append(rng.below(20), static_cast<char>(rng.bits())); break;
        case 4: // a number of the kind that overflows
            for (std::size_t i = at; i < std::min(at + 8, text.size()); ++i)
                text[i] = static_cast<char>(rng.chance(80) ? 255 : 127);
            break;
        default: text.insert(at, 1, static_cast<char>(rng.bits()));
        }
    }
}

// The bytes that a message may write, by the test's own reading of it; none if it is not to be
// obeyed.
__extension__ using Wide = __int128;
using Range = std::pair<std::int64_t, std::int64_t>;
std::optional<Range> may_write(const std::string &text, const std::string &window,
                               const std::map<std::string, std::string> &known) {
    if (text.size() < wire::fixed_bytes || text[0] != 1) return std::nullopt;
    if (text[1] != wire::put && text[1] != wire::accumulate && text[1] != wire::get_accumulate)
        return std::nullopt;
    if (text.substr(12, 16) != window) return std::nullopt;
    std::string flat = text.substr(wire::fixed_bytes);
    if (text[3] == 0) {
        const auto found = known.find(flat);
        if (found == known.end()) return std::nullopt;
        flat = found->second;
    }
    ucd_type_t type;
    if (ucd_unflatten(&type, flat.data(), flat.size()) != UCD_SUCCESS) return std::nullopt;
    std::intptr_t lb, extent, true_lb, true_extent;
    ok(ucd_get_extent(type, &lb, &extent), "extent");
    ok(ucd_get_true_extent(type, &true_lb, &true_extent), "true extent");
    ok(ucd_free(&type), "free");
    const auto count = static_cast<Wide>(number_in(text, 36, 8));
    if (count == 0 || true_extent == 0) return std::nullopt;
    const Wide displacement = static_cast<std::int64_t>(number_in(text, 28, 8));
    const Wide last = (count - 1) * extent;
    const Wide low = displacement + true_lb + std::min<Wide>(last, 0);
    const Wide high = displacement + true_lb + true_extent + std::max<Wide>(last, 0);
    if (low < 0 || high > static_cast<Wide>(exposed)) return std::nullopt;
    return Range(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high));
}

class FuzzedTarget {
public:
    FuzzedTarget() : window_(b_, memory_.data() + guard, exposed) {
        name_ = wire::window_name(*window_.key());
        for (const Sample &s : samples_) known_[s.name] = s.flat;
    }
    ~FuzzedTarget() {
        // What was begun and will never be ended must not keep anything.
        ok(ucd_ucx_rma_lose_endpoint(b_.rma, b_.ep(), UCS_ERR_CONNECTION_RESET), "lose");
        for (int i = 0; i < 20; ++i) hand_.progress();
    }

    // One message, whose header is damaged; what it changes must be what it may.
    void one_request(Case &one) {
        Rng &rng = one.rng();
        std::string text = random_text(rng);
        if (rng.chance(95)) damage(rng, text);
        std::string data(rng.chance(90) ? data_bytes_ : rng.below(400),
                         static_cast<char>(rng.bits()));
        const std::vector<char> before = memory_;
        hand_.send(text, data);
        bool done = false;
        await_everything(text, done);
        // Transports with several lanes may bring the answer later than one to what was sent
        // behind.
        if (memory_ != before)
            for (int i = 0; i < 5000 && !done; ++i) {
                hand_.progress();
                if (!hand_.messages.empty()) look_at(hand_.next(), text, done);
            }
        const std::optional<Range> range = may_write(text, name_, known_);
        for (std::size_t i = 0; i < memory_.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(guard);
            const bool allowed = done && range && at >= range->first && at < range->second;
            if (memory_[i] != before[i] && !allowed)
                one.fail("byte ", at, " was written by ", to_hex(text),
                         done ? ", done" : ", refused");
        }
    }

    // The same with the pipeline's own header damaged as well.
    void one_message(Case &one) {
        Rng &rng = one.rng();
        std::string text = random_text(rng);
        ucd_ucx::Header header;
        header.kind = static_cast<ucd_ucx::Kind>(rng.below(10));
        if (header.kind >= ucd_ucx::Kind::ring_accept && rng.chance(90))
            text.resize(sizeof(ucd_ucx::RingPlace));
        header.id = {rng.bits() % 16, rng.bits() % 16};
        header.total = data_bytes_;
        header.user_header = static_cast<std::uint32_t>(text.size());
        std::string both(reinterpret_cast<const char *>(&header), sizeof header);
        both += text;
        if (rng.chance(80)) {
            damage(rng, both);
            // Or it would be dropped at once.
            const auto rest = static_cast<std::uint32_t>(both.size() - sizeof header);
            if (both.size() > sizeof header && rng.chance(80))
                std::memcpy(both.data() + offsetof(ucd_ucx::Header, user_header), &rest, 4);
        }
        const std::string data(data_bytes_, 'd');
        ucp_request_param_t p = {};
        p.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_DATATYPE;
        p.flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY;
        p.datatype = ucp_dt_make_iov(); // see Post::send_am
        const ucp_dt_iov_t segment = {const_cast<char *>(data.data()), data.size()};
        const ucs_status_ptr_t request =
            ucp_am_send_nbx(hand_.side.ep, am_id, both.data(), both.size(), &segment, 1, &p);
        if (UCS_PTR_IS_PTR(request)) {
            hand_.until([&] { return ucp_request_check_status(request) != UCS_INPROGRESS; });
            ucp_request_free(request);
        }
        bool done = false;
        await_everything(text, done);
        for (std::size_t i = 0; i < memory_.size(); ++i)
            if ((i < guard || i >= guard + exposed) && memory_[i] != 'g')
                one.fail("byte ", i, " was written by ", to_hex(both));
    }

    long answers = 0;

private:
    std::string random_text(Rng &rng) {
        const Sample &s = rng.pick(samples_);
        wire::Request r;
        r.what = 1 + static_cast<unsigned>(rng.below(4));
        r.number = ++number_;
        r.window = name_;
        r.displacement = s.displacement + rng.between(-8, 8);
        r.count = s.count;
        r.bytes = s.bytes;
        data_bytes_ = r.what == wire::get ? 0 : s.bytes;
        if (r.what == wire::accumulate || r.what == wire::get_accumulate) {
            r.op = rng.chance(70) ? static_cast<unsigned>(UCD_OP__SUM) : rng.below(13);
            r.element = number_in(known_element_, 0, 8);
        }
        r.form = rng.chance(70);
        r.type = r.form == 1 ? s.flat : s.name;
        if (rng.chance(10)) return wire::short_message(5 + rng.below(3), number_ - rng.below(3));
        if (rng.chance(5)) {
            std::string noise(rng.below(200), '\0');
            for (char &c : noise) c = static_cast<char>(rng.bits());
            return noise;
        }
        return r.text();
    }

    // Whether it says that what was sent as `text` is done.
    void look_at(const HandSide::Message &m, const std::string &text, bool &done) {
        if (m.what() == wire::answer && text.size() >= 12 && m.number() == number_in(text, 4, 8)) {
            done = m.header.at(2) == wire::done;
            ++answers;
        }
        hand_.drop(m);
    }

    // Until a message that is sent behind has been answered.
    void await_everything(const std::string &text, bool &done) {
        wire::Request last;
        last.what = wire::get;
        last.number = std::uint64_t{1} << 60 | ++number_;
        last.window = name_;
        last.count = 0;
        last.type = samples_[0].flat;
        hand_.send(last.text());
        for (;;) {
            const HandSide::Message m = hand_.next();
            const bool is_last = m.number() == last.number;
            look_at(m, text, done);
            if (is_last) return;
        }
    }

    const std::vector<Sample> samples_ = make_samples();
    std::map<std::string, std::string> known_;
    const std::string known_element_ = samples_[0].name;
    const Keys no_keys_;
    std::vector<char> memory_ = std::vector<char>(exposed + 2 * guard, 'g');
    RmaSide b_{no_keys_.get(), UCS_THREAD_MODE_SINGLE};
    Window window_;
    HandSide hand_{b_};
    std::string name_;
    std::uint64_t number_ = 0, data_bytes_ = 0;
};

// A new target now and then, so that what half-said messages leave behind is taken away, too.
template <class One>
void fuzz_target(const char *test, std::size_t cases, One &&one_message) {
    std::unique_ptr<FuzzedTarget> target;
    long sent = 0, answers = 0;
    run_cases(test, cases, [&](Case &one) {
        if (sent++ % 1000 == 0) {
            if (target != nullptr) answers += target->answers;
            target.reset();
            target = std::make_unique<FuzzedTarget>();
        }
        one_message(*target, one);
    });
    answers += target->answers;
    // Most are understood well enough to be answered: the damage is not so coarse as to test
    // nothing.
    CHECK(2 * answers > sent);
}

} // namespace

TEST_CASE("damaged requests write nothing, and good ones only what they say") {
    const MockSession session;
    fuzz_target("rma fuzz", 3000, [](FuzzedTarget &t, Case &one) { t.one_request(one); });
}

TEST_CASE("messages that are damaged anywhere write nothing outside the window") {
    const MockSession session;
    std::unique_ptr<FuzzedTarget> target;
    std::size_t sent = 0;
    run_cases("rma fuzz all", 1000, [&](Case &one) {
        if (sent++ % 200 == 0) {
            target.reset();
            target = std::make_unique<FuzzedTarget>();
        }
        target->one_message(one);
    });
}

TEST_CASE("damaged answers do no harm to an origin") {
    const MockSession session;
    const Keys no_keys;
    RmaSide a(no_keys.get(), UCS_THREAD_MODE_SINGLE);
    HandSide hand(a);
    const ucd_ucx_window_key_t key = {{'U', 'C', 'D', 'W', 1}};
    run_cases("rma fuzz answers", 500, [&](Case &one) {
        Rng &rng = one.rng();
        std::vector<char> to(3 * 64, 'x');
        Outcome o;
        const ucd_ucx_param_t p = o.param();
        ok(ucd_ucx_get_nbx(a.rma, a.ep(), to.data() + 64, 64, UCD_TYPE__CHAR, &key, 0, 64,
                           UCD_TYPE__CHAR, &p, &o.request),
           "get");
        const HandSide::Message m = hand.next();
        hand.drop(m);
        std::string text =
            wire::short_message(rng.chance(70) ? wire::answer : wire::need_type, m.number(),
                                rng.chance(50) ? 0 : static_cast<unsigned>(rng.below(256)),
                                static_cast<unsigned>(rng.below(256)));
        damage(rng, text);
        hand.send(text, std::string(rng.chance(60) ? 64 : rng.below(200), 'd'));
        hand.send(wire::short_message(wire::answer, m.number()), std::string(64, 'e'));
        hand.until([&] { return o.done(); });
        for (int i = 0; i < 5; ++i) hand.progress();
        while (!hand.messages.empty()) hand.drop(hand.next());
        const auto same = [&](char c) {
            return std::count(to.begin() + 64, to.end() - 64, c) == 64;
        };
        if (std::count(to.begin(), to.begin() + 64, 'x') != 64 ||
            std::count(to.end() - 64, to.end(), 'x') != 64)
            one.fail("bytes beside the buffer were written by ", to_hex(text));
        if (o.result.status == UCS_OK ? !(same('d') || same('e')) : !same('x'))
            one.fail("the buffer and the status disagree: ", to_hex(text));
    });
}
