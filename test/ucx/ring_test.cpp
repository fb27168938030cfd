// Transfers between devices whose chunks stay in device memory: two pipelines of one process, where
// the memory is opened at its own address. Between processes: ring_processes_test.cpp.

#include "support/catch.hpp"
#include "support/mock_buffer.hpp"
#include "ucx/pair.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

using namespace ucdtest;

namespace {

#define SMALL_RING                                                                                 \
    {"ucd.ucx.eager", "64"}, {"ucd.ucx.chunk", "100"}, {"ucd.ucx.ring_chunk", "100"}, {            \
        "ucd.ucx.ring_depth", "3"                                                                  \
    }

std::size_t count_of(const Side &side, int what) {
    return static_cast<std::size_t>(
        std::count_if(side.events.begin(), side.events.end(),
                      [&](const ucd_ucx_event_t &e) { return e.what == what; }));
}

// What is sent from one device, and received by another or the same.
struct Ends {
    Subject from, to;
    MockBuffer in, out;

    static Subject layout(Case &one, bool contiguous, std::size_t least, const char *name) {
        if (contiguous)
            return make_subject(one,
                                recipes::contig(static_cast<std::intptr_t>(
                                                    least == 0 ? 65 + one.rng().below(2000)
                                                               : least + one.rng().below(50)),
                                                recipes::leaf(UCD_TYPE__BYTE)),
                                1, name);
        if (least > 0 && one.rng().chance(50))
            return make_subject(one,
                                recipes::vector(static_cast<std::intptr_t>(least), 1, 3,
                                                recipes::leaf(UCD_TYPE__BYTE)),
                                1, name);
        for (;;) {
            Subject s = random_subject(one, mock_options(UCD_OP__REPLACE), 5, name);
            if (s.size() >= least && (least > 0 || s.size() > 64)) return s;
        }
    }

    Ends(Case &one, bool contiguous_in, bool contiguous_out, Memory source, Memory target)
        : from(layout(one, contiguous_in, 0, "sent")),
          to(layout(one, contiguous_out, from.size(), "received")),
          in(one.rng(), from.range, source), out(one.rng(), to.range, target) {
        for (std::size_t i = 0; i < from.size(); ++i)
            *out.expected(to.bytes[i]) = *in.actual(from.bytes[i]);
        in.send();
        out.send();
    }
    void check(Case &one) {
        in.fetch();
        out.fetch();
        require_intact(one, in, "what was sent");
        require_intact(one, out, "what was received");
    }
};

struct Flight {
    Outcome sent, received;

    void send(TwoSides &pair, Ends &ends, ucd_info_t info = UCD_INFO__NULL) {
        const ucd_ucx_param_t p = sent.param(info);
        ok(ucd_ucx_send_nbx(pair.a.pipeline, pair.a.ep, ends.in.real_base(), ends.from.count,
                            ends.from.type(), 1, &p, &sent.request),
           "ucd_ucx_send_nbx");
        sent.started();
    }
    void receive(TwoSides &pair, Ends &ends, ucd_info_t info = UCD_INFO__NULL) {
        const ucd_ucx_param_t p = received.param(info);
        ok(ucd_ucx_recv_nbx(pair.b.pipeline, ends.out.real_base(), ends.to.count, ends.to.type(), 1,
                            UINT64_MAX, &p, &received.request),
           "ucd_ucx_recv_nbx");
    }
    bool done() const { return sent.done() && received.done(); }
    void require_good(Case &one, std::size_t bytes) const {
        for (const Outcome *o : {&sent, &received})
            if (o->result.status != UCS_OK || o->result.bytes != bytes)
                one.fail(o == &sent ? "the sender: " : "the receiver: ",
                         ucs_status_string(o->result.status), ", ", ucd_strerror(o->result.ucd));
    }
};

// One transfer; how many of its chunks stayed in device memory.
std::size_t transfer(Case &one, TwoSides &pair, Ends &ends, ucd_info_t to_send = UCD_INFO__NULL,
                     ucd_info_t to_receive = UCD_INFO__NULL) {
    pair.a.events.clear();
    pair.b.events.clear();
    Flight flight;
    const bool early = one.rng().chance(50);
    if (early) flight.receive(pair, ends, to_receive);
    flight.send(pair, ends, to_send);
    for (std::size_t i = early ? 0 : one.rng().below(20); i > 0; --i) pair.progress();
    if (!early) flight.receive(pair, ends, to_receive);
    pair.until([&] { return flight.done(); });
    flight.require_good(one, ends.from.size());
    ends.check(one);
    return count_of(pair.a, UCD_UCX_EVENT__SHARE);
}

bool is_contiguous(const Subject &s) {
    for (std::size_t i = 1; i < s.size(); ++i)
        if (s.bytes[i] != s.bytes[0] + static_cast<std::intptr_t>(i)) return false;
    return true;
}

std::size_t chunks_of(const Ends &ends) {
    return (ends.from.size() + 99) / 100;
}

} // namespace

TEST_CASE("chunks between devices stay in device memory") {
    const MockSession session;
    for (const char *copy : {"no", "yes"}) {
        for (const char *expose : {"no", "yes"}) {
            TwoSides pair(
                {SMALL_RING, {"ucd.ucx.ring_copy", copy}, {"ucd.ucx.ring_expose", expose}});
            run_cases("ucx ring", 100, [&](Case &one) {
                const bool from = one.rng().chance(50), to = one.rng().chance(50);
                Ends ends(one, from, to, Memory::device0, Memory::device0);
                const std::size_t shared = transfer(one, pair, ends);
                if (shared != (chunks_of(ends)))
                    one.fail(shared, " of ", chunks_of(ends), " chunks were shared");
                // Packed but where it is contiguous and may be opened.
                const bool packs = !(is_contiguous(ends.from) && *expose == 'y');
                const std::size_t packed = count_of(pair.a, UCD_UCX_EVENT__PACK_END);
                if (packed != (packs ? chunks_of(ends) : 0))
                    one.fail(packed, " chunks were packed");
            });
            // No chunk went through the host.
            CHECK(pair.a.memory.most == 0);
            CHECK(pair.b.memory.most == 0);
        }
    }
}
