// ucd-ucx-rma-bench: one-sided operations on another process's memory, each with its layout,
// against active messages that a program might have for that layout alone. The transports are UCX's
// choice: UCX_TLS. What is timed: packing, the message, unpacking or adding, and the answer.

#include "ucd_peer.hpp"
#include "ucx/by_hand.hpp"
#include "ucx/link.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/core.h>
#include <functional>
#include <numeric>
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

void check_rma(int rc) {
    if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_ucx_last_error());
}

// Both processes have one; the child's is the target.
class Bench {
public:
    Bench(Link &link, unsigned repetitions, unsigned at_a_time, const std::string &layouts)
        : link_(link), repetitions_(repetitions), at_a_time_(at_a_time),
          named_(named_shapes(layouts)) {
        for (const Named &n : named_) shapes_.push_back(n.shape);
        for (const Shape &s : shapes_) types_.push_back(type_of(s));
        buffer_ = reinterpret_cast<double *>(link.memory().allocate(doubles * sizeof(double)));
        fill(0.0);
        if (!link.any_device())
            hand_ = std::make_unique<ByHand>(link.worker(), link.ep(), shapes_, buffer_);
        ucd_ucx_rma_params_t params = {};
        params.struct_size = sizeof params;
        params.am_id = 2;
        check_rma(ucd_ucx_rma_create(link.worker(), &params, UCD_INFO__NULL, &rma_));
        if (!link.sends()) {
            check_rma(ucd_ucx_window_create(rma_, buffer_, doubles * sizeof(double), UCD_INFO__NULL,
                                            &window_));
            check_rma(ucd_ucx_window_key(window_, &key_));
            link.send(&key_, sizeof key_, ucp_dt_make_contig(1));
        } else {
            link.receive(&key_, sizeof key_, ucp_dt_make_contig(1));
        }
    }
    ~Bench() {
        if (window_ != nullptr) (void)ucd_ucx_window_destroy(&window_);
        (void)ucd_ucx_rma_destroy(&rma_);
        link_.memory().free(reinterpret_cast<char *>(buffer_));
    }
    Bench(const Bench &) = delete;
    Bench &operator=(const Bench &) = delete;

    // Until the origin says that it is done.
    void serve() {
        char byte;
        ucp_request_param_t p = {};
        const ucs_status_ptr_t end =
            ucp_tag_recv_nbx(link_.worker(), &byte, 1, end_tag, UINT64_MAX, &p);
        if (UCS_PTR_IS_ERR(end)) check_ucx(UCS_PTR_STATUS(end), "ucp_tag_recv_nbx");
        while (UCS_PTR_IS_PTR(end) && ucp_request_check_status(end) == UCS_INPROGRESS) progress();
        if (UCS_PTR_IS_PTR(end)) ucp_request_free(end);
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
        char byte = 0;
        ucp_request_param_t p = {};
        const ucs_status_ptr_t end = ucp_tag_send_nbx(link_.ep(), &byte, 1, end_tag, &p);
        if (UCS_PTR_IS_ERR(end)) check_ucx(UCS_PTR_STATUS(end), "ucp_tag_send_nbx");
        while (UCS_PTR_IS_PTR(end) && ucp_request_check_status(end) == UCS_INPROGRESS) progress();
        if (UCS_PTR_IS_PTR(end)) ucp_request_free(end);
    }

private:
    static constexpr ucp_tag_t end_tag = 77;
    // docs/one-sided.md. A window's key is 16 bytes there, in place of a handle of 8.
    static constexpr std::size_t request_header = 40, answer_header = 8;
    static constexpr std::size_t first_key = 8, first_handle = 8;

    void progress() {
        if (ucd_ucx_rma_progress(rma_) == 0) sched_yield(); // there may be more to run than cores
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
        double *memory = buffer_;
        ++outstanding_;
        if (action == Action::put)
            check_rma(ucd_ucx_put_nbx(rma_, link_.ep(), memory, 1, type, &key_, 0, 1, type, &p,
                                      &request));
        else if (action == Action::get)
            check_rma(ucd_ucx_get_nbx(rma_, link_.ep(), memory, 1, type, &key_, 0, 1, type, &p,
                                      &request));
        else
            check_rma(ucd_ucx_accumulate_nbx(rma_, link_.ep(), memory, 1, type, &key_, 0, 1, type,
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
        double *memory = buffer_;
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
        link_.memory().write(reinterpret_cast<char *>(buffer_),
                             reinterpret_cast<const char *>(values.data()),
                             doubles * sizeof(double));
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
            link_.memory().read(reinterpret_cast<char *>(found.data()),
                                reinterpret_cast<const char *>(buffer_), doubles * sizeof(double));
            if (found != expected)
                throw std::runtime_error(named_[i].name + (by_hand ? " by hand" : "") +
                                         ": other values came");
        }
        fill(0.0); // sums stay what they are
    }

    void measure(std::size_t i, unsigned depth) {
        verify(i);
        fmt::print("{:<28}", named_[i].name);
        for (const Action action : {Action::put, Action::get, Action::add}) {
            const std::function<void(std::size_t)> ways[] = {
                [&](std::size_t n) { many(action, i, n, depth); },
                [&](std::size_t n) { many_by_hand(action, i, n, depth); }};
            std::vector<double> rates[2];
            for (unsigned r = 0; r <= repetitions_; ++r)
                for (const std::size_t w : {r % 2, 1 - r % 2}) {
                    if (w == 1 && hand_ == nullptr) continue;
                    constexpr std::size_t count = 400;
                    const auto begin = std::chrono::steady_clock::now();
                    ways[w](count);
                    const std::chrono::duration<double> taken =
                        std::chrono::steady_clock::now() - begin;
                    if (r > 0) rates[w].push_back(count / taken.count()); // the first warms up
                }
            const auto median = [](std::vector<double> &all) {
                std::sort(all.begin(), all.end());
                return all[all.size() / 2];
            };
            const double rate = median(rates[0]);
            fmt::print(" {:>10.1f}", rate / 1e3);
            if (hand_ == nullptr) {
                fmt::print(" {:>8} {:>6} ", "", "");
                continue;
            }
            const double by_hand = median(rates[1]);
            fmt::print(" {:>8.1f} {:>6.2f} ", by_hand / 1e3, rate / by_hand);
        }
        fmt::print("\n");
        std::fflush(stdout);
    }

    Link &link_;
    const unsigned repetitions_, at_a_time_;
    const std::vector<Named> named_;
    std::vector<Shape> shapes_;
    std::vector<UcdType> types_;
    double *buffer_;               // of this side's memory
    std::unique_ptr<ByHand> hand_; // with host memory at both sides
    ucd_ucx_rma_t rma_ = UCD_UCX_RMA__NULL;
    ucd_ucx_window_t window_ = UCD_UCX_WINDOW__NULL;
    ucd_ucx_window_key_t key_ = {};
    std::size_t outstanding_ = 0;
};

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    unsigned repetitions = 15, at_a_time = 16;
    std::string memory = "host", layouts;
    CLI::App app{"One-sided operations with types, against active messages for one layout."};
    app.add_option("--repetitions", repetitions, "Times that each way has its turn")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--at-a-time", at_a_time, "Operations under way in the second table")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--layout", layouts, "Only layouts whose names contain this");
    app.add_option("--memory", memory,
                   "Where data is, at origin and target: host or cuda:N, or both as A,B; by hand "
                   "only with host memory at both sides")
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try {
        const bench::UcdSession session;
        const std::size_t comma = memory.find(',');
        bench::Link link(memory.substr(0, comma), memory.substr(comma + 1));
        bench::Bench bench(link, repetitions, at_a_time, layouts);
        if (link.sends())
            bench.run();
        else
            bench.serve();
        return 0;
    } catch (const std::exception &e) {
        fmt::print(stderr, "ucd-ucx-rma-bench: {}\n", e.what());
        std::_Exit(1);
    }
}
