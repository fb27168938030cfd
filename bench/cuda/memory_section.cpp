// Packing between every two kinds of memory, beside plain copies of the packed bytes between the
// same.
#include "cuda_work.hpp"
#include "rows.hpp"
#include "ucd_peer.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>

namespace bench::gpu {
namespace {

enum class Kind { device, peer, managed, pinned, pageable };
constexpr Kind all_kinds[] = {Kind::device, Kind::peer, Kind::managed, Kind::pinned,
                              Kind::pageable};

const char *name_of(Kind kind) {
    switch (kind) {
    case Kind::device: return "device";
    case Kind::peer: return "other device";
    case Kind::managed: return "managed";
    case Kind::pinned: return "pinned";
    case Kind::pageable: return "pageable";
    }
    throw std::logic_error("no such memory");
}

// Memory of a kind; that of the other device is made while that is current.
class Place {
public:
    Place(Kind kind, std::size_t bytes) : kind_(kind) {
        switch (kind) {
        case Kind::device: check_cuda(cudaMalloc(&data_, bytes), "allocating"); break;
        case Kind::peer:
            check_cuda(cudaSetDevice(1), "choosing a device");
            check_cuda(cudaMalloc(&data_, bytes), "allocating");
            check_cuda(cudaSetDevice(0), "choosing a device");
            break;
        case Kind::managed: check_cuda(cudaMallocManaged(&data_, bytes), "allocating"); break;
        case Kind::pinned: check_cuda(cudaMallocHost(&data_, bytes), "allocating"); break;
        case Kind::pageable:
            data_ = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
            if (data_ == nullptr) throw std::bad_alloc();
            std::memset(data_, 0, bytes);
        }
    }
    ~Place() {
        if (kind_ == Kind::pageable)
            std::free(data_);
        else
            (void)(kind_ == Kind::pinned ? cudaFreeHost(data_) : cudaFree(data_));
    }
    Place(const Place &) = delete;
    Place &operator=(const Place &) = delete;
    char *data() const { return static_cast<char *>(data_); }

private:
    Kind kind_;
    void *data_ = nullptr;
};

struct Blocks {
    const char *name;
    std::size_t block, stride;
};
constexpr Blocks shapes[] = {{"128 B of 512", 128, 512}, {"8 B of 64", 8, 64}};
constexpr std::size_t packed_bytes = std::size_t{64} << 20;

class Memories {
public:
    explicit Memories(Run &run)
        : run_(run), table_(run.progress, {{"GB/s of packed bytes, 64 MiB", 46},
                                           {"pack", 6},
                                           {"unpack", 6},
                                           {"copy", 6},
                                           {"pack/copy", 9}}) {}

    void measure(const std::string &name, const Blocks &blocks, Kind from, Kind to) {
        run_.progress.say(name);
        const std::size_t count = packed_bytes / blocks.block, footprint = count * blocks.stride;
        Place laid_out(from, footprint), packed(to, packed_bytes), plain(from, packed_bytes);
        ucd_type_t made;
        check_ucd(ucd_create_hvector(
            static_cast<std::intptr_t>(count), static_cast<std::intptr_t>(blocks.block),
            static_cast<std::intptr_t>(blocks.stride), UCD_TYPE__BYTE, UCD_INFO__NULL, &made));
        const UcdType type(made);
        const UcdMove move{.type = type.get(),
                           .laid_out = laid_out.data(),
                           .packed = packed.data(),
                           .offset = 0,
                           .bytes = packed_bytes};
        check(move, blocks, footprint);
        const std::vector<Contender> contenders{
            {"UCD, pack", repeated([move] { move.pack(); })},
            {"UCD, unpack", repeated([move] { move.unpack(); })},
            {"copy", blocking([&] {
                 check_cuda(cudaMemcpyAsync(packed.data(), plain.data(), packed_bytes,
                                            cudaMemcpyDefault, nullptr),
                            "copying");
             })}};
        const auto r = run_.measure("memories", name, "move", packed_bytes, contenders);
        table_.row({name, three_digits(r[0].gigabytes_per_second()),
                    three_digits(r[1].gigabytes_per_second()),
                    three_digits(r[2].gigabytes_per_second()),
                    ratio(r[2].seconds() / r[0].seconds())});
    }

private:
    static void transfer(void *to, const void *from, std::size_t bytes) {
        check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "checking");
        synchronise();
    }

    // Packs random bytes, and puts them back into an empty layout.
    static void check(const UcdMove &move, const Blocks &blocks, std::size_t footprint) {
        std::vector<char> image(footprint), packed(packed_bytes), wanted;
        std::mt19937_64 random(3);
        for (std::size_t i = 0; i + 8 <= footprint; i += 8) {
            const std::uint64_t value = random();
            std::memcpy(&image[i], &value, sizeof value);
        }
        for (std::size_t at = 0; at < footprint; at += blocks.stride)
            wanted.insert(wanted.end(), &image[at], &image[at] + blocks.block);
        transfer(move.laid_out, image.data(), footprint);
        move.pack();
        transfer(packed.data(), move.packed, packed_bytes);
        if (packed != wanted) throw std::runtime_error("UCD does not pack as it should");
        std::vector<char> blank(footprint), found(footprint);
        transfer(move.laid_out, blank.data(), footprint);
        move.unpack();
        transfer(found.data(), move.laid_out, footprint);
        for (std::size_t at = 0; at < footprint; at += blocks.stride)
            std::memcpy(&blank[at], &image[at], blocks.block);
        if (found != blank) throw std::runtime_error("UCD does not unpack as it should");
    }

    Run &run_;
    Table table_;
};

} // namespace

void run_memories(Run &run, Rows &rows) {
    int devices = 0;
    check_cuda(cudaGetDeviceCount(&devices), "counting devices");
    if (devices < 2) fmt::print("between devices: skipped, there is one\n");
    Memories table(run);
    for (const Blocks &blocks : shapes)
        for (const Kind from : all_kinds)
            for (const Kind to : all_kinds) {
                const bool host_only = (from == Kind::pinned || from == Kind::pageable) &&
                                       (to == Kind::pinned || to == Kind::pageable);
                if (host_only || ((from == Kind::peer || to == Kind::peer) && devices < 2))
                    continue;
                const std::string name =
                    fmt::format("{}, {} to {}", blocks.name, name_of(from), name_of(to));
                rows.row(name, [&] { table.measure(name, blocks, from, to); });
            }
    fmt::print("\n");
}

} // namespace bench::gpu
