// A slice of a particle code's arrays, packed and unpacked.
#include "apps/particles.hpp"
#include "apps/sections.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace bench::apps {
namespace {

constexpr int blank = 0x5a;
constexpr std::size_t first_particle = 1000, particles_behind = 500;

char content(std::size_t field, std::size_t at) {
    const std::uint64_t mixed = (at * 13 + field + 1) * 0x9e3779b97f4a7c15u;
    return static_cast<char>((mixed ^ mixed >> 29) >> 20);
}

class Slice {
public:
    Slice(Crew &crew, Table &table, std::size_t count, bool to_host)
        : crew_(crew), table_(table),
          particles_(crew.place, first_particle + count + particles_behind),
          parts_(particles_.slice(first_particle, count)),
          bytes_(parts_.packed[counters_field] + parts_.bytes[counters_field]),
          packed_(crew.place, bytes_, to_host), spare_(crew.place, bytes_),
          kernels_(crew.place.on_device() ? cuda_particles() : host_particles()),
          absolute_(type_of(parts_, true)), relative_(type_of(parts_, false)),
          name_(fmt::format("{}, {}", count,
                            !crew.place.on_device() ? "host"
                            : to_host               ? "pinned"
                                                    : "device")) {
        for (std::size_t i = 0; i < particle_fields.size(); ++i) {
            const std::size_t start =
                static_cast<std::size_t>(parts_.at[i] - particles_.field(i).data());
            for (std::size_t k = 0; k < parts_.bytes[i]; ++k)
                stream_.push_back(content(i, start + k));
        }
    }

    void measure(bool pack) {
        const std::string operation = pack ? "pack" : "unpack";
        crew_.say(fmt::format("{} {}: checking", operation, name_));
        std::vector<Way> all = ways(pack);
        for (const Way &way : all) pack ? check_packing(way) : check_unpacking(way);
        all.push_back({"one copy", [this, pack] {
                           crew_.place.start_copy(pack ? packed_.data() : spare_.data(),
                                                  pack ? spare_.data() : packed_.data(), bytes_);
                           crew_.place.wait();
                       }});
        crew_.say(fmt::format("{} {}", operation, name_));
        const std::vector<Timing> timings =
            crew_.measure("particles", name_, operation, bytes_, all);
        std::vector<std::string> cells{fmt::format("{} {}", operation, name_),
                                       three_digits(static_cast<double>(bytes_) / 1024)};
        for (const Timing &timing : timings) cells.push_back(duration(timing.median()));
        const double ucd = timings[0].median();
        cells.push_back(ratio(ucd / timings[3].median()));
        cells.push_back(ratio(ucd / timings[4].median()));
        if (pack) cells.push_back("0.57-0.87");
        table_.row(cells);
    }

private:
    // UCD's three, then by hand, then by copies.
    std::vector<Way> ways(bool pack) {
        const auto by_ucd = [this, pack](void *buf, ucd_type_t type) {
            std::uintptr_t moved;
            check_ucd(pack ? ucd_pack(buf, 1, type, 0, packed_.data(), bytes_, &moved,
                                      UCD_INFO__NULL, UCD_OP__REPLACE)
                           : ucd_unpack(packed_.data(), bytes_, buf, 1, type, 0, &moved,
                                        UCD_INFO__NULL, UCD_OP__REPLACE));
        };
        return {{"UCD", [=, this] { by_ucd(nullptr, absolute_.get()); }},
                {"relative", [=, this] { by_ucd(parts_.at[0], relative_.get()); }},
                {"new type", [=, this] { by_ucd(nullptr, type_of(parts_, true).get()); }},
                {"hand",
                 [this, pack] {
                     pack ? kernels_.pack(parts_, packed_.data())
                          : kernels_.unpack(parts_, packed_.data());
                     crew_.place.wait();
                 }},
                {"copies", [this, pack] {
                     for (std::size_t i = 0; i < particle_fields.size(); ++i) {
                         char *here = packed_.data() + parts_.packed[i], *there = parts_.at[i];
                         crew_.place.start_copy(pack ? here : there, pack ? there : here,
                                                parts_.bytes[i]);
                     }
                     crew_.place.wait();
                 }}};
    }

    void check_packing(const Way &way) {
        for (std::size_t i = 0; i < particle_fields.size(); ++i) {
            std::vector<char> values(particles_.field(i).bytes());
            for (std::size_t k = 0; k < values.size(); ++k) values[k] = content(i, k);
            crew_.place.copy(particles_.field(i).data(), values.data(), values.size());
        }
        crew_.place.set(packed_.data(), blank, bytes_);
        way.once();
        std::vector<char> found(bytes_);
        crew_.place.copy(found.data(), packed_.data(), bytes_);
        crew_.agree_on(different(found, stream_), "pack " + name_ + ", " + way.name);
    }

    void check_unpacking(const Way &way) {
        for (std::size_t i = 0; i < particle_fields.size(); ++i)
            crew_.place.set(particles_.field(i).data(), blank, particles_.field(i).bytes());
        crew_.place.copy(packed_.data(), stream_.data(), bytes_);
        way.once();
        std::uint64_t wrong = 0;
        for (std::size_t i = 0; i < particle_fields.size(); ++i) {
            const Memory &field = particles_.field(i);
            std::vector<char> found(field.bytes()), expected(field.bytes(), char{blank});
            const auto start = static_cast<std::size_t>(parts_.at[i] - field.data());
            for (std::size_t k = start; k < start + parts_.bytes[i]; ++k)
                expected[k] = content(i, k);
            crew_.place.copy(found.data(), field.data(), field.bytes());
            wrong += different(found, expected);
        }
        crew_.agree_on(wrong, "unpack " + name_ + ", " + way.name);
    }

    static std::uint64_t different(const std::vector<char> &a, const std::vector<char> &b) {
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
        return count;
    }

    Crew &crew_;
    Table &table_;
    Particles particles_;
    FieldParts parts_;
    std::size_t bytes_;
    Memory packed_, spare_;
    ParticleKernels kernels_;
    UcdType absolute_, relative_;
    std::string name_;
    std::vector<char> stream_;
};

} // namespace

void run_particles(Crew &crew) {
    fmt::print(
        "Particles of a cosmology code in {}: a slice of 12 arrays, 50 bytes a particle, and "
        "4 counters,\nas a struct of 13 blocks. Ratios are of times: less than 1, UCD is "
        "faster. \"relative\": to the first\narray, not absolute; \"new type\": made and "
        "freed each time; \"copies\": one for each field.\nIn the paper (Jenkins et al.) "
        "kernels take 13 to 43 % less time than copies.\n",
        crew.place.name());
    Table table(crew.progress, {{"particles, packed in", 24},
                                {"KiB", 6},
                                {"UCD", 8},
                                {"relative", 8},
                                {"new type", 8},
                                {"hand", 8},
                                {"copies", 8},
                                {"one copy", 8},
                                {"UCD/hand", 8},
                                {"UCD/copies", 10},
                                {"paper", 9}});
    Budget budget(crew.options.budget);
    const std::vector<std::int64_t> counts =
        crew.options.sizes.empty()
            ? std::vector<std::int64_t>{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20}
            : crew.options.sizes;
    for (const bool to_host : {false, true})
        for (const std::int64_t count : counts) {
            if (!crew.place.on_device() && to_host) continue; // the same memory
            if (!budget.lasts(crew.peers, fmt::format("{} particles", count))) return;
            Slice slice(crew, table, static_cast<std::size_t>(count), to_host);
            for (const bool pack : {true, false}) slice.measure(pack);
        }
}

} // namespace bench::apps
