// Calls for 64 KiB of several threads at a time, one after the other and many outstanding: what a
// call costs each thread, beside a kernel that each launches in a stream of its own.
#include "baselines/gpu/calls.hpp"
#include "cases/moves.hpp"
#include "cases/sections.hpp"
#include "harness/gpu/graph.hpp"

#include <fmt/core.h>

#include <barrier>
#include <deque>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

namespace bench::gpu {
namespace {

constexpr unsigned outstanding = 1000;

// What a thread packs, and where.
struct Caller {
    Caller(const Recipe &recipe, Device &device) : bench(recipe, device) {}
    Workbench bench;
    Stream stream;
    std::vector<ucd_request_t> requests = std::vector<ucd_request_t>(outstanding);
};

// Threads that stay, so that starting them is not measured.
class Crew {
public:
    explicit Crew(unsigned size) : gate_(size + 1), failures_(size) {
        for (unsigned seat = 0; seat < size; ++seat)
            threads_.emplace_back([this, seat] { serve(seat); });
    }
    ~Crew() {
        move_ = nullptr;
        gate_.arrive_and_wait();
        for (std::thread &thread : threads_) thread.join();
    }
    Crew(const Crew &) = delete;
    Crew &operator=(const Crew &) = delete;

    // All do it at once; throws what one of them has thrown.
    void run(const std::function<void(unsigned seat)> &move) {
        move_ = &move;
        gate_.arrive_and_wait();
        gate_.arrive_and_wait();
        for (std::exception_ptr &failure : failures_)
            if (failure != nullptr) std::rethrow_exception(std::exchange(failure, nullptr));
    }

private:
    void serve(unsigned seat) {
        for (;;) {
            gate_.arrive_and_wait();
            if (move_ == nullptr) return;
            try {
                (*move_)(seat);
            } catch (...) {
                failures_[seat] = std::current_exception();
            }
            gate_.arrive_and_wait();
        }
    }

    std::barrier<> gate_;
    const std::function<void(unsigned)> *move_ = nullptr;
    std::vector<std::exception_ptr> failures_;
    std::vector<std::thread> threads_;
};

// The calls of so many threads.
class Calls {
public:
    Calls(const Recipe &recipe, Device &device, unsigned threads)
        : type_(recipe), hints_("ucd.inbuf", device.hint(MemoryKind::own)), crew_(threads) {
        hints_.set("ucd.outbuf", device.hint(MemoryKind::own));
        for (unsigned i = 0; i < threads; ++i) callers_.emplace_back(recipe, device);
    }

    void measure(Run &run, Table &table, bool many) {
        const unsigned calls = many ? outstanding : 100;
        const unsigned waits = many ? calls : 1; // how many calls a wait is for
        const Contender contenders[] = {
            {"hand", round([=](Caller &c) {
                 for (unsigned i = 0; i < calls; ++i) {
                     hand::pack_64_kib(c.bench.typed(), c.bench.packed(), c.stream.get());
                     if ((i + 1) % waits == 0) c.stream.wait();
                 }
             })},
            {"UCD", round([=, this](Caller &c) {
                 for (unsigned i = 0; i < calls; ++i) {
                     start(c, i % waits);
                     if ((i + 1) % waits == 0) check_ucd(ucd_waitall(waits, c.requests.data()));
                 }
             })},
            {"UCD in streams", round([=, this](Caller &c) {
                 for (unsigned i = 0; i < calls; ++i) {
                     start_in_stream(c);
                     if ((i + 1) % waits == 0) c.stream.wait();
                 }
             })}};
        // The first thread's bytes are looked at, while the others work.
        for (const Contender &c : contenders) callers_.front().bench.check(c, true);
        const std::string name =
            fmt::format("{} {}, {}", callers_.size(), callers_.size() == 1 ? "thread" : "threads",
                        many ? "1,000 outstanding" : "one at a time");
        table.row(
            run.measure("threads", name, "pack", callers_.front().bench.size(), contenders, calls));
    }

private:
    Work round(std::function<void(Caller &)> body) {
        return repeated([this, body = std::move(body)] {
            crew_.run([&](unsigned seat) { body(callers_[seat]); });
        });
    }
    void start(Caller &c, unsigned request) const {
        std::uintptr_t moved;
        check_ucd(ucd_ipack(c.bench.typed(), 1, type_.get(), 0, c.bench.packed(), c.bench.size(),
                            &moved, hints_.get(), UCD_OP__REPLACE, &c.requests[request]));
    }
    void start_in_stream(Caller &c) const {
        std::uintptr_t moved;
        check_ucd(ucd_pack_stream(c.bench.typed(), 1, type_.get(), 0, c.bench.packed(),
                                  c.bench.size(), &moved, hints_.get(), UCD_OP__REPLACE,
                                  {vendor_name, 0, c.stream.get(), nullptr, 0}));
    }

    UcdType type_;
    UcdInfo hints_;
    std::deque<Caller> callers_;
    Crew crew_; // ends first: it uses the rest
};

} // namespace

void run_threads(const Setting &s) {
    Table table(s.run.progress, {column::subject("64 KiB, device to device: a call", 33),
                                 column::time("hand", 9), column::time("UCD", 9, "ucd_ipack"),
                                 column::time("UCD in streams", 9, "in stream"),
                                 column::speedup("hand", "UCD", 6, "/ hand"),
                                 column::speedup("hand", "UCD in streams", 13, "stream / hand")});
    const RecipePtr recipe = bench::recipe(HVector{hand::called_blocks, hand::called_block,
                                                   hand::called_stride, predefined(Element::byte)});
    for (const unsigned threads : {1u, 4u, 8u})
        s.run.row(fmt::format("{} threads", threads), [&] {
            Calls calls(*recipe, s.device, threads);
            for (const bool many : {false, true}) calls.measure(s.run, table, many);
        });
    fmt::print("\n");
}

} // namespace bench::gpu
