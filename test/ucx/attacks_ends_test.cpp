// Ends that come all at once, or without memory: each is told once, and nothing is left.

#include "c_api/allocations.hpp"
#include "support/catch.hpp"
#include "ucx/attacker.hpp"
#include "ucx/rma_pair.hpp"

namespace attacks_ends_test {

using namespace ucdtest;

namespace {

// A flush whose end is counted.
struct Flushed {
    ucd_ucx_request_t request = UCD_UCX_REQUEST__NULL;
    int calls = 0;
    ucs_status_t status = UCS_INPROGRESS;
    bool is_needed = false;

    void start(ucd_ucx_t rma, ucp_ep_h ep) {
        ucd_ucx_param_t p = {};
        p.struct_size = sizeof p;
        p.user_data = this;
        p.callback = [](ucd_ucx_request_t, const ucd_ucx_result_t *result, void *self) {
            auto &f = *static_cast<Flushed *>(self);
            ++f.calls;
            f.status = result->status;
        };
        ok(ucd_ucx_flush_nbx(rma, ep, &p, &request), "ucd_ucx_flush_nbx");
        is_needed = request != UCD_UCX_REQUEST__NULL;
    }
    ~Flushed() { ucd_ucx_request_free(request); }
};

// An operation that no target answers, which flushes when it ends.
struct Unanswered {
    ucd_ucx_t rma;
    ucp_ep_h ep;
    ucd_ucx_request_t request = UCD_UCX_REQUEST__NULL;
    int value = 1, calls = 0;
    Flushed one, all; // started when it ends

    Unanswered(ucd_ucx_t r, ucp_ep_h e) : rma(r), ep(e) {
        ucd_ucx_window_key_t key = {{'U', 'C', 'D', 'W', 1}};
        key.bytes[8] = 1;
        ucd_ucx_param_t p = {};
        p.struct_size = sizeof p;
        p.user_data = this;
        p.callback = [](ucd_ucx_request_t, const ucd_ucx_result_t *, void *self) {
            auto &u = *static_cast<Unanswered *>(self);
            if (u.calls++ > 0) return;
            u.one.start(u.rma, u.ep);
            u.all.start(u.rma, nullptr);
        };
        ok(ucd_ucx_put_nbx(rma, ep, &value, 1, UCD_TYPE__INT, &key, 0, 1, UCD_TYPE__INT, &p,
                           &request),
           "ucd_ucx_put_nbx");
    }
    ~Unanswered() { ucd_ucx_request_free(request); }
};

} // namespace

TEST_CASE("a flush over operations that end in one loss is complete once") {
    for (const int operations : {1, 2, 7}) {
        for (const int fences : {0, 1, 2}) {
            RmaSide origin(UCD_INFO__NULL, UCS_THREAD_MODE_SINGLE);
            Attacker target(origin.side.address(), [&] { origin.progress(); });
            origin.side.connect(target.side.address());
            std::deque<Unanswered> puts;
            std::deque<Flushed> flushes;
            for (int i = 0; i < operations; ++i) {
                puts.emplace_back(origin.rma, origin.ep());
                flushes.emplace_back().start(origin.rma, origin.ep());
                flushes.emplace_back().start(origin.rma, nullptr);
                if (i < fences) ok(ucd_ucx_fence(origin.rma, origin.ep()), "fence");
            }
            target.progress(50);
            origin.lose_endpoint();
            CHECK(target.within(3, [&] {
                return std::all_of(puts.begin(), puts.end(),
                                   [](const Unanswered &u) { return u.calls > 0; });
            }));
            target.progress(50);
            for (const Unanswered &u : puts) {
                CHECK(u.calls == 1);
                CHECK(u.one.calls == int{u.one.is_needed});
                CHECK(u.all.calls == int{u.all.is_needed});
            }
            for (const Flushed &f : flushes) {
                CHECK(f.calls == 1);
                CHECK(f.status == UCS_ERR_CONNECTION_RESET);
            }
            origin.close_endpoint();
        }
    }
}

TEST_CASE("a pipeline ends without memory, whatever has come for it") {
    const auto end_with_failure_at = [](std::size_t n) {
        Side victim;
        victim.gives_memory = false;
        victim.open_pipeline(UCD_INFO__NULL);
        bool ends = false;
        Attacker attacker(victim.address(), [&] {
            if (ends)
                ucp_worker_progress(victim.worker); // so that the pipeline has it yet to look at
            else
                ucd_ucx_progress(victim.pipeline);
        });
        const auto say = [&](wire::Kind kind, wire::Id id, std::size_t bytes) {
            wire::Message m;
            m.kind = kind;
            m.id = id;
            m.total = kind == wire::whole ? bytes : 100000;
            m.user_id = kind == wire::whole || kind == wire::user_offer;
            m.user_header = kind == wire::whole ? "header" : "";
            attacker.active(m, std::string(bytes, 'b'));
        };
        const wire::Id begun = attacker.new_id();
        say(wire::offer, begun, 0);
        attacker.progress(20);
        ends = true;
        for (int i = 0; i < 3; ++i) {
            say(wire::offer, attacker.new_id(), 0);
            say(wire::chunk, begun, 10);
            say(wire::chunk, attacker.new_id(), 10);
            say(wire::whole, attacker.new_id(), 10);
            say(wire::withdraw, begun, 0);
            say(wire::user_offer, attacker.new_id(), 0);
        }
        attacker.progress(20);
        if (n > 0) fail_allocation(n);
        const int rc = ucd_ucx_destroy(&victim.pipeline);
        const bool failed = n > 0 && !end_failing();
        CHECK(rc == UCD_SUCCESS);
        CHECK(victim.pipeline == nullptr);
        return failed;
    };
    (void)end_with_failure_at(0);
    const std::ptrdiff_t before = live_allocations();
    (void)end_with_failure_at(0);
    const std::ptrdiff_t usual = live_allocations() - before;
    CHECK(usual == 0);
    for (std::size_t n = 1; end_with_failure_at(n); ++n)
        if (n == 200) break;
    CHECK(live_allocations() == before);
}

} // namespace attacks_ends_test
