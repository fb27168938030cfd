// Unpacking with an op, beside kernels written by hand and plain unpacking.
#include "check_kernels.hpp"
#include "cuda_work.hpp"
#include "hand_reductions.hpp"
#include "rows.hpp"
#include "ucd_peer.hpp"

#include <fmt/core.h>

#include <optional>
#include <stdexcept>

namespace bench::gpu {
namespace {

using namespace hand;

struct Op {
    const char *name;
    ReductionOp op;
    ucd_op_t ucd;
};
struct ElementOf {
    const char *name;
    ReductionElement element;
    ucd_type_t ucd;
    std::intptr_t bytes;
};
struct LayoutOf {
    const char *name;
    ReductionLayout layout;
};

UcdType type_of(const ElementOf &element, ReductionLayout layout) {
    const std::int64_t block = block_of(layout);
    ucd_type_t made;
    check_ucd(ucd_create_contig(block / element.bytes, element.ucd, UCD_INFO__NULL, &made));
    const UcdType inner(made);
    check_ucd(ucd_create_hvector(reduced_bytes / block, 1, reduced_stride, inner.get(),
                                 UCD_INFO__NULL, &made));
    return UcdType(made);
}

class Reductions {
public:
    explicit Reductions(Run &run)
        : run_(run), table_(run.progress, {{"GB/s of packed bytes, reductions, 64 MiB", 44},
                                           {"UCD", 13},
                                           {"hand", 6},
                                           {"UCD/hand", 8},
                                           {"REPLACE", 7},
                                           {"hand/REPLACE", 12}}) {}

    void measure(const std::string &name, const Op &op, const ElementOf &element,
                 ReductionLayout layout) {
        run_.progress.say(name);
        const std::size_t footprint = static_cast<std::size_t>(
            (reduced_bytes / block_of(layout) - 1) * reduced_stride + block_of(layout));
        Buffer laid_out(footprint, Memory::device), packed(reduced_bytes, Memory::device);
        const UcdType type = type_of(element, layout);
        const Reduction hand = reduction(op.op, element.element, layout);
        const auto unpack = [&](ucd_op_t with) {
            std::uintptr_t moved;
            return ucd_unpack(packed.data(), reduced_bytes, laid_out.data(), 1, type.get(), 0,
                              &moved, UCD_INFO__NULL, with);
        };
        const Contender by_hand{"hand",
                                blocking([&] { hand.combine(laid_out.data(), packed.data()); })};
        const Contender replace{"REPLACE", repeated([&] { check_ucd(unpack(UCD_OP__REPLACE)); })};
        const Contender ucd{"UCD", repeated([&] { check_ucd(unpack(op.ucd)); })};

        set(hand, laid_out, packed);
        const int status = unpack(op.ucd);
        const bool supported = status != UCD_ERR__NOT_SUPPORTED;
        if (supported) {
            check_ucd(status);
            check("UCD", hand, laid_out);
        }
        set(hand, laid_out, packed);
        by_hand.work(1);
        check("the kernel by hand", hand, laid_out);
        set(hand, laid_out, packed);

        std::vector<Contender> contenders{by_hand, replace};
        if (supported) contenders.push_back(ucd);
        const auto r = run_.measure("reductions", name, "unpack", reduced_bytes, contenders);
        table_.row({name, supported ? three_digits(r[2].gigabytes_per_second()) : "not supported",
                    three_digits(r[0].gigabytes_per_second()),
                    supported ? ratio(r[0].seconds() / r[2].seconds()) : "-",
                    three_digits(r[1].gigabytes_per_second()),
                    ratio(r[1].seconds() / r[0].seconds())});
    }

private:
    static void set(const Reduction &hand, Buffer &laid_out, Buffer &packed) {
        check_cuda(cudaMemset(laid_out.data(), blank, laid_out.bytes()), "clearing");
        hand.set(laid_out.data(), packed.data());
        check_cuda(cudaGetLastError(), "filling");
        check_cuda(cudaDeviceSynchronize(), "filling");
    }
    // No byte of the numbers that are set, or of what becomes of them, is blank.
    static void check(const char *who, const Reduction &hand, const Buffer &laid_out) {
        check_cuda(cudaDeviceSynchronize(), who);
        if (hand.count_wrong(laid_out.data()) != 0)
            throw std::runtime_error(fmt::format("{} does not reduce as it should", who));
        if (count_filled(laid_out.data(), laid_out.bytes()) != reduced_bytes)
            throw std::runtime_error(fmt::format("{} stores outside the elements", who));
    }

    Run &run_;
    Table table_;
};

} // namespace

void run_reductions(Run &run, Rows &rows) {
    const Op ops[] = {{"SUM", ReductionOp::sum, UCD_OP__SUM},
                      {"MIN", ReductionOp::min, UCD_OP__MIN},
                      {"MAX", ReductionOp::max, UCD_OP__MAX}};
    const ElementOf elements[] = {{"double", ReductionElement::float64, UCD_TYPE__DOUBLE, 8},
                                  {"float", ReductionElement::float32, UCD_TYPE__FLOAT, 4},
                                  {"int32", ReductionElement::int32, UCD_TYPE__INT32_T, 4},
                                  {"int64", ReductionElement::int64, UCD_TYPE__INT64_T, 8},
                                  {"float16", ReductionElement::float16, UCD_TYPE__FLOAT16, 2}};
    const LayoutOf layouts[] = {{"8 B of 512", ReductionLayout::blocks_of_8},
                                {"128 B of 512", ReductionLayout::blocks_of_128},
                                {"contiguous", ReductionLayout::contiguous}};
    Reductions table(run);
    for (const LayoutOf &layout : layouts)
        for (const ElementOf &element : elements)
            for (const Op &op : ops) {
                const std::string name =
                    fmt::format("{} {}, {}", op.name, element.name, layout.name);
                rows.row(name, [&] { table.measure(name, op, element, layout.layout); });
            }
}

} // namespace bench::gpu
