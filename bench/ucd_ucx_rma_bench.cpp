// ucd-ucx-rma-bench: one-sided operations on another process's memory, each with its layout,
// against active messages that a program might have for that layout alone. The transports are UCX's
// choice: UCX_TLS. What is timed: packing, the message, unpacking or adding, and the answer.

#include "baselines/ucx/messages.hpp"
#include "harness/options.hpp"
#include "harness/ucd_peer.hpp"
#include "harness/ucx/peers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <sched.h>
#include <stdexcept>
#include <ucd_ucx_rma.h>

namespace bench {
namespace {

constexpr std::size_t doubles = 64 << 10; // of the window

struct Named {
    std::string name;
    Shape shape;
};

// Those whose names contain `part`.
std::vector<Named> named_shapes(const std::string &part) {
    std::vector<Named> all = {
        {"1 double", {}},
        {"vector, 64 of 128", {.rows = 64, .row_stride = 2}},
        {"vector, 1024 of 2048", {.rows = 1024, .row_stride = 2}},
        {"vector, 7168 of 14336", {.rows = 7168, .row_stride = 2}},
        {"3-D face, 30 x 30 of 32^3",
         {.rows = 30, .columns = 30, .row_stride = 1024, .column_stride = 32}},
        {"contiguous, 4096", {.rows = 1, .columns = 4096}},
    };
    Named list = {"list of 512", {}};
    std::mt19937 random(1);
    for (std::size_t at = 0; list.shape.list.size() < 512; at += 1 + random() % 100)
        list.shape.list.push_back(at);
    all.push_back(list);
    std::erase_if(all, [&](const Named &n) { return n.name.find(part) == std::string::npos; });
    if (all.empty()) throw std::runtime_error("no layout's name contains " + part);
    return all;
}

UcdType type_of(const Shape &shape) {
    ucd_type_t type, row;
    if (!shape.list.empty()) {
        std::vector<std::intptr_t> displs(shape.list.begin(), shape.list.end());
        check_ucd(ucd_create_indexed_block(static_cast<std::intptr_t>(displs.size()), 1,
                                           displs.data(), UCD_TYPE__DOUBLE, UCD_INFO__NULL, &type));
        return UcdType(type);
    }
    check_ucd(ucd_create_vector(static_cast<std::intptr_t>(shape.columns), 1,
                                static_cast<std::intptr_t>(shape.column_stride), UCD_TYPE__DOUBLE,
                                UCD_INFO__NULL, &row));
    check_ucd(ucd_create_hvector(static_cast<std::intptr_t>(shape.rows), 1,
                                 static_cast<std::intptr_t>(shape.row_stride * sizeof(double)), row,
                                 UCD_INFO__NULL, &type));
    check_ucd(ucd_free(&row));
    return UcdType(type);
}

const char *name_of(Action action) {
    return action == Action::put ? "put" : action == Action::get ? "get" : "accumulate";
}

// Both processes have one; the second one's is the target.
class Bench {
public:
    Bench(Device &device, Peers &peers, Run &run, bool any_gpu, unsigned at_a_time,
          const std::string &layouts, const std::string &direct, const std::string &window)
        : device_(device), peers_(peers), run_(run), at_a_time_(at_a_time),
          named_(named_shapes(layouts)), buffer_(device, doubles * sizeof(double)),
          memory_(buffer_.as<double>()) {
        for (const Named &n : named_) shapes_.push_back(n.shape);
        for (const Shape &s : shapes_) types_.push_back(type_of(s));
        fill(0.0);
        if (!any_gpu) hand_ = std::make_unique<ByHand>(peers.worker(), other(), shapes_, memory_);
        ucd_ucx_params_t params = {};
        params.struct_size = sizeof params;
        params.am_id = 3;
        params.families = UCD_UCX_ONE_SIDED;
        const UcdInfo info("ucd.ucx.direct", direct);
        check_ucd_ucx(ucd_ucx_create(peers.worker(), &params, info.get(), &rma_));
        if (is_target()) {
            void *base;
            if (window == "allocated")
                check_ucd_ucx(ucd_ucx_window_allocate(rma_, doubles * sizeof(double),
                                                      UCD_INFO__NULL, &base, &window_));
            else
                check_ucd_ucx(ucd_ucx_window_create(rma_, memory_, doubles * sizeof(double),
                                                    UCD_INFO__NULL, &window_));
            check_ucd_ucx(ucd_ucx_window_key(window_, &key_));
            peers.send_raw(0, &key_, sizeof key_, ucp_dt_make_contig(1), key_tag);
        } else {
            peers.receive_raw(&key_, sizeof key_, ucp_dt_make_contig(1), key_tag);
        }
    }
    ~Bench() {
        if (window_ != nullptr) (void)ucd_ucx_window_destroy(&window_);
        (void)ucd_ucx_destroy(&rma_);
    }
    Bench(const Bench &) = delete;
    Bench &operator=(const Bench &) = delete;

    bool is_target() const { return peers_.seat() != 0; }

    // Until the origin says that it is done.
    void serve() {
        char byte;
        peers_.receive_raw(&byte, 1, ucp_dt_make_contig(1), end_tag,
                           [this] { return ucd_ucx_progress(rma_); });
    }

    void run() {
        fmt::print(
            "Bytes of headers, there and back, of a put: {} and {}; first, with the window's\n"
            "key, its handle and the flattened type, {} and {} more. By hand: {} and {}.\n\n",
            request_header, answer_header, first_key, first_handle, ByHand::request_header,
            ByHand::answer_header);
        fmt::print("{:<28} {:>8} {:>10} {:>10} {:>10} {:>8}\n", "layout", "data", "flattened",
                   "first use", "later use", "by hand");
        for (std::size_t i = 0; i < shapes_.size(); ++i) {
            std::uintptr_t flattened;
            check_ucd(ucd_flatten_size(types_[i].get(), &flattened));
            fmt::print("{:<28} {:>8} {:>10} {:>10} {:>10} {:>8}\n", named_[i].name,
                       shapes_[i].size() * sizeof(double), flattened,
                       request_header + answer_header + first_key + first_handle + flattened,
                       request_header + answer_header,
                       ByHand::request_header + ByHand::answer_header);
        }
        for (const unsigned depth : {1u, at_a_time_}) {
            fmt::print(
                "\n{} at a time: thousands of operations a second, and as a share of by hand\n"
                "{:<28} {:>10} {:>8} {:>6}  {:>10} {:>8} {:>6}  {:>10} {:>8} {:>6}\n",
                depth, "layout", "put", "by hand", "", "get", "by hand", "", "accumulate",
                "by hand", "");
            for (std::size_t i = 0; i < shapes_.size(); ++i) measure(i, depth);
        }
        const char byte = 0;
        peers_.send_raw(1, &byte, 1, ucp_dt_make_contig(1), end_tag);
    }

private:
    static constexpr ucp_tag_t key_tag = 76, end_tag = 77;

    ucp_ep_h other() const { return peers_.endpoint(1 - peers_.seat()); }
    // docs/internals/ucx-engine.md. A window's key is 16 bytes there, in place of a handle of 8.
    static constexpr std::size_t request_header = 40, answer_header = 8;
    static constexpr std::size_t first_key = 8, first_handle = 8;

    void progress() {
        if (ucd_ucx_progress(rma_) == 0) sched_yield(); // there may be more to run than cores
    }

    static void on_done(ucd_ucx_request_t request, const ucd_ucx_result_t *result, void *self) {
        check_ucx(result->status, "an operation");
        ucd_ucx_request_free(request);
        --static_cast<Bench *>(self)->outstanding_;
    }

    // One operation from or to the origin's memory, which has the same layout.
    void start(Action action, std::size_t i) {
        const ucd_ucx_param_t p = {sizeof p, UCD_INFO__NULL, on_done, this};
        ucd_ucx_request_t request;
        const ucd_type_t type = types_[i].get();
        double *const memory = memory_;
        ++outstanding_;
        if (action == Action::put)
            check_ucd_ucx(
                ucd_ucx_put_nbx(rma_, other(), memory, 1, type, &key_, 0, 1, type, &p, &request));
        else if (action == Action::get)
            check_ucd_ucx(
                ucd_ucx_get_nbx(rma_, other(), memory, 1, type, &key_, 0, 1, type, &p, &request));
        else
            check_ucd_ucx(ucd_ucx_accumulate_nbx(rma_, other(), memory, 1, type, &key_, 0, 1, type,
                                                 UCD_OP__SUM, &p, &request));
    }

    // In rounds of `depth`, as by hand.
    void many(Action action, std::size_t i, std::size_t count, unsigned depth) {
        for (std::size_t done = 0; done < count;) {
            const std::size_t now = std::min<std::size_t>(depth, count - done);
            for (std::size_t n = 0; n < now; ++n) start(action, i);
            while (outstanding_ > 0) progress();
            done += now;
        }
    }

    void many_by_hand(Action action, std::size_t i, std::size_t count, unsigned depth) {
        const Shape &shape = shapes_[i];
        std::vector<std::vector<double>> packed(depth, std::vector<double>(shape.size()));
        double *const memory = memory_;
        for (std::size_t done = 0; done < count;) {
            // In rounds of `depth`, each with a buffer of its own.
            const std::size_t now = std::min<std::size_t>(depth, count - done);
            for (std::size_t n = 0; n < now; ++n) {
                double *to = packed[n].data();
                if (action != Action::get)
                    shape.walk([=](std::size_t from, std::size_t at) { to[at] = memory[from]; });
                hand_->start(action, i, to);
            }
            while (hand_->outstanding() > 0) progress();
            if (action == Action::get)
                for (std::size_t n = 0; n < now; ++n) {
                    const double *from = packed[n].data();
                    shape.walk([=](std::size_t to, std::size_t at) { memory[to] = from[at]; });
                }
            done += now;
        }
    }

    void fill(double value) {
        const std::vector<double> values(doubles, value);
        device_.copy(memory_, values.data(), buffer_.bytes());
    }

    // Puts sevens, adds them, and gets what should be there, each way.
    void verify(std::size_t i) {
        for (const bool by_hand : {false, true}) {
            if (by_hand && hand_ == nullptr) break;
            const auto once = [&](Action action) {
                by_hand ? many_by_hand(action, i, 1, 1) : many(action, i, 1, 1);
            };
            fill(7.0);
            once(Action::put);
            once(Action::add);
            fill(0.0);
            once(Action::get);
            std::vector<double> expected(doubles, 0.0);
            shapes_[i].walk([&](std::size_t at, std::size_t) { expected[at] = 14.0; });
            std::vector<double> found(doubles);
            device_.copy(found.data(), memory_, buffer_.bytes());
            if (found != expected)
                throw std::runtime_error(named_[i].name + (by_hand ? " by hand" : "") +
                                         ": other values came");
        }
        fill(0.0); // sums stay what they are
    }

    void measure(std::size_t i, unsigned depth) {
        run_.row(named_[i].name, [&] {
            verify(i);
            run_.progress.clear();
            fmt::print("{:<28}", named_[i].name);
            for (const Action action : {Action::put, Action::get, Action::add}) {
                std::vector<Contender> ways{
                    {"UCD", [&](std::uint64_t n) { many(action, i, n, depth); }}};
                if (hand_ != nullptr)
                    ways.push_back(
                        {"hand", [&](std::uint64_t n) { many_by_hand(action, i, n, depth); }});
                const Comparison c =
                    run_.measure(fmt::format("{} at a time", depth), named_[i].name,
                                 name_of(action), shapes_[i].size() * sizeof(double), ways);
                fmt::print(" {:>10.1f}", 1e-3 / c.seconds("UCD"));
                if (hand_ == nullptr)
                    fmt::print(" {:>8} {:>6} ", "", "");
                else
                    fmt::print(" {:>8.1f} {:>6} ", 1e-3 / c.seconds("hand"),
                               c.speedup("UCD", "hand"));
            }
            fmt::print("\n");
            std::fflush(stdout);
        });
    }

    Device &device_;
    Peers &peers_;
    Run &run_;
    const unsigned at_a_time_;
    const std::vector<Named> named_;
    std::vector<Shape> shapes_;
    std::vector<UcdType> types_;
    const Buffer buffer_; // of this side's memory
    double *const memory_;
    std::unique_ptr<ByHand> hand_; // with host memory at both sides
    ucd_ucx_t rma_ = UCD_UCX__NULL;
    ucd_ucx_window_t window_ = UCD_UCX_WINDOW__NULL;
    ucd_ucx_window_key_t key_ = {};
    std::size_t outstanding_ = 0;
};

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    using namespace bench;
    Settings settings;
    settings.effort = {.repetitions = 15, .seconds = 5e-3, .clock = Clock::wall};
    unsigned at_a_time = 16;
    std::vector<std::string> memory = {"host"};
    std::string layouts, direct = "no", window = "created";
    std::vector<Option> options = common_options(settings);
    const std::vector<Option> own{
        {"--at-a-time", &at_a_time, "Operations under way in the second table"},
        {"--layout", &layouts, "Only layouts whose names contain this"},
        {"--direct", &direct, "The value of ucd.ucx.direct: no, yes, always"},
        {"--window", &window,
         "created: on the benchmark's memory; allocated: by the library, which other processes can "
         "map (--direct yes)"},
        {"--memory", &memory,
         "Where data is, at origin and target: host or cuda:N, or both as A,B; by hand only with "
         "host memory at both sides"}};
    options.insert(options.end(), own.begin(), own.end());
    if (const auto status = parse(
            argc, argv, "ucd-ucx-rma-bench",
            "One-sided operations with types, against active messages for one layout.", options))
        return *status;
    return run_program("ucd-ucx-rma-bench", [&] {
        Board board(2);
        run_processes(2, settings.budget + 600, [&](unsigned seat) {
            const std::unique_ptr<Device> device =
                open_device(seat == 0 ? memory.front() : memory.back());
            const UcdSession session;
            Peers peers(board, seat, *device);
            Run run(settings); // of the origin alone: the target answers
            Bench bench(*device, peers, run, memory.front() != "host" || memory.back() != "host",
                        at_a_time, layouts, direct, window);
            if (bench.is_target()) return bench.serve();
            bench.run();
            run.write();
            if (run.failures() > 0) throw std::runtime_error("a row failed");
        });
        return 0;
    });
}
