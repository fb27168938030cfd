// Packing and unpacking with an op, beside fused loops by hand and beside REPLACE.
#include "hand_reductions.hpp"
#include "sections.hpp"
#include "ucd_peer.hpp"
#include "workbench.hpp"

#include <fmt/core.h>

#include <bit>
#include <cstring>
#include <stdexcept>

namespace bench {
namespace {

struct NumberFacts {
    const char *name;
    std::int64_t bytes;
    ucd_type_t type;
};

NumberFacts facts_of(Number number) {
    switch (number) {
    case Number::float32: return {"float", 4, UCD_TYPE__FLOAT};
    case Number::float64: return {"double", 8, UCD_TYPE__DOUBLE};
    case Number::int32: return {"int32", 4, UCD_TYPE__INT32_T};
    case Number::int64: return {"int64", 8, UCD_TYPE__INT64_T};
    case Number::float16: return {"float16", 2, UCD_TYPE__FLOAT16};
    case Number::bfloat16: return {"bfloat16", 2, UCD_TYPE__BFLOAT16};
    }
    throw std::logic_error("no such number");
}

const char *name_of(ReductionOp op) {
    return op == ReductionOp::sum ? "SUM" : op == ReductionOp::min ? "MIN" : "MAX";
}

ucd_op_t op_of(ReductionOp op) {
    return op == ReductionOp::sum   ? UCD_OP__SUM
           : op == ReductionOp::min ? UCD_OP__MIN
                                    : UCD_OP__MAX;
}

int reduced(ReductionOp op, int a, int b) {
    return op == ReductionOp::sum   ? a + b
           : op == ReductionOp::min ? std::min(a, b)
                                    : std::max(a, b);
}

// A small number, in each format the same.
void put(Number number, char *to, int value) {
    const auto as = [to](auto v) { std::memcpy(to, &v, sizeof v); };
    switch (number) {
    case Number::float32: return as(static_cast<float>(value));
    case Number::float64: return as(static_cast<double>(value));
    case Number::int32: return as(std::int32_t{value});
    case Number::int64: return as(std::int64_t{value});
    case Number::bfloat16:
        return as(static_cast<std::uint16_t>(
            std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16));
    case Number::float16: {
        const int exponent = std::bit_width(static_cast<unsigned>(value)) - 1;
        return as(static_cast<std::uint16_t>(
            value == 0 ? 0 : (exponent + 15) << 10 | ((value << (10 - exponent)) & 0x3ff)));
    }
    }
}

// Blocks of one element kind in memory, and the packed elements.
class Operands {
public:
    Operands(const ReductionLoops &l, std::int64_t packed_bytes)
        : loops_(l), facts_(facts_of(l.number)), count_(packed_bytes / (l.length * facts_.bytes)),
          number_(count_ * l.length),
          laid_out_(static_cast<std::size_t>(count_ * l.stride * facts_.bytes)),
          packed_(static_cast<std::size_t>(number_ * facts_.bytes), 21 * 64), type_(make_type()) {}

    std::int64_t bytes() const { return number_ * facts_.bytes; }

    std::vector<Contender> contenders(bool pack) {
        const auto by_ucd = [=, this](ucd_op_t op) {
            return repeated([=, this] { move(pack, op); });
        };
        const ReductionLoop loop = pack ? loops_.pack : loops_.unpack;
        return {{"UCD", by_ucd(op_of(loops_.op))},
                {"hand", repeated([=, this] { loop(laid_out_.data(), packed_.data(), count_); })},
                {"REPLACE", by_ucd(UCD_OP__REPLACE)}};
    }

    void check(const Contender &c, bool pack) {
        for (std::int64_t i = 0; i < number_; ++i) {
            put(loops_.number, element(laid_out_, place(i)), left(i));
            put(loops_.number, element(packed_, i), right(i));
        }
        c.work(1);
        for (std::int64_t i = 0; i < number_; ++i) {
            char expected[8];
            put(loops_.number, expected, reduced(loops_.op, left(i), right(i)));
            const char *const found = pack ? element(packed_, i) : element(laid_out_, place(i));
            if (std::memcmp(found, expected, static_cast<std::size_t>(facts_.bytes)) != 0)
                throw std::runtime_error(fmt::format("{}: element {} is wrong", c.name, i));
        }
    }

    // So that what is timed are numbers, however often they are added.
    void settle() {
        for (std::int64_t i = 0; i < number_; ++i) {
            put(loops_.number, element(laid_out_, place(i)), 0);
            put(loops_.number, element(packed_, i), 0);
        }
    }

private:
    UcdType make_type() const {
        ucd_type_t type;
        check_ucd(ucd_create_vector(count_, loops_.length, loops_.stride, facts_.type,
                                    UCD_INFO__NULL, &type));
        return UcdType(type);
    }
    void move(bool pack, ucd_op_t op) const {
        std::uintptr_t moved;
        const auto size = static_cast<std::uintptr_t>(bytes());
        if (pack)
            check_ucd(ucd_pack(laid_out_.data(), 1, type_.get(), 0, packed_.data(), size, &moved,
                               UCD_INFO__NULL, op));
        else
            check_ucd(ucd_unpack(packed_.data(), size, laid_out_.data(), 1, type_.get(), 0, &moved,
                                 UCD_INFO__NULL, op));
    }
    static int left(std::int64_t i) { return static_cast<int>(i * 7 % 16); }
    static int right(std::int64_t i) { return static_cast<int>(i * 5 % 13); }
    std::int64_t place(std::int64_t i) const {
        return i / loops_.length * loops_.stride + i % loops_.length;
    }
    char *element(const Buffer &buffer, std::int64_t i) const {
        return buffer.data() + i * facts_.bytes;
    }

    const ReductionLoops &loops_;
    const NumberFacts facts_;
    const std::int64_t count_, number_;
    Buffer laid_out_, packed_;
    UcdType type_;
};

} // namespace

void run_reductions(Run &run) {
    Table table(run.progress, {{"GB/s of packed bytes", 30},
                               {"KiB", 5},
                               {"pack", 5},
                               {"hand", 5},
                               {"UCD/hand", 8},
                               {"time/REPLACE", 12},
                               {"unpack", 6},
                               {"hand", 5},
                               {"UCD/hand", 8},
                               {"time/REPLACE", 12}});
    for (const ReductionLoops &loops : hand::reductions())
        for (const std::int64_t kib : {16, 8192}) {
            const std::string shape = loops.length == loops.stride
                                          ? "contiguous"
                                          : fmt::format("{} of {}", loops.length, loops.stride);
            const std::string name =
                fmt::format("{} {}, {}", name_of(loops.op), facts_of(loops.number).name, shape);
            // Blocks of many elements stand for consecutive ones.
            if (!run.wants(name) || kib * 1024 < loops.length * facts_of(loops.number).bytes)
                continue;
            run.progress.say(fmt::format("{}, {} KiB", name, kib));
            Operands operands(loops, kib * 1024);
            std::vector<std::string> cells{name, fmt::format("{}", kib)};
            for (const bool pack : {true, false}) {
                const std::vector<Contender> contenders = operands.contenders(pack);
                for (std::size_t i = 0; i < 2; ++i) // not REPLACE
                    operands.check(contenders[i], pack);
                operands.settle();
                const auto r = run.measure(
                    "reductions", fmt::format("{}, {} KiB", name, kib), pack ? "pack" : "unpack",
                    static_cast<std::uint64_t>(operands.bytes()), contenders);
                cells.push_back(three_digits(r[0].gigabytes_per_second()));
                cells.push_back(three_digits(r[1].gigabytes_per_second()));
                cells.push_back(ratio(r[1].seconds() / r[0].seconds()));
                cells.push_back(ratio(r[0].seconds() / r[2].seconds()));
            }
            table.row(cells);
        }
    fmt::print("\n");
}

} // namespace bench
