// Many small packs in one call, beside one kernel written for them and beside a call for each.
#include "cuda_work.hpp"
#include "hand_batches.hpp"
#include "rows.hpp"
#include "ucd_peer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <stdexcept>

namespace bench::gpu {
namespace {

using hand::BoxMember;

// Where a member lies in the source, and as what; its packed bytes follow those of the one before.
struct Member {
    std::size_t from;
    std::int64_t row_stride, plane_stride;
    std::int32_t row, rows, planes;
    std::size_t type; // of Case::types
    std::size_t bytes() const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(rows * planes);
    }
};

struct Case {
    std::string name;
    std::size_t source_bytes = 0;
    std::vector<UcdType> types;
    std::vector<Member> members;
    void (*by_hand)(const BoxMember *, unsigned) = nullptr;
    bool one_by_one = true; // beside a call for each
    ucd_op_t op = UCD_OP__REPLACE;
};

UcdType box_type(std::intptr_t row, std::intptr_t rows, std::intptr_t row_stride,
                 std::intptr_t planes, std::intptr_t plane_stride) {
    ucd_type_t plane, box;
    check_ucd(row % 8 == 0 ? ucd_create_hvector(rows, row / 8, row_stride, UCD_TYPE__DOUBLE,
                                                UCD_INFO__NULL, &plane)
                           : ucd_create_hvector(rows, row, row_stride, UCD_TYPE__BYTE,
                                                UCD_INFO__NULL, &plane));
    const UcdType inner(plane);
    check_ucd(ucd_create_hvector(planes, 1, plane_stride, plane, UCD_INFO__NULL, &box));
    return UcdType(box);
}

// 256 vectors of 4 KiB, no two alike.
Case vectors() {
    Case c{"256 vectors of 4 KiB", 0, {}, {}, hand::pack_rows_of_64};
    for (std::int32_t i = 0; i < 256; ++i) {
        const std::int64_t stride = 128 + 16 * i;
        c.members.push_back({c.source_bytes, stride, 0, 64, 64, 1, c.types.size()});
        c.types.push_back(box_type(64, 64, stride, 1, 0));
        c.source_bytes += static_cast<std::size_t>(64 * stride);
    }
    return c;
}

// The same, added up.
Case sums() {
    Case c = vectors();
    c.name = "256 sums of 4 KiB";
    c.by_hand = hand::add_rows_of_64;
    c.op = UCD_OP__SUM;
    return c;
}

// What cells of adaptive meshes send: the faces, edges and corners of a block of 16^3 doubles with
// two layers of ghost cells, and the quarters of faces that finer neighbours want.
Case halos() {
    constexpr std::int32_t inner = 16, ghost = 2, side = inner + 2 * ghost, blocks = 64;
    Case c{fmt::format("halos of {} blocks of {}^3", blocks, inner),
           0,
           {},
           {},
           hand::pack_boxes_of_doubles};
    struct Part {
        std::int32_t first[3], count[3];
    };
    std::vector<Part> parts;
    for (int x = -1; x <= 1; ++x)
        for (int y = -1; y <= 1; ++y)
            for (int z = -1; z <= 1; ++z) {
                if (x == 0 && y == 0 && z == 0) continue;
                Part p{};
                const int way[] = {x, y, z};
                for (int d = 0; d < 3; ++d) {
                    p.count[d] = way[d] == 0 ? inner : ghost;
                    p.first[d] = way[d] == 1 ? inner : ghost;
                }
                parts.push_back(p);
                if (x * x + y * y + z * z != 1) continue;
                for (int quarter = 0; quarter < 4; ++quarter) {
                    Part q = p;
                    for (int d = 0, bit = 0; d < 3; ++d) {
                        if (way[d] != 0) continue;
                        q.count[d] = inner / 2;
                        q.first[d] += (quarter >> bit++ & 1) * inner / 2;
                    }
                    parts.push_back(q);
                }
            }
    constexpr std::int64_t row_stride = side * 8, plane_stride = side * row_stride;
    for (const Part &p : parts)
        c.types.push_back(
            box_type(p.count[2] * 8, p.count[1], row_stride, p.count[0], plane_stride));
    for (std::int32_t block = 0; block < blocks; ++block)
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Part &p = parts[i];
            const std::int64_t at = block * side * plane_stride + p.first[0] * plane_stride +
                                    p.first[1] * row_stride + p.first[2] * 8;
            c.members.push_back({static_cast<std::size_t>(at), row_stride, plane_stride,
                                 p.count[2] * 8, p.count[1], p.count[0], i});
        }
    c.source_bytes = static_cast<std::size_t>(blocks * side * plane_stride);
    return c;
}

// Pages of key-value caches: consecutive bytes, 256 to 16 Ki of them, all over the memory.
Case pages() {
    constexpr std::size_t number = 100'000, pool = std::size_t{1} << 30;
    Case c{"100,000 pages of 256 B to 16 KiB", pool, {}, {}, hand::pack_pages, false};
    std::mt19937_64 random(11);
    for (std::int32_t size = 256; size <= 16384; size += 256)
        c.types.push_back(box_type(size, 1, size, 1, size));
    for (std::size_t i = 0; i < number; ++i) {
        const std::size_t type = random() % c.types.size();
        const auto size = static_cast<std::int32_t>(256 * (type + 1));
        c.members.push_back({random() % (pool / 16384) * 16384, 0, 0, size, 1, 1, type});
    }
    return c;
}

class Batches {
public:
    explicit Batches(Run &run)
        : run_(run), table_(run.progress, {{"time of a batch", 36},
                                           {"to", 6},
                                           {"members", 7},
                                           {"GB/s", 5},
                                           {"hints", 9},
                                           {"no hints", 9},
                                           {"hand", 9},
                                           {"each by itself", 14},
                                           {"hints/hand", 10},
                                           {"host, a member", 14}}) {}

    void measure(const Case &c, Memory to) {
        const char *const where = to == Memory::device ? "device" : "pinned";
        run_.progress.say(fmt::format("{}: to {}", c.name, where));
        std::size_t bytes = 0;
        for (const Member &m : c.members) bytes += m.bytes();
        Buffer source(c.source_bytes, Memory::device), target(bytes, to);
        const std::vector<char> image = fill(source);
        std::vector<ucd_pack_desc_t> descs;
        std::vector<BoxMember> boxes;
        char *packed = target.data();
        for (const Member &m : c.members) {
            char *const from = source.data() + m.from;
            descs.push_back({from, 1, c.types[m.type].get(), 0, packed, m.bytes(), 0, {0, 0}});
            boxes.push_back({from, packed, m.row_stride, m.plane_stride, m.row, m.rows, m.planes});
            packed += m.bytes();
        }
        Buffer listed(boxes.size() * sizeof(BoxMember), Memory::device);
        check_cuda(cudaMemcpy(listed.data(), boxes.data(), listed.bytes(), cudaMemcpyDefault),
                   "copying descriptors");
        const ucd_stream_t stream{"cuda", 0, nullptr, nullptr};
        for (const UcdType &type : c.types)
            check_ucd(ucd_prepare(1, type.get(), c.op, stream, UCD_INFO__NULL));
        UcdInfo hints("ucd.inbuf", "cuda:0");
        check_ucd(
            ucd_info_set(hints.get(), "ucd.outbuf", to == Memory::device ? "cuda:0" : "pinned"));
        const auto batch = [&descs, &c](ucd_info_t info) {
            ucd_request_t request;
            check_ucd(ucd_ipack_batch(descs.data(), descs.size(), info, c.op, &request));
            return request;
        };
        const auto whole_batch = [batch](ucd_info_t info) {
            return repeated([batch, info] {
                ucd_request_t request = batch(info);
                check_ucd(ucd_wait(&request));
            });
        };
        std::vector<Contender> contenders{
            {"UCD, hints", whole_batch(hints.get())},
            {"UCD", whole_batch(UCD_INFO__NULL)},
            {"hand", blocking([&c, &listed] {
                 c.by_hand(reinterpret_cast<const BoxMember *>(listed.data()),
                           static_cast<unsigned>(c.members.size()));
             })}};
        if (c.one_by_one)
            contenders.push_back({"UCD, each by itself", repeated([&descs, &hints, &c] {
                                      std::uintptr_t moved;
                                      for (const ucd_pack_desc_t &d : descs)
                                          check_ucd(ucd_pack(d.inbuf, 1, d.type, 0, d.outbuf,
                                                             d.max_pack_bytes, &moved, hints.get(),
                                                             c.op));
                                  })});
        for (const Contender &contender : contenders) check(contender, c, image, target);
        const auto r = run_.measure("batches", fmt::format("{}, to {}", c.name, where), "pack",
                                    bytes, contenders);
        table_.row({c.name, where, fmt::format("{}", c.members.size()),
                    three_digits(r[0].gigabytes_per_second()), duration(r[0].seconds()),
                    duration(r[1].seconds()), duration(r[2].seconds()),
                    c.one_by_one ? duration(r[3].seconds()) : "-",
                    ratio(r[0].seconds() / r[2].seconds()),
                    duration(host_cost(batch, hints.get(), c.members.size()))});
    }

private:
    // Until the call returns.
    template <class Batch>
    static double host_cost(const Batch &batch, ucd_info_t info, std::size_t members) {
        std::vector<double> seconds;
        for (int i = 0; i < 21; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            ucd_request_t request = batch(info);
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            check_ucd(ucd_wait(&request));
            seconds.push_back(took.count() / static_cast<double>(members));
        }
        std::sort(seconds.begin(), seconds.end());
        return seconds[seconds.size() / 2];
    }

    static std::vector<char> fill(const Buffer &source) {
        std::vector<char> image(source.bytes());
        std::mt19937_64 random(5);
        for (std::size_t i = 0; i + 8 <= image.size(); i += 8) {
            const auto value =
                static_cast<double>(random() >> 11); // added to zero, it stays itself
            std::memcpy(&image[i], &value, sizeof value);
        }
        check_cuda(cudaMemcpy(source.data(), image.data(), image.size(), cudaMemcpyDefault),
                   "filling");
        synchronise();
        return image;
    }

    static void check(const Contender &contender, const Case &c, const std::vector<char> &image,
                      const Buffer &target) {
        check_cuda(cudaMemset(target.data(), 0, target.bytes()), "clearing");
        synchronise();
        contender.work(1);
        std::vector<char> packed(target.bytes());
        check_cuda(cudaMemcpy(packed.data(), target.data(), packed.size(), cudaMemcpyDefault),
                   "checking");
        const char *found = packed.data();
        for (const Member &m : c.members)
            for (std::int32_t plane = 0; plane < m.planes; ++plane)
                for (std::int32_t row = 0; row < m.rows; ++row, found += m.row) {
                    const auto at =
                        static_cast<std::size_t>(static_cast<std::int64_t>(m.from) +
                                                 plane * m.plane_stride + row * m.row_stride);
                    if (std::memcmp(found, &image[at], static_cast<std::size_t>(m.row)) != 0)
                        throw std::runtime_error(
                            fmt::format("{}: a member is packed wrongly", contender.name));
                }
    }

    Run &run_;
    Table table_;
};

} // namespace

void run_batches(Run &run, Rows &rows) {
    Batches table(run);
    for (const auto make : {vectors, sums, halos, pages}) {
        const Case c = make();
        for (const Memory to : {Memory::device, Memory::pinned}) {
            if (to == Memory::pinned && !c.one_by_one) continue;
            rows.row(c.name, [&] { table.measure(c, to); });
        }
    }
    fmt::print("\n");
}

} // namespace bench::gpu
