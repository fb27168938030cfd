// Packing and unpacking with an op, beside moves by hand and beside REPLACE.
#include "cases/sections.hpp"
#include "harness/content.hpp"
#include "harness/ucd_peer.hpp"

#include <fmt/core.h>

#include <algorithm>
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

// A small number, in each format the same. None has a blank byte.
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
        const int size = std::abs(value),
                  exponent = std::bit_width(static_cast<unsigned>(size)) - 1;
        const int bits =
            size == 0 ? 0 : (exponent + 15) << 10 | ((size << (10 - exponent)) & 0x3ff);
        return as(static_cast<std::uint16_t>(bits | (value < 0 ? 0x8000 : 0)));
    }
    }
}

// Blocks of one kind of element in memory, and the packed elements.
class Operands {
public:
    Operands(Device &device, const ReductionMoves &moves, std::int64_t packed_bytes)
        : device_(device), moves_(moves), facts_(facts_of(moves.number)),
          block_(moves.length * facts_.bytes), count_(packed_bytes / block_),
          typed_(device, static_cast<std::size_t>(count_ * moves.stride * facts_.bytes)),
          packed_(device, static_cast<std::size_t>(count_ * block_), MemoryKind::own, 21 * 64),
          gathered_(device, packed_.bytes()),
          type_(make_type()), boxes_{{block_, {{1, 0}, {count_, moves.stride * facts_.bytes}}}} {}

    std::size_t bytes() const { return packed_.bytes(); }

    // UCD and by hand are checked.
    std::vector<Contender> contenders(bool pack) {
        const ReductionMove by_hand = pack ? moves_.pack : moves_.unpack;
        std::vector<Contender> all{{"UCD", by_ucd(pack, op_of(moves_.op))},
                                   {"hand", blocking(device_, [=, this] {
                                        by_hand(typed_.data(), packed_.data(), count_);
                                    })}};
        for (const Contender &c : all) check(c, pack);
        all.push_back({"REPLACE", by_ucd(pack, UCD_OP__REPLACE)});
        // So that what is timed are numbers, however often they are added.
        set_typed(zero);
        set_packed(zero);
        return all;
    }

private:
    using Value = int (*)(std::int64_t element);
    static int zero(std::int64_t) { return 0; }
    static int left(std::int64_t i) { return static_cast<int>(i * 7 % 16) - 5; }
    static int right(std::int64_t i) { return static_cast<int>(i * 5 % 13) - 6; }

    UcdType make_type() const {
        ucd_type_t type;
        check_ucd(ucd_create_vector(count_, moves_.length, moves_.stride, facts_.type,
                                    UCD_INFO__NULL, &type));
        return UcdType(type);
    }
    Work by_ucd(bool pack, ucd_op_t op) const {
        return ucd_work(
            {type_.get(), typed_.data(), packed_.data(), 0, bytes(), UCD_INFO__NULL, op}, pack);
    }

    std::vector<char> stream(const auto &value) const {
        std::vector<char> all(bytes());
        for (std::int64_t i = 0; i < count_ * moves_.length; ++i)
            put(moves_.number, all.data() + i * facts_.bytes, value(i));
        return all;
    }
    void set_packed(Value value) {
        const std::vector<char> all = stream(value);
        device_.copy(packed_.data(), all.data(), all.size());
    }
    void set_typed(Value value) {
        const std::vector<char> all = stream(value);
        device_.set(typed_.data(), blank, typed_.bytes());
        device_.copy(gathered_.data(), all.data(), all.size());
        device_.start_boxes(boxes_, typed_.data(), gathered_.data(), false);
        device_.wait();
    }

    void check(const Contender &c, bool pack) {
        set_typed(left);
        set_packed(right);
        c.work(1);
        if (!pack) {
            device_.start_boxes(boxes_, typed_.data(), gathered_.data(), true);
            device_.wait();
        }
        std::vector<char> found(bytes());
        device_.copy(found.data(), pack ? packed_.data() : gathered_.data(), found.size());
        if (found !=
            stream([this](std::int64_t i) { return reduced(moves_.op, left(i), right(i)); }))
            throw std::runtime_error(fmt::format("{} does not reduce as it should", c.name));
        if (device_.count_filled(typed_.data(), typed_.bytes()) != bytes())
            throw std::runtime_error(fmt::format("{} stores outside the elements", c.name));
    }

    Device &device_;
    const ReductionMoves &moves_;
    const NumberFacts facts_;
    const std::int64_t block_, count_;
    Buffer typed_, packed_, gathered_;
    UcdType type_;
    Boxes boxes_; // what the type has
};

// In bytes for GPUs, where a block is some bytes of whatever element.
std::string shape_of(const ReductionMoves &m, bool in_bytes) {
    if (m.length == m.stride) return "contiguous";
    const std::int64_t unit = in_bytes ? facts_of(m.number).bytes : 1;
    return fmt::format("{}{} of {}", m.length * unit, in_bytes ? " B" : "", m.stride * unit);
}

} // namespace

void measure_reductions(const Setting &s, std::span<const ReductionMoves> all,
                        const std::vector<std::int64_t> &sizes) {
    Table table(s.run.progress, {{"GB/s of packed bytes, reductions", 32},
                                 column::kib(5),
                                 column::operation(),
                                 column::rate("UCD", 5),
                                 column::rate("hand", 5),
                                 column::speedup("UCD", "hand", 8),
                                 column::rate("REPLACE", 7),
                                 column::speedup("REPLACE", "UCD", 12, "time/REPLACE"),
                                 column::speedup("hand", "REPLACE", 12)});
    for (const ReductionMoves &moves : all)
        for (const std::int64_t kib : sizes) {
            // Blocks of many elements stand for consecutive ones.
            if (kib * 1024 < moves.length * facts_of(moves.number).bytes) continue;
            const std::string name =
                fmt::format("{} {}, {}", name_of(moves.op), facts_of(moves.number).name,
                            shape_of(moves, s.device.is_gpu()));
            const std::string subject =
                sizes.size() == 1 ? name : fmt::format("{}, {} KiB", name, kib);
            s.run.row(subject, [&] {
                Operands operands(s.device, moves, kib * 1024);
                for (const bool pack : {true, false})
                    if ((pack ? moves.pack : moves.unpack) != nullptr)
                        table.row(s.run.measure("reductions", subject, pack ? "pack" : "unpack",
                                                operands.bytes(), operands.contenders(pack)),
                                  {name});
            });
        }
    fmt::print("\n");
}

void cpu::run_reductions(const Setting &s) {
    measure_reductions(s, hand::reductions(), {16, 8192});
}

} // namespace bench
