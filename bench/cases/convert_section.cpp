// Conversions while moving, beside moving first and converting afterwards.
#include "baselines/conversions.hpp"
#include "cases/sections.hpp"
#include "harness/ucd_peer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

struct Conversion {
    const char *name;
    ucd_type_t from, to;
    std::int64_t from_bytes, to_bytes; // of an element
    hand::ConversionLoop loop;         // null: not written
};

const Conversion conversions[] = {
    {"float to bfloat16", UCD_TYPE__FLOAT, UCD_TYPE__BFLOAT16, 4, 2, hand::float_to_bfloat16},
    {"bfloat16 to float", UCD_TYPE__BFLOAT16, UCD_TYPE__FLOAT, 2, 4, hand::bfloat16_to_float},
    {"float to float16", UCD_TYPE__FLOAT, UCD_TYPE__FLOAT16, 4, 2, nullptr},
    {"float16 to float", UCD_TYPE__FLOAT16, UCD_TYPE__FLOAT, 2, 4, nullptr},
    {"bfloat16 to e4m3", UCD_TYPE__BFLOAT16, UCD_TYPE__FLOAT8_E4M3, 2, 1, nullptr},
    {"bfloat16 to e5m2", UCD_TYPE__BFLOAT16, UCD_TYPE__FLOAT8_E5M2, 2, 1, nullptr},
    {"float to e4m3", UCD_TYPE__FLOAT, UCD_TYPE__FLOAT8_E4M3, 4, 1, nullptr},
    {"e4m3 to bfloat16", UCD_TYPE__FLOAT8_E4M3, UCD_TYPE__BFLOAT16, 1, 2, nullptr},
    {"e4m3 to float", UCD_TYPE__FLOAT8_E4M3, UCD_TYPE__FLOAT, 1, 4, nullptr},
    {"double to float", UCD_TYPE__DOUBLE, UCD_TYPE__FLOAT, 8, 4, hand::double_to_float},
    {"float to double", UCD_TYPE__FLOAT, UCD_TYPE__DOUBLE, 4, 8, hand::float_to_double},
    {"int32 to float", UCD_TYPE__INT32_T, UCD_TYPE__FLOAT, 4, 4, hand::int32_to_float},
    {"uint8 to float", UCD_TYPE__UINT8_T, UCD_TYPE__FLOAT, 1, 4, hand::uint8_to_float},
};

// Elements of a matrix of `side` times `side`.
struct Shape {
    const char *name;
    // The elements in another order or with gaps, from `bytes` of an element on.
    ucd_type_t (*create)(std::int64_t side, std::int64_t bytes, ucd_type_t element);
};

ucd_type_t created(int rc, ucd_type_t type) {
    check_ucd(rc);
    return type;
}

ucd_type_t contiguous(std::int64_t side, std::int64_t, ucd_type_t element) {
    ucd_type_t type;
    const int rc = ucd_create_contig(side * side, element, UCD_INFO__NULL, &type);
    return created(rc, type);
}
ucd_type_t rows(std::int64_t side, std::int64_t, ucd_type_t element) {
    ucd_type_t type;
    const int rc = ucd_create_vector(side * side / 64, 64, 96, element, UCD_INFO__NULL, &type);
    return created(rc, type);
}
ucd_type_t transposed(std::int64_t side, std::int64_t bytes, ucd_type_t element) {
    ucd_type_t column, shifted, type;
    check_ucd(ucd_create_vector(side, 1, side, element, UCD_INFO__NULL, &column));
    check_ucd(ucd_create_resized(column, 0, bytes, UCD_INFO__NULL, &shifted));
    const int rc = ucd_create_contig(side, shifted, UCD_INFO__NULL, &type);
    ucd_free(&column);
    ucd_free(&shifted);
    return created(rc, type);
}

constexpr Shape matrix_shapes[] = {
    {"contiguous", contiguous}, {"64 of 96", rows}, {"transposed", transposed}};

// The layout of the shape is the input's; the output is contiguous.
class ConvertedMatrix {
public:
    ConvertedMatrix(Device &device, const Conversion &conversion, const Shape &shape,
                    std::int64_t side)
        : device_(device), conversion_(conversion), elements_(side * side),
          type_(shape.create(side, conversion.from_bytes, conversion.from)),
          in_(device, std::max(packed_bytes() * 3 / 2, copied_bytes())),
          packed_(device, std::max(packed_bytes(), copied_bytes())),
          out_(device, size(elements_ * conversion.to_bytes)),
          other_(device, size(elements_ * conversion.to_bytes)) {
        // Small numbers, so that nothing depends on what is made of NaNs.
        device.set(in_.data(), 0x3c, in_.bytes());
    }

    std::uint64_t bytes() const { return packed_bytes() + out_.bytes(); }

    std::vector<Contender> contenders() {
        std::vector<Contender> all{
            {"UCD", repeated([this] { convert(type_.get(), 1, in_.data(), out_.data()); })},
            {"in two steps", repeated([this] {
                 UcdMove{type_.get(), in_.data(), packed_.data(), 0, packed_bytes()}.pack();
                 convert_packed(other_.data());
             })},
            {"ceiling", copy_work(device_, packed_.data(), in_.data(), copied_bytes())}};
        all[0].work(1);
        all[1].work(1);
        if (device_.count_different(out_.data(), other_.data(), out_.bytes()) != 0)
            throw std::runtime_error("the two ways give other bits");
        return all;
    }

private:
    static std::size_t size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }
    std::size_t packed_bytes() const { return size(elements_ * conversion_.from_bytes); }
    // A copy that reads and writes as many bytes in all as a conversion does.
    std::size_t copied_bytes() const {
        return size(elements_ * (conversion_.from_bytes + conversion_.to_bytes) / 2);
    }

    void convert(ucd_type_t type, std::uintptr_t count, const char *from, char *to) const {
        std::uintptr_t written;
        check_ucd(ucd_copy(from, count, type, to, static_cast<std::uintptr_t>(elements_),
                           conversion_.to, &written, UCD_INFO__NULL, UCD_OP__CONVERT));
    }
    void convert_packed(char *to) const {
        if (conversion_.loop != nullptr && !device_.is_gpu())
            conversion_.loop(to, packed_.data(), elements_);
        else
            convert(conversion_.from, static_cast<std::uintptr_t>(elements_), packed_.data(), to);
    }

    Device &device_;
    const Conversion &conversion_;
    const std::int64_t elements_;
    const UcdType type_;
    const Buffer in_, packed_, out_, other_;
};

} // namespace

void run_conversions(const Setting &s) {
    Table table(s.run.progress,
                {column::subject("GB/s read and written, conversions", 40), column::rate("UCD", 6),
                 column::rate("in two steps", 12), column::speedup("UCD", "in two steps", 10),
                 column::rate("ceiling", 7), column::speedup("UCD", "ceiling", 11, "of ceiling")});
    const std::vector<std::int64_t> sides =
        s.device.is_gpu() ? std::vector<std::int64_t>{4096} : std::vector<std::int64_t>{64, 2048};
    for (const Conversion &conversion : conversions)
        for (const Shape &shape : matrix_shapes)
            for (const std::int64_t side : sides) {
                const std::string subject =
                    fmt::format("{}, {}, {}^2", conversion.name, shape.name, side);
                s.run.row(subject, [&] {
                    ConvertedMatrix matrix(s.device, conversion, shape, side);
                    table.row(s.run.measure("conversions", subject, "convert", matrix.bytes(),
                                            matrix.contenders()));
                });
            }
    fmt::print("\n");
}

} // namespace bench
