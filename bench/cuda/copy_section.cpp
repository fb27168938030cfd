// Copies from one layout to another on a device, beside kernels written for the pair, and beside
// what packing and unpacking would take.
#include "cuda_work.hpp"
#include "hand_copies.hpp"
#include "rows.hpp"
#include "ucd_peer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>

namespace bench::gpu {
namespace {

struct Pair {
    std::string name;
    RecipePtr from, to;
    void (*by_hand)(char *, char *);
};

RecipePtr blocks_of(std::intptr_t block, std::intptr_t stride) {
    return recipe(
        HVector{hand::copied_blocks_bytes / block, block, stride, predefined(Element::byte)});
}

std::vector<Pair> pairs() {
    constexpr std::intptr_t side = 4096;
    const auto box = [](std::intptr_t of) {
        return recipe(Subarray{{of, of, of}, {128, 128, 128}, {0, 0, 0}, doubles()});
    };
    return {
        {"matrix to its transpose, N=4096", recipe(Contig{side * side, doubles()}),
         transposed(side), hand::copy_transposed_4096},
        {"128^3 of 512^3 to 128^3 of 256^3", box(512), box(256), hand::copy_box_to_box},
        {"8 B of 512 to 128 B of 512", blocks_of(8, 512), blocks_of(128, 512),
         hand::copy_blocks_8_to_128},
        {"128 B of 512 to 128 B of 1024", blocks_of(128, 512), blocks_of(128, 1024),
         hand::copy_blocks_128_to_128},
    };
}

std::size_t end_of(const std::vector<Segment> &segments) {
    std::intptr_t end = 0;
    for (const Segment &s : segments) end = std::max(end, s.displacement + s.bytes);
    return static_cast<std::size_t>(end);
}

class Copies {
public:
    explicit Copies(Run &run)
        : run_(run), table_(run.progress, {{"GB/s, layout to layout on the device", 44},
                                           {"MiB", 5},
                                           {"UCD", 5},
                                           {"hand", 5},
                                           {"UCD/hand", 8},
                                           {"pack, unpack", 12},
                                           {"ceiling", 7}}) {}

    void measure(const Pair &pair) {
        run_.progress.say(pair.name);
        const std::vector<Segment> in = segments_of(*pair.from), out = segments_of(*pair.to);
        std::size_t bytes = 0;
        for (const Segment &s : in) bytes += static_cast<std::size_t>(s.bytes);
        Buffer source(end_of(in), Memory::device), target(end_of(out), Memory::device);
        Buffer packed(bytes, Memory::device), spare(bytes, Memory::device);
        const UcdType from(*pair.from), to(*pair.to);
        std::uintptr_t moved;
        const Contender ucd{"UCD", repeated([&] {
                                check_ucd(ucd_copy(source.data(), 1, from.get(), target.data(), 1,
                                                   to.get(), &moved, UCD_INFO__NULL,
                                                   UCD_OP__REPLACE));
                            })};
        const Contender hand{"hand", blocking([&] { pair.by_hand(source.data(), target.data()); })};
        const Contender in_two{
            "pack, unpack", repeated([&] {
                check_ucd(ucd_pack(source.data(), 1, from.get(), 0, packed.data(), bytes, &moved,
                                   UCD_INFO__NULL, UCD_OP__REPLACE));
                check_ucd(ucd_unpack(packed.data(), bytes, target.data(), 1, to.get(), 0, &moved,
                                     UCD_INFO__NULL, UCD_OP__REPLACE));
            })};
        const std::vector<char> wanted = fill(source, in, bytes);
        for (const Contender &c : {ucd, hand, in_two}) check(c, target, out, wanted);
        const std::vector<Contender> contenders{
            ucd, hand, in_two, {"ceiling", copy_work(spare.data(), packed.data(), bytes)}};
        const auto r = run_.measure("copies", pair.name, "copy", bytes, contenders);
        table_.row(
            {pair.name, three_digits(static_cast<double>(bytes) / (1 << 20)),
             three_digits(r[0].gigabytes_per_second()), three_digits(r[1].gigabytes_per_second()),
             ratio(r[1].seconds() / r[0].seconds()), three_digits(r[2].gigabytes_per_second()),
             three_digits(r[3].gigabytes_per_second())});
    }

private:
    // Fills the source; its packed bytes.
    static std::vector<char> fill(const Buffer &source, const std::vector<Segment> &in,
                                  std::size_t bytes) {
        std::vector<char> image(source.bytes());
        std::mt19937_64 random(9);
        for (std::size_t i = 0; i + 8 <= image.size(); i += 8) {
            const std::uint64_t value = random();
            std::memcpy(&image[i], &value, sizeof value);
        }
        check_cuda(cudaMemcpy(source.data(), image.data(), image.size(), cudaMemcpyDefault),
                   "filling");
        std::vector<char> packed;
        packed.reserve(bytes);
        for (const Segment &s : in)
            packed.insert(packed.end(), &image[static_cast<std::size_t>(s.displacement)],
                          &image[static_cast<std::size_t>(s.displacement)] + s.bytes);
        return packed;
    }

    static void check(const Contender &c, const Buffer &target, const std::vector<Segment> &out,
                      const std::vector<char> &wanted) {
        constexpr char blank = '\x5a';
        check_cuda(cudaMemset(target.data(), blank, target.bytes()), "clearing");
        synchronise();
        c.work(1);
        std::vector<char> found(target.bytes()), expected(target.bytes(), blank);
        check_cuda(cudaMemcpy(found.data(), target.data(), found.size(), cudaMemcpyDefault),
                   "checking");
        const char *p = wanted.data();
        for (const Segment &s : out) {
            std::memcpy(&expected[static_cast<std::size_t>(s.displacement)], p,
                        static_cast<std::size_t>(s.bytes));
            p += s.bytes;
        }
        if (found != expected)
            throw std::runtime_error(fmt::format("{} does not copy as it should", c.name));
    }

    Run &run_;
    Table table_;
};

} // namespace

void run_copies(Run &run, Rows &rows) {
    Copies table(run);
    for (const Pair &pair : pairs()) rows.row(pair.name, [&] { table.measure(pair); });
    fmt::print("\n");
}

} // namespace bench::gpu
