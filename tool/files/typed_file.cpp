#include "files/typed_file.hpp"

#include "commands/source.hpp"
#include "failure.hpp"
#include "files/slice.hpp"
#include "language/constructors.hpp"
#include "language/nearest.hpp"
#include "language/parse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace ucdtool {
namespace {

ucd::Type element_type(const Npy &npy) {
    const ucd_type_t known = type_of_dtype(npy.descr);
    return known != UCD_TYPE__NULL
               ? ucd::Type::dup(known)
               : ucd::Type::contig(static_cast<intptr_t>(npy.item_bytes), UCD_TYPE__BYTE);
}

// Parses a shape, for example "512,512,512".
std::vector<intptr_t> shape_of(const std::string &text) {
    std::vector<intptr_t> shape;
    uint64_t elements = 1;
    const char *at = text.data(), *const end = at + text.size();
    for (;;) {
        intptr_t size = 0;
        const auto [rest, error] = std::from_chars(at, end, size);
        const bool fits =
            error == std::errc() && size >= 0 &&
            !__builtin_mul_overflow(elements, std::max<intptr_t>(size, 1), &elements) &&
            elements <= static_cast<uint64_t>(INT64_MAX) / 64;
        if (!fits || (rest != end && *rest != ','))
            throw Failure(Exit::usage,
                          fmt::format("shape is '{}'; it must be sizes such as 6,5,8", text));
        shape.push_back(size);
        if (rest == end) return shape;
        at = rest + 1;
    }
}

} // namespace

PackedArray packed_array(const TypedFile &in) {
    const uint64_t bytes = in.layout().bytes;
    if (in.shape()) return {in.dtype(), *in.shape()};
    if (in.dtype().empty()) return {"|u1", {static_cast<intptr_t>(bytes)}};
    return {in.dtype(), {static_cast<intptr_t>(bytes / in.item_bytes())}};
}

void default_to_array(LayoutOptions &missing, const PackedArray &array) {
    const bool said = !missing.type.empty() || !missing.slice.empty() || !missing.shape.empty();
    const ucd_type_t element = type_of_dtype(array.dtype);
    if (said || element == UCD_TYPE__NULL || !is_npy_name(missing.path) || exists(missing.path))
        return;
    missing.shape = fmt::format("{}", fmt::join(array.shape, ","));
    missing.dtype = name_of(element);
}

bool is_npy_name(const std::string &path) {
    return path.ends_with(".npy");
}

bool are_bytes(ucd_type_t element, const std::string &dtype) {
    return element == UCD_TYPE__BYTE && dtype == "|u1";
}

void check_dtype(const Npy &npy, ucd_type_t element, const std::string &dtype,
                 const std::string &path) {
    if (npy.descr == dtype || are_bytes(element, dtype)) return;
    const std::string made_of = element == UCD_TYPE__NULL   ? "several types"
                                : element == UCD_TYPE__BYTE ? dtype
                                                            : name_of(element);
    throw Failure(Exit::usage,
                  fmt::format("{}: its elements are {}; the type is made of {}; --as-is takes the "
                              "bytes as they are",
                              path, npy.descr, made_of));
}

TypedFile::TypedFile(const LayoutOptions &options, Access access)
    : options_(options), count_(options.count) {
    if (!options_.type.empty()) type_ = type_from_argument(options_.type);
    if (access == Access::create && !exists(options_.path)) {
        prepare_missing();
        return;
    }
    file_ = MappedFile(options_.path, access == Access::read ? MappedFile::Access::read
                                                             : MappedFile::Access::write);
    const bool npy_file = is_npy(file_.bytes());
    if (!npy_file && is_npy_name(options_.path))
        throw Failure(Exit::failed, options_.path + ": it is no .npy file, whatever its name says");
    if (!npy_file) {
        if (options_.type.empty()) set_array();
        place(0, file_.size());
        return;
    }
    const Npy npy = read_npy(file_.bytes(), options_.path);
    if (!options_.shape.empty())
        throw Failure(Exit::usage, options_.path + ": it is a .npy file, which has a shape itself");
    if (options_.type.empty())
        set_slice(npy, element_type(npy));
    else if (!options_.as_is)
        check_against(npy);
    place(npy.data_at, npy.data_bytes());
}

// Sets the array of the shape and element type in the options.
void TypedFile::set_array() {
    if (options_.shape.empty() || options_.dtype.empty())
        throw Failure(Exit::usage,
                      fmt::format("{}: it {}: give a type, or the shape and the dtype of its array",
                                  options_.path, missing_ ? "does not exist" : "is no .npy file"));
    const PredefinedName *element = predefined_named(options_.dtype);
    if (element == nullptr)
        throw Failure(Exit::usage,
                      fmt::format("dtype is '{}'; it must be a predefined type{}", options_.dtype,
                                  did_you_mean(options_.dtype, words_of_the_language())));
    array_.descr = dtype_of_type(element->type);
    array_.item_bytes = static_cast<uint64_t>(ucd::TypeRef(element->type).extent().extent);
    array_.shape = shape_of(options_.shape);
    set_slice(array_, element->type);
}

// Sets the array of a missing .npy file. If the options have a type, it has one dimension, which
// covers everything that the type touches; its elements are the type's if NumPy supports them, else
// bytes.
void TypedFile::prepare_missing() {
    missing_ = true;
    if (options_.type.empty()) set_array();
    place(0, INT64_MAX);
    if (!is_npy_name(options_.path)) return;
    if (!options_.type.empty()) {
        array_.descr = dtype_.empty() ? "|u1" : dtype_;
        array_.item_bytes = dtype_.empty() ? 1 : item_bytes_;
        array_.shape = {
            static_cast<intptr_t>((last() + array_.item_bytes - 1) / array_.item_bytes)};
    } else if (array_.descr.empty()) {
        throw Failure(Exit::usage,
                      fmt::format("{}: NumPy has no dtype for {}", options_.path, options_.dtype));
    }
    header_ = npy_header(array_.descr, array_.shape);
    place(header_.size(), array_.data_bytes());
}

void TypedFile::set_slice(const Npy &npy, ucd::TypeRef element) {
    const std::string text = options_.slice.empty() ? "..." : options_.slice;
    try {
        ArrayPart part = slice_of(npy, text);
        type_ = ucd::Type::ndarray(part.shape, part.strides, element);
        start_ = part.start;
        shape_ = std::move(part.shape);
    } catch (const SyntaxError &e) {
        throw Failure(Exit::usage,
                      fmt::format("slice of {} ({}): byte {}: {}\n{}", options_.path, npy.shown(),
                                  e.at() + 1, e.what(), point_at(text, e.at())));
    }
    dtype_ = npy.descr;
    item_bytes_ = npy.item_bytes;
}

void TypedFile::check_against(const Npy &npy) const {
    const ucd_type_t element = type_.layout().element;
    if (type_.size() > 0)
        check_dtype(npy, element, element == UCD_TYPE__NULL ? "" : dtype_of_type(element),
                    options_.path);
    if (npy.fortran_order && npy.shape.size() > 1)
        throw Failure(Exit::usage,
                      fmt::format("{}: it is in Fortran order, and a type describes memory as it "
                                  "lies; --slice follows the order, --as-is takes the bytes as "
                                  "they are",
                                  options_.path));
}

void TypedFile::make_missing() {
    // The file is sparse, so that gaps take no disk space.
    if (!missing_) return;
    new_file_.emplace(options_.path);
    file_ = MappedFile(*new_file_, std::max(last(), header_.size() + array_.data_bytes()), false);
    std::ranges::copy(header_, file_.data());
    missing_ = false;
}

void TypedFile::finish(bool sync) {
    if (new_file_)
        new_file_->put_in_place(sync);
    else if (sync)
        file_.sync();
}

void TypedFile::place(uint64_t data_at, uint64_t data_bytes) {
    data_at_ = data_at;
    layout_ = type_.layout(count_);
    if (dtype_.empty() && layout_.element != UCD_TYPE__NULL) {
        dtype_ = dtype_of_type(layout_.element);
        item_bytes_ = ucd::TypeRef(layout_.element).size();
    }
    intptr_t low = 0, high = 0;
    const bool fits = !__builtin_add_overflow(options_.origin, start_, &at_) &&
                      !__builtin_add_overflow(layout_.low, at_, &low) &&
                      !__builtin_add_overflow(layout_.high, at_, &high);
    if (!fits)
        throw Failure(Exit::usage, options_.path + ": --origin is too far from where the type is");
    if (layout_.bytes > 0 && (low < 0 || static_cast<uint64_t>(high) > data_bytes))
        throw Failure(Exit::usage,
                      missing_ && low < 0
                          ? fmt::format("{}: the type starts at byte {}; --origin moves it",
                                        options_.path, low)
                          : fmt::format("{}: the type touches bytes {} to {} of its data, "
                                        "which has {}",
                                        options_.path, low, high, data_bytes));
    if (layout_.bytes == 0) return;
    touched_from_ = data_at + static_cast<uint64_t>(low);
    span_ = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
}

} // namespace ucdtool
