// Many small moves in one call, beside the same moves one by one.
#include "sections.hpp"
#include "ucd_peer.hpp"
#include "workbench.hpp"

#include <fmt/core.h>

#include <cstring>
#include <stdexcept>

namespace bench {
namespace {

constexpr std::int64_t stride = 8; // of doubles, each in a cache line of its own

// Vectors one behind the other in memory, and their packed bytes.
class Members {
public:
    Members(std::size_t number, std::int64_t doubles_each)
        : type_(*recipe(Vector{doubles_each, 1, stride, doubles()})),
          bench_(*recipe(
              Vector{static_cast<std::int64_t>(number) * doubles_each, 1, stride, doubles()})),
          bytes_(static_cast<std::uintptr_t>(doubles_each * 8)) {
        for (std::size_t i = 0; i < number; ++i) {
            char *const laid_out =
                bench_.laid_out() + static_cast<std::int64_t>(i) * doubles_each * stride * 8;
            char *const packed = bench_.packed() + i * bytes_;
            packs_.push_back({laid_out, 1, type_.get(), 0, packed, bytes_, 0, {0, 0}});
            unpacks_.push_back({packed, bytes_, laid_out, 1, type_.get(), 0, 0, {0, 0}});
        }
    }

    std::vector<Contender> contenders(bool pack) {
        return {{"batch",
                 pack ? repeated([this] { pack_batch(); }) : repeated([this] { unpack_batch(); })},
                {"calls",
                 pack ? repeated([this] { pack_each(); }) : repeated([this] { unpack_each(); })}};
    }
    void check(const Contender &c, bool pack) {
        pack ? bench_.check_packing(c.name, c.work) : bench_.check_unpacking(c.name, c.work);
    }
    std::uint64_t bytes() const { return static_cast<std::uint64_t>(bench_.bytes()); }

private:
    void pack_batch() {
        ucd_request_t request;
        check_ucd(ucd_ipack_batch(packs_.data(), packs_.size(), UCD_INFO__NULL, UCD_OP__REPLACE,
                                  &request));
    }
    void unpack_batch() {
        ucd_request_t request;
        check_ucd(ucd_iunpack_batch(unpacks_.data(), unpacks_.size(), UCD_INFO__NULL,
                                    UCD_OP__REPLACE, &request));
    }
    void pack_each() const {
        std::uintptr_t moved;
        for (const ucd_pack_desc_t &d : packs_)
            check_ucd(ucd_pack(d.inbuf, 1, d.type, 0, d.outbuf, d.max_pack_bytes, &moved,
                               UCD_INFO__NULL, UCD_OP__REPLACE));
    }
    void unpack_each() const {
        std::uintptr_t moved;
        for (const ucd_unpack_desc_t &d : unpacks_)
            check_ucd(ucd_unpack(d.inbuf, d.insize, d.outbuf, 1, d.type, 0, &moved, UCD_INFO__NULL,
                                 UCD_OP__REPLACE));
    }

    UcdType type_;
    Workbench bench_;
    std::uintptr_t bytes_;
    std::vector<ucd_pack_desc_t> packs_;
    std::vector<ucd_unpack_desc_t> unpacks_;
};

} // namespace

void run_batches(Run &run) {
    Table table(
        run.progress,
        {{"time for each member", 37}, {"", 6}, {"batch", 9}, {"calls", 9}, {"calls/batch", 11}});
    for (const std::int64_t doubles_each : {8, 32})
        for (const std::size_t number : {4, 57, 1000, 4096}) {
            const std::string name =
                fmt::format("{} vectors of {} bytes", number, doubles_each * 8);
            if (!run.wants(name)) continue;
            run.progress.say(name);
            Members members(number, doubles_each);
            for (const bool pack : {true, false}) {
                const std::vector<Contender> contenders = members.contenders(pack);
                for (const Contender &c : contenders) members.check(c, pack);
                const char *const operation = pack ? "pack" : "unpack";
                const auto results =
                    run.measure("batches", name, operation, members.bytes(), contenders);
                const auto each = [&](const Result &r) {
                    return duration(r.seconds() / static_cast<double>(number));
                };
                table.row({name, operation, each(results[0]), each(results[1]),
                           ratio(results[1].seconds() / results[0].seconds())});
            }
        }
    fmt::print("\n");
}

} // namespace bench
