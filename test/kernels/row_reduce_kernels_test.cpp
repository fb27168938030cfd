// Every kernel that reduces rows of blocks in place, for blocks of every number of elements,
// against a loop over the elements; what lies between the blocks must stay as it is.
#include "kernel_set.h"

#include "support/catch.hpp"
#include "support/random/rng.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace row_reduce_kernels_test {

using namespace ucd;
using namespace ucd::seq;
using ucdtest::Rng;

namespace {

using Bytes = std::vector<unsigned char>;

template <class T>
struct Arithmetic {
    static void fill(Rng &rng, unsigned char *element) {
        // Small numbers of either sign: sums of them are exact in every format.
        const T value = static_cast<T>(static_cast<T>(rng.below(2000)) - static_cast<T>(1000));
        std::memcpy(element, &value, sizeof value);
    }
    static void combine(Op op, unsigned char *out, const unsigned char *in) {
        T a, b;
        std::memcpy(&a, out, sizeof a);
        std::memcpy(&b, in, sizeof b);
        const T result = op == Op::sum   ? static_cast<T>(a + b)
                         : op == Op::max ? std::max(a, b)
                                         : std::min(a, b);
        std::memcpy(out, &result, sizeof result);
    }
};

struct Model {
    std::size_t size;
    void (*fill)(Rng &rng, unsigned char *element);
    void (*combine)(Op op, unsigned char *out, const unsigned char *in);
};

template <class T>
constexpr Model model = {sizeof(T), Arithmetic<T>::fill, Arithmetic<T>::combine};

const Model &model_of(Element element) {
    switch (element) {
    case Element::float32: return model<float>;
    case Element::float64: return model<double>;
    case Element::int32: return model<int32_t>;
    case Element::uint32: return model<uint32_t>;
    case Element::int64: return model<int64_t>;
    case Element::uint64: return model<uint64_t>;
    default: FAIL("no model of this element"); return model<float>;
    }
}

Bytes random_elements(Rng &rng, const Model &of, std::size_t bytes) {
    Bytes result(bytes);
    for (std::size_t i = 0; i + of.size <= bytes; i += of.size) of.fill(rng, &result[i]);
    return result;
}

void check(const RowReduceKernelInfo &kernel, Rng &rng, uint64_t elements) {
    const Model &of = model_of(kernel.element);
    const uint64_t block = elements * of.size;
    const uint64_t count = 1 + rng.below(rng.chance(20) ? 200 : 12);
    const uint64_t gap = rng.chance(30) ? rng.below(4) * of.size : rng.below(300);
    const auto distance = static_cast<int64_t>(block + gap);
    const bool backwards = rng.chance(20);
    const std::size_t guard = 64, shift = rng.below(64);
    // Values at every multiple of the size from each block on; bytes between are any.
    Bytes typed(2 * guard + 64 + static_cast<std::size_t>(distance) * count);
    for (unsigned char &b : typed) b = static_cast<unsigned char>(rng.bits());
    const std::size_t first =
        guard + shift + (backwards ? static_cast<std::size_t>(distance) * (count - 1) : 0);
    const int64_t stride = backwards ? -distance : distance;
    Bytes packed = random_elements(rng, of, guard + shift + block * count);
    packed.insert(packed.begin(), guard, 0xa5);
    packed.insert(packed.end(), guard, 0x5a);
    const std::size_t packed_first = guard; // as its elements are aligned, or not
    for (uint64_t i = 0; i < count; ++i)
        for (uint64_t j = 0; j < elements; ++j)
            of.fill(rng, &typed[first + static_cast<std::size_t>(static_cast<int64_t>(i) * stride) +
                                j * of.size]);
    Bytes expected_typed = typed, expected_packed = packed;
    for (uint64_t i = 0; i < count; ++i)
        for (uint64_t j = 0; j < elements; ++j) {
            const std::size_t there =
                first + static_cast<std::size_t>(static_cast<int64_t>(i) * stride) + j * of.size;
            const std::size_t here = packed_first + (i * elements + j) * of.size;
            if (kernel.direction == Direction::pack)
                of.combine(kernel.op, &expected_packed[here], &typed[there]);
            else
                of.combine(kernel.op, &expected_typed[there], &packed[here]);
        }
    kernel.function(reinterpret_cast<char *>(&typed[first]), stride, count, block,
                    reinterpret_cast<char *>(&packed[packed_first]));
    INFO(kernel.name() << ", " << count << " blocks of " << elements << " elements, stride "
                     << stride);
    CHECK(typed == expected_typed);
    CHECK(packed == expected_packed);
}

} // namespace

TEST_CASE("every kernel that reduces rows in place") {
    Rng rng(20261123);
    for (const KernelSet *set : kernel_sets())
        for (const RowReduceKernelInfo &kernel : set->row_reductions) {
            INFO(set->instructions);
            for (uint64_t elements = 1; elements <= 90; ++elements) check(kernel, rng, elements);
            for (int i = 0; i < 60; ++i) check(kernel, rng, 1 + rng.below(3));
        }
}

TEST_CASE("rows of single elements that come from memory") {
    Rng rng(20261124);
    for (const KernelSet *set : kernel_sets())
        for (const RowReduceKernelInfo &kernel : set->row_reductions) {
            if (kernel.element != Element::float64) continue;
            const Model &of = model_of(kernel.element);
            constexpr std::size_t count = 20000, stride = 64;
            Bytes typed = random_elements(rng, of, count * stride);
            Bytes packed = random_elements(rng, of, count * of.size);
            Bytes expected_typed = typed, expected_packed = packed;
            const bool pack = kernel.direction == Direction::pack;
            for (std::size_t i = 0; i < count; ++i)
                of.combine(kernel.op, pack ? &expected_packed[i * 8] : &expected_typed[i * stride],
                           pack ? &typed[i * stride] : &packed[i * 8]);
            kernel.function(reinterpret_cast<char *>(typed.data()), stride, count, of.size,
                            reinterpret_cast<char *>(packed.data()));
            INFO(set->instructions << " " << kernel.name());
            CHECK(typed == expected_typed);
            CHECK(packed == expected_packed);
        }
}

} // namespace row_reduce_kernels_test
