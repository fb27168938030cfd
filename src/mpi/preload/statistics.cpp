#include "preload/statistics.h"

#include "preload/comparison.h"
#include "preload/description.h"
#include "preload/message.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>

namespace ucd_mpi {
namespace {

constexpr int max_types = 32;

struct Calls {
    std::atomic<std::uint64_t> taken{0}, passed{0};
};
Calls calls[call_count];

struct Moved {
    std::atomic<std::uint64_t> times{0}, bytes{0}, nanoseconds{0};
};

// The types that share a description; the last row is for all other types.
struct Row {
    std::string description = "others";
    MPI_Datatype datatype = MPI_DATATYPE_NULL; // a duplicate, freed when statistics are printed
    ucd_type_t type = UCD_TYPE__NULL;          // likewise a duplicate
    Moved moved[call_count];
};
// Never destroyed, because threads may still count when the process ends.
struct TypeTable {
    std::mutex mutex;
    int used = 0;
    Row rows[max_types + 1];
};
TypeTable &type_table() {
    static TypeTable &all = *new TypeTable;
    return all;
}

// Sums over calls or types.
struct Sum {
    std::uint64_t times = 0, bytes = 0;
    double seconds = 0, saved = 0;
    bool estimated = true; // false if the saving of some types is unknown

    void add(Call call, const Moved &moved, const std::optional<Comparison> &comparison) {
        if (moved.times == 0) return;
        const double time = 1e-9 * static_cast<double>(moved.nanoseconds);
        times += moved.times;
        bytes += moved.bytes;
        seconds += time;
        if (!comparison) {
            estimated = false;
            return;
        }
        saved += time * (comparison->mpi / comparison->ucd - 1);
        if (!is_packing(call)) saved -= static_cast<double>(moved.bytes) * comparison->copy;
    }
    void add(const Sum &other) {
        times += other.times;
        bytes += other.bytes;
        seconds += other.seconds;
        saved += other.saved;
        estimated &= other.estimated;
    }
};

class Report {
public:
    explicit Report(int rank) : rank_(rank) {}
    [[gnu::format(printf, 2, 3)]] void line(const char *format, ...) {
        char text[512];
        std::va_list arguments;
        va_start(arguments, format);
        std::vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        text_ += "libucd-mpi-preload: ";
        if (rank_ >= 0) text_ += "rank " + std::to_string(rank_) + ": ";
        text_ += std::string(text) + "\n";
    }
    // Writes in one call, so that lines of different processes are less likely to mix.
    void write() const { std::fputs(text_.c_str(), stderr); }

private:
    int rank_;
    std::string text_;
};

std::string estimate(const Sum &sum) {
    char text[64];
    std::snprintf(text, sizeof text, "%s%.3f ms", sum.estimated ? "" : "at least ",
                  1e3 * sum.saved);
    return sum.saved == 0 && !sum.estimated ? "unknown" : text;
}

} // namespace

void count_taken(Call call) {
    if (settings().statistics)
        calls[static_cast<int>(call)].taken.fetch_add(1, std::memory_order_relaxed);
}

void count_passed(Call call) {
    if (settings().statistics)
        calls[static_cast<int>(call)].passed.fetch_add(1, std::memory_order_relaxed);
}

int statistics_row(MPI_Datatype datatype, const Converted &converted) {
    const std::string description = describe(datatype, converted);
    TypeTable &all = type_table();
    const std::lock_guard lock(all.mutex);
    for (int i = 0; i < all.used; ++i)
        if (all.rows[i].description == description) return i;
    if (all.used == max_types) return max_types;
    Row &row = all.rows[all.used];
    row.description = description;
    if (PMPI_Type_dup(datatype, &row.datatype) != MPI_SUCCESS) row.datatype = MPI_DATATYPE_NULL;
    if (ucd_create_dup(converted.type, UCD_INFO__NULL, &row.type) != UCD_SUCCESS)
        row.type = UCD_TYPE__NULL;
    return all.used++;
}

void count_moved(Call call, int row, std::uintptr_t bytes, std::chrono::nanoseconds time) {
    Moved &moved = type_table().rows[row].moved[static_cast<int>(call)];
    moved.times.fetch_add(1, std::memory_order_relaxed);
    moved.bytes.fetch_add(bytes, std::memory_order_relaxed);
    moved.nanoseconds.fetch_add(static_cast<std::uint64_t>(time.count()),
                                std::memory_order_relaxed);
}

void print_statistics(int rank) {
    static std::atomic<bool> printed{false};
    if (!settings().statistics || printed.exchange(true)) return;
    TypeTable &all = type_table();
    const std::lock_guard lock(all.mutex);
    Sum by_call[call_count], by_type[max_types + 1], whole;
    for (int i = 0; i <= max_types; ++i) {
        Row &row = all.rows[i];
        Sum sizes;
        for (const Moved &moved : row.moved) sizes.add(Call::Pack, moved, std::nullopt);
        std::optional<Comparison> comparison;
        if (sizes.times > 0 && row.datatype != MPI_DATATYPE_NULL && row.type != UCD_TYPE__NULL)
            comparison = compare(row.datatype, row.type, sizes.bytes / sizes.times, thorough);
        if (row.datatype != MPI_DATATYPE_NULL) PMPI_Type_free(&row.datatype);
        if (row.type != UCD_TYPE__NULL) ucd_free(&row.type);
        for (int call = 0; call < call_count; ++call) {
            Sum sum;
            sum.add(static_cast<Call>(call), row.moved[call], comparison);
            by_call[call].add(sum);
            by_type[i].add(sum);
            whole.add(sum);
        }
    }
    Report report(rank);
    for (int i = 0; i < call_count; ++i) {
        if (calls[i].taken + calls[i].passed == 0) continue;
        const std::string saved =
            by_call[i].times > 0 ? "; estimated time saved: " + estimate(by_call[i]) : "";
        report.line("MPI_%s: %llu taken over, %llu bytes; %llu left to MPI%s", call_names[i],
                    static_cast<unsigned long long>(calls[i].taken),
                    static_cast<unsigned long long>(by_call[i].bytes),
                    static_cast<unsigned long long>(calls[i].passed), saved.c_str());
    }
    for (int i = 0; i <= max_types; ++i)
        if (by_type[i].times > 0)
            report.line(
                "type %s: moved %llu times, %llu bytes in %.3f ms; estimated time saved: %s",
                all.rows[i].description.c_str(), static_cast<unsigned long long>(by_type[i].times),
                static_cast<unsigned long long>(by_type[i].bytes), 1e3 * by_type[i].seconds,
                estimate(by_type[i]).c_str());
    if (whole.times > 0)
        report.line("all types: %.3f ms in UCD; estimated time saved: %s (MPI_Pack and MPI_Unpack "
                    "were timed with these types at the end, and compared with UCD; less one copy "
                    "of each message)",
                    1e3 * whole.seconds, estimate(whole).c_str());
    report.write();
}

} // namespace ucd_mpi
