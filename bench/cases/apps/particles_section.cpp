// A slice of a particle code's arrays, packed and unpacked.
#include "baselines/particles.hpp"
#include "cases/apps/sections.hpp"
#include "harness/content.hpp"
#include "harness/ucd_peer.hpp"

#include <fmt/core.h>

#include <memory>

namespace bench::apps {
namespace {

constexpr std::size_t first_particle = 1000, particles_behind = 500;

// Byte `at` of a field.
char content_of_field(std::size_t field, std::size_t at) {
    return static_cast<char>(content(at * particle_fields.size() + field));
}

// All arrays, each allocated by itself.
class Particles {
public:
    Particles(Device &device, std::size_t count) {
        for (std::size_t i = 0; i < particle_fields.size(); ++i)
            fields_.push_back(std::make_unique<Buffer>(
                device, particle_fields[i].bytes * (i == counters_field ? counters : count)));
    }

    const Buffer &field(std::size_t i) const { return *fields_[i]; }
    // Particles [first, first + count), and all counters.
    FieldParts slice(std::size_t first, std::size_t count) const {
        FieldParts parts{};
        std::size_t packed = 0;
        for (std::size_t i = 0; i < particle_fields.size(); ++i) {
            const bool counts = i == counters_field;
            parts.at[i] = fields_[i]->data() + (counts ? 0 : first * particle_fields[i].bytes);
            parts.bytes[i] = (counts ? counters : count) * particle_fields[i].bytes;
            parts.packed[i] = packed;
            packed += parts.bytes[i];
        }
        return parts;
    }

private:
    std::vector<std::unique_ptr<Buffer>> fields_;
};

// With absolute displacements, for buffer NULL, or relative to the first field's part.
UcdType type_of(const FieldParts &parts, bool absolute) {
    std::intptr_t lengths[particle_fields.size()], displs[particle_fields.size()];
    ucd_type_t types[particle_fields.size()];
    const std::intptr_t origin = absolute ? 0 : reinterpret_cast<std::intptr_t>(parts.at[0]);
    for (std::size_t i = 0; i < particle_fields.size(); ++i) {
        const std::size_t bytes = particle_fields[i].bytes;
        lengths[i] = static_cast<std::intptr_t>(parts.bytes[i] / bytes);
        displs[i] = reinterpret_cast<std::intptr_t>(parts.at[i]) - origin;
        types[i] = bytes == 8   ? UCD_TYPE__INT64_T
                   : bytes == 4 ? UCD_TYPE__FLOAT
                                : UCD_TYPE__UINT16_T;
    }
    ucd_type_t type;
    check_ucd(
        ucd_create_struct(particle_fields.size(), lengths, displs, types, UCD_INFO__NULL, &type));
    return UcdType(type);
}

class Slice {
public:
    Slice(Crew &crew, Table &table, std::size_t count, bool to_host)
        : crew_(crew), table_(table),
          particles_(crew.device, first_particle + count + particles_behind),
          parts_(particles_.slice(first_particle, count)),
          bytes_(parts_.packed[counters_field] + parts_.bytes[counters_field]),
          packed_(crew.device, bytes_, to_host ? MemoryKind::pinned : MemoryKind::own),
          spare_(crew.device, bytes_),
          by_hand_(crew.device.is_gpu() ? gpu_particles() : host_particles()),
          absolute_(type_of(parts_, true)), relative_(type_of(parts_, false)),
          name_(fmt::format("{}, {}", count,
                            !crew.device.is_gpu() ? "host"
                            : to_host             ? "pinned"
                                                  : "device")) {
        for (std::size_t i = 0; i < particle_fields.size(); ++i) {
            const std::size_t start =
                static_cast<std::size_t>(parts_.at[i] - particles_.field(i).data());
            for (std::size_t k = 0; k < parts_.bytes[i]; ++k)
                stream_.push_back(content_of_field(i, start + k));
        }
    }

    void measure(bool pack) {
        const std::string operation = pack ? "pack" : "unpack";
        std::vector<Contender> all = contenders(pack);
        for (const Contender &c : all) pack ? check_packing(c) : check_unpacking(c);
        all.push_back({"one copy", copy_work(crew_.device, (pack ? packed_ : spare_).data(),
                                             (pack ? spare_ : packed_).data(), bytes_)});
        table_.row(crew_.run.measure("particles", name_, operation, bytes_, all),
                   {fmt::format("{} {}", operation, name_),
                    three_digits(static_cast<double>(bytes_) / 1024), pack ? "0.57-0.87" : ""});
    }

private:
    // UCD's three, then by hand, then by copies.
    std::vector<Contender> contenders(bool pack) {
        const auto by_ucd = [this, pack](char *buf, ucd_type_t type) {
            UcdMove{type, buf, packed_.data(), 0, bytes_}.run(pack);
        };
        return {{"UCD", repeated([=, this] { by_ucd(nullptr, absolute_.get()); })},
                {"relative", repeated([=, this] { by_ucd(parts_.at[0], relative_.get()); })},
                {"new type", repeated([=, this] { by_ucd(nullptr, type_of(parts_, true).get()); })},
                {"hand", blocking(crew_.device,
                                  [this, pack] {
                                      pack ? by_hand_.pack(parts_, packed_.data())
                                           : by_hand_.unpack(parts_, packed_.data());
                                  })},
                {"copies", blocking(crew_.device, [this, pack] {
                     for (std::size_t i = 0; i < particle_fields.size(); ++i) {
                         char *here = packed_.data() + parts_.packed[i], *there = parts_.at[i];
                         crew_.device.start_copy(pack ? here : there, pack ? there : here,
                                                 parts_.bytes[i]);
                     }
                 })}};
    }

    void check_packing(const Contender &way) {
        for (std::size_t i = 0; i < particle_fields.size(); ++i) {
            std::vector<char> values(particles_.field(i).bytes());
            for (std::size_t k = 0; k < values.size(); ++k) values[k] = content_of_field(i, k);
            crew_.device.copy(particles_.field(i).data(), values.data(), values.size());
        }
        crew_.device.set(packed_.data(), blank, bytes_);
        way.work(1);
        std::vector<char> found(bytes_);
        crew_.device.copy(found.data(), packed_.data(), bytes_);
        crew_.run.check_none(different(found, stream_), "pack " + name_ + ", " + way.name);
    }

    void check_unpacking(const Contender &way) {
        for (std::size_t i = 0; i < particle_fields.size(); ++i)
            crew_.device.set(particles_.field(i).data(), blank, particles_.field(i).bytes());
        crew_.device.copy(packed_.data(), stream_.data(), bytes_);
        way.work(1);
        std::uint64_t wrong = 0;
        for (std::size_t i = 0; i < particle_fields.size(); ++i) {
            const Buffer &field = particles_.field(i);
            std::vector<char> found(field.bytes()),
                expected(field.bytes(), static_cast<char>(blank));
            const auto start = static_cast<std::size_t>(parts_.at[i] - field.data());
            for (std::size_t k = start; k < start + parts_.bytes[i]; ++k)
                expected[k] = content_of_field(i, k);
            crew_.device.copy(found.data(), field.data(), field.bytes());
            wrong += different(found, expected);
        }
        crew_.run.check_none(wrong, "unpack " + name_ + ", " + way.name);
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
    Buffer packed_, spare_;
    ParticleMoves by_hand_;
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
        crew.device.name());
    Table table(crew.run.progress, {{"particles, packed in", 24},
                                    {"KiB", 6},
                                    column::time("UCD", 8),
                                    column::time("relative", 8),
                                    column::time("new type", 8),
                                    column::time("hand", 8),
                                    column::time("copies", 8),
                                    column::time("one copy", 8),
                                    column::speedup("hand", "UCD", 8, "UCD/hand"),
                                    column::speedup("copies", "UCD", 10, "UCD/copies"),
                                    {"paper", 9}});
    for (const bool to_host : {false, true}) {
        if (!crew.device.is_gpu() && to_host) continue; // the same memory
        for (const std::int64_t count :
             crew.sizes({1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20}))
            crew.run.row(fmt::format("{} particles", count), [&] {
                Slice slice(crew, table, static_cast<std::size_t>(count), to_host);
                for (const bool pack : {true, false}) slice.measure(pack);
            });
    }
}

} // namespace bench::apps
