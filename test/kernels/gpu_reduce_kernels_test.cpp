// Every kernel of the GPU backends that reduces, launched by itself, in each of the ways that it
// takes its elements, against a scalar formulation; what lies between the elements must stay as it
// is.
#include "kernels/reduce_kernels.h"
#include "params/reduce.h"
#include "plan/make_divisor.h"

#include "support/catch.hpp"
#include "support/element_types.hpp"
#include "support/fake_device/fake_driver.h"
#include "support/oracle/reduction_oracle.hpp"
#include "support/random/reduction_values.hpp"

#include <bit>
#include <cstddef>
#include <string>
#include <vector>

namespace gpu_reduce_kernels_test {

using namespace ucd;
using namespace ucd::gpu;
using namespace ucd::hostgpu;
using namespace ucdtest;

namespace {

constexpr std::size_t guard = 64;

// Memory of a device, and what it is expected to hold.
struct Side {
    std::vector<std::byte> bytes;
    char *memory;

    explicit Side(Rng &rng, std::size_t size) : bytes(size) {
        memory = static_cast<char *>(mock::allocate(MemoryKind::device, 0, size));
        for (std::byte &b : bytes) b = static_cast<std::byte>(rng.bits());
    }
    ~Side() { mock::release(memory); }
    Side(const Side &) = delete;
    Side &operator=(const Side &) = delete;
    uintptr_t address() const { return reinterpret_cast<uintptr_t>(memory); }
    void send() { mock::write(memory, bytes.data(), bytes.size()); }
    bool holds() const {
        std::vector<std::byte> found(bytes.size());
        mock::read(found.data(), memory, found.size());
        return found == bytes;
    }
};

// `count` elements, `stride` bytes apart, against as many packed ones behind `before` bytes, or
// both sides behind them.
struct Arrangement {
    std::size_t count, stride, before;
    bool both = false;
    std::size_t typed_at() const { return guard + (both ? before : 0); }
};
template <class Params>
void check(const Reduction &r, const void *kernel, Direction direction, const Arrangement &a,
           Rng &rng, Params describe) {
    const Predefined &type = predefined(public_type(r.element));
    const std::size_t size = packed_size(r.element);
    const auto op = static_cast<ucd_op_t>(r.op);
    Side typed(rng, guard + a.typed_at() + a.count * a.stride),
        packed(rng, 2 * guard + a.before + a.count * size);
    const auto typed_at = [&](std::size_t i) { return a.typed_at() + i * a.stride; };
    const auto packed_at = [&](std::size_t i) { return guard + a.before + i * size; };
    for (std::size_t i = 0; i < a.count; ++i) {
        random_value(rng, type, typed.bytes.data() + typed_at(i));
        random_value(rng, type, packed.bytes.data() + packed_at(i));
    }
    typed.send();
    packed.send();
    for (std::size_t i = 0; i < a.count; ++i) {
        std::byte *const in = typed.bytes.data() + typed_at(i), *const out = packed.bytes.data() +
                                                                             packed_at(i);
        if (direction == Direction::pack)
            reduce_element(op, type, out, in);
        else
            reduce_element(op, type, in, out);
    }
    auto params = describe(typed.address() + a.typed_at(), packed.address() + guard + a.before);
    params.direction = direction;
    void *arguments[] = {&params};
    mock::Stream stream(0);
    // Two blocks, which go over it several times.
    REQUIRE(gpuLaunchKernel(kernel, dim3(2), dim3(threads_per_block), arguments, 0, &stream) ==
            gpuSuccess);
    stream.synchronise();
    CHECK(stream.failure() == "");
    CHECK(typed.holds());
    CHECK(packed.holds());
}

// A strided level, or one without holes.
ReduceParams strided_params(const Arrangement &a, std::size_t size, unsigned word, ReduceBy by,
                            uintptr_t typed, uintptr_t packed) {
    ReduceParams p{};
    p.by = by;
    if (a.stride != size) p.levels = 1;
    p.shift = static_cast<uint8_t>(std::countr_zero(word));
    NestParams &n = p.nest;
    n.level[0] = {make_divisor(size / word), static_cast<int32_t>(a.stride / word)};
    n.typed = typed;
    if (by == ReduceBy::elements) {
        n.packed = packed;
        n.vectors = static_cast<uint32_t>(a.count);
        return p;
    }
    const uintptr_t head = packed % vector_bytes, end = packed + a.count * size;
    n.packed = packed - head;
    n.head = static_cast<uint32_t>(head);
    n.first_word = static_cast<uint32_t>(-static_cast<int64_t>(head / word));
    n.typed = word == vector_bytes ? typed - head : typed;
    n.vectors = static_cast<uint32_t>((end - n.packed + vector_bytes - 1) / vector_bytes);
    n.tail = static_cast<uint32_t>(end - n.packed - (n.vectors - 1) * vector_bytes);
    return p;
}

ReduceAnyParams any_params(const Reduction &r, const Arrangement &a, std::size_t size,
                           unsigned width, uintptr_t typed, uintptr_t packed) {
    ReduceAnyParams p{};
    p.element = r.element;
    p.kinds[static_cast<unsigned>(r.element)] = {r.number, static_cast<uint8_t>(size)};
    p.width = width;
    p.layout.typed = typed;
    const uintptr_t head = packed % vector_bytes, end = packed + a.count * size;
    p.packed = packed - head;
    p.position = uint64_t{0} - head;
    p.head = static_cast<uint32_t>(head);
    p.vectors = (end - p.packed + vector_bytes - 1) / vector_bytes;
    p.tail = static_cast<uint32_t>(end - p.packed - (p.vectors - 1) * vector_bytes);
    return p;
}

constexpr std::size_t counts[] = {1, 2, 3, 7, 16, 33, 1000, 5001};

} // namespace

TEST_CASE("the kernels of an element, in every way that they are used") {
    mock::reset();
    for (const Reduction &r : reductions()) {
        const ReduceKernel &kernel = *reduce_kernel(r.op, r.element);
        CHECK(&kernel == &reduce_kernels()[r.number]);
        if (kernel.handle == nullptr) continue;
        const std::size_t size = packed_size(r.element);
        Rng rng(mix_seed(static_cast<uint64_t>(r.element), kernel.name));
        for (const Direction direction : {Direction::pack, Direction::unpack})
            for (const std::size_t count : counts) {
                INFO(kernel.name << ", element " << static_cast<int>(r.element) << ", direction "
                                 << static_cast<int>(direction) << ", " << count);
                const auto by = [&](ReduceBy way, unsigned word, const Arrangement &a) {
                    INFO("way " << static_cast<int>(way) << ", words of " << word << ", "
                                << a.before << " bytes before");
                    check(r, kernel.handle, direction, a, rng, [&](uintptr_t l, uintptr_t p) {
                        return strided_params(a, size, word, way, l, p);
                    });
                };
                const auto element_word = static_cast<unsigned>(size < 8 ? size : 8);
                for (std::size_t before = 0; before < 16; before += size) {
                    by(ReduceBy::vectors, 16, {count, size, before, true});
                    by(ReduceBy::elements, element_word, {count, 3 * size, before});
                    by(ReduceBy::elements, element_word, {count, size, before});
                }
                if (size == 16) by(ReduceBy::elements, 8, {count, 2 * size, 8});
            }
    }
}

TEST_CASE("the kernel for any elements knows all of them, at any address") {
    mock::reset();
    for (const Reduction &r : reductions()) {
        const ReduceKernel &kernel = *reduce_kernel(r.op, r.element);
        const std::size_t size = packed_size(r.element);
        Rng rng(mix_seed(static_cast<uint64_t>(r.element), kernel.name));
        for (const Direction direction : {Direction::pack, Direction::unpack})
            for (const std::size_t count : {1, 2, 5, 64, 1000})
                for (const std::size_t before : {0, 1, 2, 4, 8}) {
                    INFO(kernel.name << ", element " << static_cast<int>(r.element)
                                     << ", direction " << static_cast<int>(direction) << ", "
                                     << count << " behind " << before);
                    const Arrangement a{count, size, before};
                    const unsigned width = before == 0 ? 16 : static_cast<unsigned>(before);
                    check(r, reduce_any_kernel(), direction, a, rng, [&](uintptr_t l, uintptr_t p) {
                        return any_params(r, a, size, width, l, p);
                    });
                }
    }
}

TEST_CASE("devices reduce what the contract defines, but for long double") {
    const Element long_doubles[] = {Element::x87_80,         Element::binary128,
                                    Element::complex_x87_80, Element::complex_binary128,
                                    Element::x87_80_int32,   Element::binary128_int32};
    for (int o = 1; o < static_cast<int>(Op::count_); ++o)
        for (int e = 0; e < static_cast<int>(Element::count_); ++e) {
            const auto op = static_cast<Op>(o);
            const auto element = static_cast<Element>(e);
            INFO("op " << o << ", element " << e);
            bool expected = is_reduction(op) && (defined_ops(element) & op_bit(op)) != 0;
            for (const Element long_double : long_doubles)
                expected = expected && element != long_double;
            CHECK((reduce_kernel(op, element) != nullptr) == expected);
        }
}

} // namespace gpu_reduce_kernels_test
