// ucd-ucx-bench: layouts sent from one process to another by UCX, in several ways. The transports
// are UCX's choice: UCX_TLS. Figures are of a message and the acknowledgement that it was unpacked.

#include "layouts.hpp"
#include "report.hpp"
#include "ucd_peer.hpp"
#include "ucx/link.hpp"
#include "workbench.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/core.h>
#include <numeric>

namespace bench {
namespace {

struct Options {
    unsigned repetitions = 15;
    std::uint64_t most_bytes = 64 << 20, most_footprint = 1 << 30;
    std::string filter, csv;
    std::vector<std::uint64_t> chunks, depths;
};

// One layout, count times, at one side.
struct Subject {
    std::string name;
    const HandLoop *hand;
    const Lists *lists;
    const Recipe *recipe;
    UcdType type;
    std::intptr_t count;
    std::size_t packed_bytes; // of one
    std::intptr_t extent;
    Buffer memory;
    char *laid_out;
    Buffer packed;

    std::size_t bytes() const { return packed_bytes * static_cast<std::size_t>(count); }
    template <class Move>
    void by_hand(Move move) {
        for (std::intptr_t i = 0; i < count; ++i)
            move(*lists, laid_out + i * extent,
                 packed.data() + static_cast<std::size_t>(i) * packed_bytes);
    }
};

// A way to send, and the same way to receive.
struct Way {
    std::string name;
    std::function<void()> once;
};

std::vector<Segment> segments_of(const Subject &s) {
    std::vector<Segment> all;
    for (std::intptr_t i = 0; i < s.count; ++i)
        for (const Segment &one : segments_of(*s.recipe))
            all.push_back({one.displacement + i * s.extent, one.bytes});
    return all;
}

char pattern(std::intptr_t displacement) {
    return static_cast<char>(displacement * 31 + (displacement >> 8) + 7);
}

void fill(Subject &s, Link &link) {
    for (const Segment &one : segments_of(s))
        for (std::intptr_t d = one.displacement; d < one.displacement + one.bytes; ++d)
            s.laid_out[d] = link.sends() ? pattern(d) : 0;
}

void check(Subject &s, Link &link, const Way &way) {
    fill(s, link);
    way.once();
    link.acknowledge();
    if (link.sends()) return;
    for (const Segment &one : segments_of(s))
        for (std::intptr_t d = one.displacement; d < one.displacement + one.bytes; ++d)
            if (s.laid_out[d] != pattern(d))
                throw std::runtime_error(s.name + ": " + way.name + " moves other bytes");
}

Way by_contiguous(Subject &s, Link &link) {
    return {"contiguous", [&] {
                if (link.sends())
                    link.send(s.packed.data(), s.bytes(), ucp_dt_make_contig(1));
                else
                    link.receive(s.packed.data(), s.bytes(), ucp_dt_make_contig(1));
            }};
}

Way by_hand(Subject &s, Link &link) {
    return {"hand", [&] {
                if (link.sends()) {
                    s.by_hand(s.hand->pack);
                    link.send(s.packed.data(), s.bytes(), ucp_dt_make_contig(1));
                } else {
                    link.receive(s.packed.data(), s.bytes(), ucp_dt_make_contig(1));
                    s.by_hand(s.hand->unpack);
                }
            }};
}

Way unpipelined(Subject &s, Link &link) {
    return {"pack", [&] {
                std::uintptr_t moved;
                if (link.sends()) {
                    check_ucd(ucd_pack(s.laid_out, static_cast<std::uintptr_t>(s.count),
                                       s.type.get(), 0, s.packed.data(), s.bytes(), &moved,
                                       UCD_INFO__NULL, UCD_OP__REPLACE));
                    link.send(s.packed.data(), s.bytes(), ucp_dt_make_contig(1));
                } else {
                    link.receive(s.packed.data(), s.bytes(), ucp_dt_make_contig(1));
                    check_ucd(ucd_unpack(s.packed.data(), s.bytes(), s.laid_out,
                                         static_cast<std::uintptr_t>(s.count), s.type.get(), 0,
                                         &moved, UCD_INFO__NULL, UCD_OP__REPLACE));
                }
            }};
}

Way prepared(Subject &s, Link &link, const std::string &form) {
    return {form == "auto" ? "prepare" : form, [&, form] {
                const UcdInfo info("ucd.ucx.form", form.c_str());
                check_ucd(ucd_info_set(info.get(), "ucd.ucx.iov_entries",
                                       form == "iov" ? "1048576" : "64"));
                void *buf;
                std::size_t count;
                ucp_datatype_t datatype;
                if (ucd_ucx_prepare(s.laid_out, static_cast<std::uintptr_t>(s.count), s.type.get(),
                                    info.get(), &buf, &count, &datatype) != UCD_SUCCESS)
                    throw std::runtime_error(ucd_ucx_last_error());
                if (link.sends())
                    link.send(buf, count, datatype);
                else
                    link.receive(buf, count, datatype);
                if (ucd_ucx_release(buf, datatype) != UCD_SUCCESS)
                    throw std::runtime_error(ucd_ucx_last_error());
            }};
}

Way pipelined(Subject &s, Link &link, std::uint64_t chunk, std::uint64_t depth) {
    auto info = std::make_shared<UcdInfo>("ucd.gpu", "none");
    if (chunk > 0)
        check_ucd(ucd_info_set(info->get(), "ucd.ucx.chunk", std::to_string(chunk).c_str()));
    if (depth > 0)
        check_ucd(ucd_info_set(info->get(), "ucd.ucx.depth", std::to_string(depth).c_str()));
    const std::string name =
        chunk > 0 ? fmt::format("pipeline {}x{}", depth, chunk) : std::string("pipeline");
    return {name, [&, info] {
                ucd_ucx_param_t param = {};
                param.struct_size = sizeof param;
                param.info = info->get();
                ucd_ucx_request_t request;
                const auto count = static_cast<std::uintptr_t>(s.count);
                const int rc =
                    link.sends()
                        ? ucd_ucx_send_nbx(link.pipeline(), link.ep(), s.laid_out, count,
                                           s.type.get(), Link::tag, &param, &request)
                        : ucd_ucx_recv_nbx(link.pipeline(), s.laid_out, count, s.type.get(),
                                           Link::tag, UINT64_MAX, &param, &request);
                if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_ucx_last_error());
                link.wait(request);
            }};
}

double seconds_of(Link &link, const Way &way, std::uint64_t times) {
    const auto start = std::chrono::steady_clock::now();
    for (; times > 0; --times) {
        way.once();
        link.acknowledge();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Bench {
public:
    Bench(Link &link, const Options &options) : link_(link), options_(options) {}

    void run() {
        if (link_.sends())
            fmt::print("{:<34} {:>9} {:>8}  {}\n", "layout", "KiB", "segment",
                       "time of contiguous; each way's share of contiguous speed");
        for (const Layout &layout : whole_layouts()) {
            if (layout.name.find(options_.filter) == std::string::npos) continue;
            std::int64_t last = 0;
            const UcdType type(*layout.type);
            std::uintptr_t bytes;
            check_ucd(ucd_get_size(type.get(), &bytes));
            for (const std::uint64_t wanted : {std::uint64_t{0}, std::uint64_t{1} << 20,
                                               std::uint64_t{8} << 20, std::uint64_t{64} << 20}) {
                const auto count =
                    std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted / bytes));
                if (count == last || count * bytes > options_.most_bytes) continue;
                last = count;
                measure(layout, count);
            }
        }
        if (link_.sends() && !options_.csv.empty()) report_.write_csv(options_.csv);
    }

private:
    void measure(const Layout &layout, std::intptr_t count) {
        const Bounds bounds = bounds_of(*layout.type);
        UcdType type(*layout.type);
        ucd_layout_t l = {};
        l.struct_size = sizeof l;
        check_ucd(ucd_get_layout(static_cast<std::uintptr_t>(count), type.get(), &l));
        const auto footprint = static_cast<std::size_t>(l.high - l.low);
        if (footprint > options_.most_footprint) return;
        std::uintptr_t bytes;
        check_ucd(ucd_get_size(type.get(), &bytes));
        intptr_t lb, extent;
        check_ucd(ucd_get_extent(type.get(), &lb, &extent));
        if (extent != bounds.extent && count > 1) return; // the loops are not for that
        Buffer memory(footprint, 256);
        char *laid_out = memory.data() - l.low;
        Subject s{layout.name,
                  &layout.hand.front(),
                  &layout.lists,
                  layout.type.get(),
                  std::move(type),
                  count,
                  bytes,
                  extent,
                  std::move(memory),
                  laid_out,
                  Buffer(bytes * static_cast<std::size_t>(count), 1024)};

        std::vector<Way> ways;
        ways.push_back(by_hand(s, link_));
        ways.push_back(unpipelined(s, link_));
        ways.push_back(prepared(s, link_, "auto"));
        if (l.segments <= 65536) ways.push_back(prepared(s, link_, "iov"));
        ways.push_back(prepared(s, link_, "generic"));
        if (options_.chunks.empty()) ways.push_back(pipelined(s, link_, 0, 0));
        for (const std::uint64_t chunk : options_.chunks)
            for (const std::uint64_t depth : options_.depths)
                ways.push_back(pipelined(s, link_, chunk, depth));
        for (const Way &way : ways) check(s, link_, way);
        ways.insert(ways.begin(), by_contiguous(s, link_));

        std::vector<Timing> timings(ways.size());
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const double one = seconds_of(link_, ways[i], 1);
            timings[i].times =
                link_.agree(static_cast<std::uint64_t>(std::clamp(2e-3 / one, 1.0, 1000.0)));
        }
        for (unsigned r = 0; r < options_.repetitions; ++r)
            for (std::size_t turn = 0; turn < ways.size(); ++turn) {
                const std::size_t i = (turn + r) % ways.size();
                timings[i].seconds.push_back(seconds_of(link_, ways[i], timings[i].times) /
                                             static_cast<double>(timings[i].times));
            }
        if (link_.sends()) print(s, l, ways, timings);
    }

    void print(const Subject &s, const ucd_layout_t &l, const std::vector<Way> &ways,
               const std::vector<Timing> &timings) {
        fmt::print("{:<34} {:>9} {:>8}  {:>9}", s.name, s.bytes() / 1024, l.bytes / l.segments,
                   duration(timings[0].median()));
        for (std::size_t i = 0; i < ways.size(); ++i) {
            if (i > 0)
                fmt::print("  {} {}", ways[i].name,
                           ratio(timings[0].median() / timings[i].median()));
            report_.add({"ucx", s.name, "send", ways[i].name, s.bytes(), timings[i]});
        }
        fmt::print("\n");
        std::fflush(stdout);
    }

    Link &link_;
    const Options &options_;
    Report report_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv) {
    bench::Options options;
    CLI::App app{"Layouts sent from one process to another by UCX, in several ways."};
    app.add_option("--repetitions", options.repetitions, "Times that each way has its turn")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--most-bytes", options.most_bytes, "Largest message")->capture_default_str();
    app.add_option("--most-footprint", options.most_footprint, "Largest layout in memory")
        ->capture_default_str();
    app.add_option("--filter", options.filter, "Only layouts whose name contains this");
    app.add_option("--csv", options.csv, "File for all times");
    app.add_option("--chunk", options.chunks, "Pipelines with chunks of so many bytes");
    app.add_option("--depth", options.depths, "and so many of them at a time");
    CLI11_PARSE(app, argc, argv);
    if (options.depths.empty()) options.depths = {4};
    try {
        const bench::UcdSession session;
        bench::Link link;
        bench::Bench(link, options).run();
        return 0;
    } catch (const std::exception &e) {
        fmt::print(stderr, "ucd-ucx-bench: {}\n", e.what());
        std::_Exit(1);
    }
}
