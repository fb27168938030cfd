// Damaged and random messages to a target, and to an origin that waits for an answer. A quick run
// has some thousands; UCD_TEST_CASES=250 makes a million of them.

#include "support/device_test.hpp"
#include "ucx/attacker.hpp"
#include "ucx/rma_pair.hpp"
#include "ucx/type_name.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sodium.h>

namespace rma_fuzz_test {

using namespace ucdtest;

namespace {

constexpr std::size_t exposed = 256, guard = 1024;

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
                               std::uint64_t handle,
                               const std::map<std::string, std::string> &known) {
    if (text.size() < 40 || text[0] != wire::newest_wire) return std::nullopt;
    if (text[1] != wire::put && text[1] != wire::accumulate && text[1] != wire::get_accumulate)
        return std::nullopt;
    const bool shows_key = (text[3] & 1) != 0;
    const std::size_t after_window = shows_key ? 40 : 32, before_type = after_window + 8;
    if (text.size() < before_type) return std::nullopt;
    if (shows_key ? text.substr(24, 16) != window : wire::number_at(text, 24, 8) != handle)
        return std::nullopt;
    const std::uint64_t type_bytes = wire::number_at(text, after_window + 4, 4);
    if (type_bytes > text.size() - before_type) return std::nullopt;
    std::string flat = text.substr(before_type, type_bytes);
    const unsigned form = static_cast<unsigned char>(text[3]) >> 1;
    // What an index stands for depends on the messages before.
    if (form == 0 && type_bytes == 0) return Range(0, exposed);
    if (form == 1) {
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
    const auto count = static_cast<Wide>(wire::number_at(text, 16, 8));
    if (count == 0 || true_extent == 0) return std::nullopt;
    const Wide displacement = static_cast<std::int64_t>(wire::number_at(text, 8, 8));
    const Wide last = (count - 1) * extent;
    const Wide low = displacement + true_lb + std::min<Wide>(last, 0);
    const Wide high = displacement + true_lb + true_extent + std::max<Wide>(last, 0);
    if (low < 0 || high > static_cast<Wide>(exposed)) return std::nullopt;
    return Range(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high));
}

class FuzzedTarget {
public:
    FuzzedTarget() : window_(b_, memory_.data() + guard, exposed) {
        b_.side.connect(hand_.side.address());
        name_ = wire::window_name(*window_.key());
        for (const Sample &s : samples_) known_[s.name] = s.flat;
    }
    ~FuzzedTarget() {
        // What was begun and will never be ended must not keep anything.
        b_.lose_endpoint();
        hand_.progress(20);
        b_.close_endpoint();
    }

    // One message that is damaged; what it changes must be what it may.
    void one_request(Case &one) {
        Rng &rng = one.rng();
        std::string text = random_text(rng);
        text.append(rng.chance(90) ? data_bytes_ : rng.below(400), static_cast<char>(rng.bits()));
        if (rng.chance(95)) damage(rng, text);
        if (text.empty()) return;
        const std::vector<char> before = memory_;
        hand_.say(text);
        bool done = false;
        await_everything(text, done);
        // Transports with several lanes may bring the answer later than one to what was sent
        // behind.
        if (memory_ != before)
            for (int i = 0; i < 5000 && !done; ++i) {
                hand_.progress();
                while (hand_.has_said()) look_at(hand_.next_said(), text, done);
            }
        const std::optional<Range> range = may_write(text, name_, handle_, known_);
        for (std::size_t i = 0; i < memory_.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(guard);
            const bool allowed = done && range && at >= range->first && at < range->second;
            if (memory_[i] != before[i] && !allowed)
                one.fail("byte ", at, " was written by ", to_hex(text),
                         done ? ", done" : ", refused");
        }
    }

    // The same as the header of a pipeline's message, which is damaged as well.
    void one_message(Case &one) {
        Rng &rng = one.rng();
        wire::Message m;
        m.kind = static_cast<wire::Kind>(rng.below(wire::kinds + 1));
        m.user_header = random_text(rng);
        if (m.kind >= wire::route && rng.chance(90)) m.user_header.resize(144);
        m.status = wire::route_status(static_cast<unsigned>(rng.below(3)));
        m.id = {rng.bits() % 16, rng.bits() % 16};
        m.total = data_bytes_;
        std::string both = m.text();
        if (rng.chance(80)) {
            damage(rng, both);
            // Or it would be dropped at once.
            std::string rest;
            wire::put_number(rest, both.size() - wire::Header::bytes, 4);
            if (both.size() > wire::Header::bytes && rng.chance(80))
                both.replace(wire::Header::bytes - 4, 4, rest);
        }
        if (both.empty()) return;
        hand_.active(both, std::string(data_bytes_, 'd'));
        bool done = false;
        await_everything(both, done);
        for (std::size_t i = 0; i < memory_.size(); ++i)
            if ((i < guard || i >= guard + exposed) && memory_[i] != 'g')
                one.fail("byte ", i, " was written by ", to_hex(both));
    }

    long answers = 0;

private:
    std::string random_text(Rng &rng) {
        const std::size_t sample = rng.below(samples_.size());
        const Sample &s = samples_[sample];
        wire::Request r;
        r.verb = 1 + static_cast<unsigned>(rng.below(4));
        r.number = ++number_;
        r.window = name_;
        r.shows_key = handle_ == 0 || rng.chance(50);
        r.handle = handle_;
        r.displacement = s.displacement + rng.between(-8, 8);
        r.count = s.count;
        data_bytes_ = r.verb == wire::get ? 0 : s.bytes;
        if (r.verb == wire::accumulate || r.verb == wire::get_accumulate)
            r.op = rng.chance(70) ? static_cast<unsigned>(UCD_OP__SUM)
                                  : static_cast<unsigned>(rng.below(13));
        r.index = static_cast<unsigned>(sample);
        r.by_name = rng.chance(30);
        r.is_known = rng.chance(30);
        r.type = r.is_known ? std::string() : r.by_name ? s.name : s.flat;
        if (rng.chance(10)) {
            data_bytes_ = 0;
            return wire::preamble(5 + static_cast<unsigned>(rng.below(4)), number_ - rng.below(3)) +
                   (rng.chance(50) ? s.flat : std::string());
        }
        if (rng.chance(5)) {
            std::string noise(1 + rng.below(200), '\0');
            for (char &c : noise) c = static_cast<char>(rng.bits());
            return noise;
        }
        return r.text();
    }

    // Whether it says that what was sent as `text` is done.
    void look_at(const wire::Said &m, const std::string &text, bool &done) {
        if (m.is_answer() && text.size() >= wire::preamble_bytes &&
            m.number == wire::number_at(text, 4, 4)) {
            done = m.first == wire::done;
            ++answers;
        }
        if (m.window_handle() != 0) handle_ = m.window_handle();
    }

    // Until a message that is sent behind has been answered.
    void await_everything(const std::string &text, bool &done) {
        wire::Request last;
        last.verb = wire::get;
        last.number = std::uint64_t{1} << 30 | ++number_;
        last.window = name_;
        last.count = 0;
        last.type = samples_[0].flat;
        hand_.request(last);
        for (;;) {
            const wire::Said m = hand_.next_said();
            const bool is_last = m.number == last.number;
            look_at(m, text, done);
            hand_.received.clear();
            if (is_last) return;
        }
    }

    const std::vector<Sample> samples_ = make_samples();
    std::map<std::string, std::string> known_;
    const Keys no_keys_;
    std::vector<char> memory_ = std::vector<char>(exposed + 2 * guard, 'g');
    RmaSide b_{no_keys_.get(), UCS_THREAD_MODE_SINGLE};
    Window window_;
    Attacker hand_{b_.side.address(), [this] { b_.progress(); }};
    std::string name_;
    std::uint64_t number_ = 0, data_bytes_ = 0, handle_ = 0;
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

DEVICE_TEST("damaged requests write nothing, and good ones only what they say") {
    fuzz_target("rma fuzz", 3000, [](FuzzedTarget &t, Case &one) { t.one_request(one); });
}

DEVICE_TEST("messages that are damaged anywhere write nothing outside the window") {
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

DEVICE_TEST("damaged answers do no harm to an origin") {
    const Keys no_keys;
    RmaSide a(no_keys.get(), UCS_THREAD_MODE_SINGLE);
    Attacker hand(a.side.address(), [&] { a.progress(); });
    a.side.connect(hand.side.address());
    const ucd_ucx_window_key_t key = {{'U', 'C', 'D', 'W', 1}};
    run_cases("rma fuzz answers", 500, [&](Case &one) {
        Rng &rng = one.rng();
        std::vector<char> to(3 * 64, 'x');
        Outcome o;
        start_get(a, {to.data() + 64, 64, UCD_TYPE__CHAR}, {&key, 0, 64, UCD_TYPE__CHAR}, o);
        const wire::Said m = hand.next_said();
        const unsigned what = rng.chance(50)   ? wire::answer
                              : rng.chance(50) ? wire::answer_with_handle
                                               : wire::need_type;
        std::string text = wire::preamble(
            what, m.number, rng.chance(50) ? 0 : static_cast<unsigned>(rng.below(256)),
            static_cast<unsigned>(rng.below(256)));
        if (what == wire::answer_with_handle) wire::put_number(text, rng.bits(), 8);
        damage(rng, text);
        text.append(rng.chance(60) ? 64 : rng.below(200), 'd');
        if (!text.empty()) hand.say(text);
        hand.say(wire::preamble(wire::answer, m.number), std::string(64, 'e'));
        if (!hand.within(10, [&] { return o.done(); })) one.fail("it does not end");
        hand.progress(5);
        while (hand.has_said()) (void)hand.next_said();
        hand.received.clear();
        const auto same = [&](char c) {
            return std::count(to.begin() + 64, to.end() - 64, c) == 64;
        };
        if (std::count(to.begin(), to.begin() + 64, 'x') != 64 ||
            std::count(to.end() - 64, to.end(), 'x') != 64)
            one.fail("bytes beside the buffer were written by ", to_hex(text));
        if (o.result.status == UCS_OK ? !(same('d') || same('e')) : !same('x'))
            one.fail("the buffer and the status disagree: ", to_hex(text));
    });
    a.close_endpoint();
}

} // namespace rma_fuzz_test
