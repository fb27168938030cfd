// Rows between host and device in one call, beside whatever else can move them.
#include "cases/gpu/row_moves.hpp"
#include "cases/sections.hpp"
#include "harness/content.hpp"
#include "harness/gpu/check_kernels.hpp"
#include "harness/ucd_peer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace bench::gpu {
namespace {

enum class Strided { host, device, both };

struct Case {
    std::int64_t width, bytes, pitch;
    MemoryKind host;
    Strided strided;
    bool to_host;

    std::int64_t rows() const { return bytes / width; }
    std::int64_t pitch_of(bool host_side) const {
        const bool apart = strided == Strided::both || (strided == Strided::host) == host_side;
        return apart ? pitch : width;
    }
    std::string name() const {
        const char *const where = strided == Strided::host     ? "host"
                                  : strided == Strided::device ? "device"
                                                               : "both";
        const char *const memory = host == MemoryKind::pinned ? "pinned" : "pageable";
        return fmt::format("{}, {} KiB of {} B rows, {}, {}", memory, bytes / 1024, width,
                           to_host ? "to host" : "to device", where);
    }
};

std::vector<Case> all_cases(const RowSizes &sizes) {
    std::vector<Case> all;
    for (const MemoryKind host : {MemoryKind::pinned, MemoryKind::pageable})
        for (const std::int64_t kib : sizes.totals)
            for (const std::int64_t width : sizes.widths)
                for (const bool to_host : {true, false})
                    for (const Strided strided : {Strided::device, Strided::host, Strided::both}) {
                        const std::int64_t bytes = kib * 1024 / width * width;
                        const std::int64_t pitch = sizes.pitch > 0 ? sizes.pitch : 2 * width;
                        if (bytes / width >= 2 && pitch > width)
                            all.push_back({width, bytes, pitch, host, strided, to_host});
                    }
    return all;
}

// Both sides in memory, filled and blank.
class RowBuffers {
public:
    RowBuffers(Device &device, const Case &c)
        : device_(device), case_(c), host_(device, bytes_of(true), c.host),
          own_(device, bytes_of(false)) {
        const Buffer &from = c.to_host ? own_ : host_;
        if (c.to_host) {
            device.fill(from.data(), from.bytes());
            return;
        }
        const Buffer filled(device, from.bytes());
        device.fill(filled.data(), filled.bytes());
        device.copy(from.data(), filled.data(), from.bytes());
    }

    Rows rows() const {
        const Buffer &to = case_.to_host ? host_ : own_, &from = case_.to_host ? own_ : host_;
        return {to.data(),   case_.pitch_of(case_.to_host),
                from.data(), case_.pitch_of(!case_.to_host),
                case_.width, case_.rows()};
    }

    // Throws if the work does not move every row, or touches anything else.
    void check(const std::string &name, const Work &work) {
        const Buffer &to = case_.to_host ? host_ : own_;
        if (case_.to_host)
            std::memset(to.data(), blank, to.bytes());
        else
            device_.set(to.data(), blank, to.bytes());
        work(1);
        const Buffer copy(device_, to.bytes());
        device_.copy(copy.data(), to.data(), to.bytes());
        const Rows r = rows();
        const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
        const std::size_t wrong = count_wrong_rows(copy.data(), size(r.to_pitch),
                                                   size(r.from_pitch), size(r.width), size(r.rows));
        if (wrong > 0) throw std::runtime_error(fmt::format("{}: {} bytes are wrong", name, wrong));
    }

private:
    std::size_t bytes_of(bool host_side) const {
        return static_cast<std::size_t>(case_.rows() * case_.pitch_of(host_side));
    }

    Device &device_;
    const Case case_;
    const Buffer host_, own_;
};

UcdType type_of(std::int64_t pitch, const Rows &rows) {
    return UcdType(*recipe(HVector{rows.rows, rows.width, pitch, predefined(Element::byte)}));
}

Work by_ucd(const Rows &rows, ucd_info_t info) {
    const auto from = std::make_shared<UcdType>(type_of(rows.from_pitch, rows)),
               to = std::make_shared<UcdType>(type_of(rows.to_pitch, rows));
    return repeated([=] {
        std::uintptr_t moved;
        check_ucd(ucd_copy(rows.from, 1, from->get(), rows.to, 1, to->get(), &moved, info,
                           UCD_OP__REPLACE));
    });
}

// Returns whether the work takes much longer than others, so that it is not worth measuring.
bool is_slow(const Work &work, std::int64_t bytes) {
    constexpr double least_rate = 2e9, start = 0.05;
    const auto begin = std::chrono::steady_clock::now();
    work(1);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    return taken.count() > start + static_cast<double>(bytes) / least_rate;
}

bool is_own(const Result &result) {
    return result.contender.rfind("UCD", 0) == 0;
}

const Result &best_other(const Comparison &c) {
    const Result *best = nullptr;
    for (const Result &r : c.results())
        if (!is_own(r) && (best == nullptr || r.seconds() < best->seconds())) best = &r;
    return *best;
}

std::string share_of_best(const Comparison &c) {
    return ratio(best_other(c).seconds() / c.seconds("UCD"));
}

void measure(const Setting &s, Table &table, const Case &c) {
    RowBuffers buffers(s.device, c);
    const Rows rows = buffers.rows();
    const UcdInfo by_kernel("ucd.engine", "kernel");
    const bool pinned = c.host == MemoryKind::pinned;
    std::vector<RowMove> moves = pinned ? pinned_row_moves(s.device, rows, c.to_host)
                                        : pageable_row_moves(s.device, rows, c.to_host);
    std::erase_if(moves, [&](const RowMove &m) { return is_slow(m.work, c.bytes); });
    moves.insert(moves.begin(), {"UCD", by_ucd(rows, UCD_INFO__NULL)});
    if (pinned) moves.push_back({"UCD by kernel", by_ucd(rows, by_kernel.get())});
    std::vector<Contender> contenders;
    for (const RowMove &m : moves) {
        buffers.check(m.name, m.work);
        contenders.push_back({m.name, m.work});
    }
    table.row(s.run.measure("rows", c.name(), c.to_host ? "to host" : "to device",
                            static_cast<std::uint64_t>(c.bytes), contenders));
}

} // namespace

void run_rows(const Setting &s) {
    constexpr double enough = 0.2; // seconds for each contender
    const double max_seconds = std::exchange(s.run.effort.max_seconds, enough);
    Table table(s.run.progress,
                {column::subject("GB/s, rows strided on", 56),
                 column::rate("UCD", 6),
                 column::rate("UCD by kernel", 6, "kernel"),
                 column::rate("2-D copy", 8),
                 column::rate("batch", 6),
                 column::rate("CCCL", 6),
                 column::rate("hand", 6),
                 column::rate("packed", 6),
                 column::rate("staged", 6),
                 {"UCD/best", 8, share_of_best},
                 {"best", 18, [](const Comparison &c) { return best_other(c).contender; }}});
    for (const Case &c : all_cases(s.rows)) s.run.row(c.name(), [&] { measure(s, table, c); });
    s.run.effort.max_seconds = max_seconds;
    fmt::print("\n");
}

} // namespace bench::gpu
