#include "files/laid_out.hpp"

#include "commands/source.hpp"
#include "failure.hpp"
#include "files/slice.hpp"
#include "language/constructors.hpp"
#include "language/parse.hpp"

#include <fmt/format.h>

namespace ucdtool {
namespace {

ucd::Type element_type(const Npy &npy) {
    const ucd_type_t known = type_of_dtype(npy.descr);
    return known != UCD_TYPE__NULL
               ? ucd::Type::dup(known)
               : ucd::Type::contig(static_cast<intptr_t>(npy.item_bytes), UCD_TYPE__BYTE);
}

} // namespace

bool is_npy_name(const std::string &path) {
    return path.ends_with(".npy");
}

void check_dtype(const Npy &npy, ucd_type_t element, const std::string &path) {
    if (element == UCD_TYPE__BYTE) return; // whatever bytes they are
    const std::string expected = element == UCD_TYPE__NULL ? "" : dtype_of_type(element);
    if (element != UCD_TYPE__NULL && npy.descr == expected) return;
    throw Failure(Exit::failed,
                  fmt::format("{}: its elements are {}; the type is made of {}; --as-is takes the "
                              "bytes as they are",
                              path, npy.descr,
                              element == UCD_TYPE__NULL ? "several types" : name_of(element)));
}

LaidOut::LaidOut(const LayoutOptions &options, Access access)
    : options_(options), count_(options.count) {
    if (!options_.type.empty()) type_ = type_from_argument(options_.type);
    if (access == Access::create && !exists(options_.path)) {
        missing_ = true;
        check_missing();
        place(0, INT64_MAX);
        return;
    }
    file_ = MappedFile(options_.path, access == Access::read ? MappedFile::Access::read
                                                             : MappedFile::Access::write);
    const bool npy_file = is_npy(file_.bytes());
    if (!npy_file && is_npy_name(options_.path))
        throw Failure(Exit::failed, options_.path + ": it is no .npy file, whatever its name says");
    if (!npy_file) {
        if (options_.type.empty())
            throw Failure(Exit::usage, options_.path + ": it is no .npy file, so slices of it have "
                                                       "no meaning: give a type");
        place(0, file_.size());
        return;
    }
    const Npy npy = read_npy(file_.bytes(), options_.path);
    if (options_.type.empty())
        set_slice(npy);
    else if (!options_.as_is)
        check_against(npy);
    place(npy.data_at, npy.data_bytes());
}

void LaidOut::set_slice(const Npy &npy) {
    const std::string text = options_.slice.empty() ? "..." : options_.slice;
    try {
        ArrayPart part = slice_of(npy, text);
        const ucd::Type element = element_type(npy);
        type_ = ucd::Type::ndarray(part.shape, part.strides, element);
        start_ = part.start;
        shape_ = std::move(part.shape);
    } catch (const SyntaxError &e) {
        throw Failure(Exit::usage,
                      fmt::format("slice of {} ({}): byte {}: {}\n{}", options_.path, npy.shown(),
                                  e.at() + 1, e.what(), point_at(text, e.at())));
    }
    dtype_ = npy.descr;
}

void LaidOut::check_against(const Npy &npy) const {
    if (type_.size() > 0) check_dtype(npy, type_.layout().element, options_.path);
    if (npy.fortran_order && npy.shape.size() > 1)
        throw Failure(Exit::failed,
                      fmt::format("{}: it is in Fortran order, and a type describes memory as it "
                                  "lies; --slice follows the order, --as-is takes the bytes as "
                                  "they are",
                                  options_.path));
}

void LaidOut::check_missing() const {
    if (options_.type.empty() || is_npy_name(options_.path))
        throw Failure(Exit::failed, options_.path + ": it does not exist; only raw files are made, "
                                                    "of the size that a type needs");
}

void LaidOut::make_missing() {
    // Sparse: gaps take no disk space.
    if (missing_) file_ = MappedFile::create(options_.path, last(), false);
    missing_ = false;
}

void LaidOut::place(uint64_t data_at, uint64_t data_bytes) {
    data_at_ = data_at;
    layout_ = type_.layout(count_);
    if (dtype_.empty() && layout_.element != UCD_TYPE__NULL)
        dtype_ = dtype_of_type(layout_.element);
    intptr_t low = 0, high = 0;
    const bool fits = !__builtin_add_overflow(options_.origin, start_, &at_) &&
                      !__builtin_add_overflow(layout_.low, at_, &low) &&
                      !__builtin_add_overflow(layout_.high, at_, &high);
    if (!fits)
        throw Failure(Exit::failed, options_.path + ": --origin is too far from where the type is");
    if (layout_.bytes > 0 && (low < 0 || static_cast<uint64_t>(high) > data_bytes))
        throw Failure(Exit::failed,
                      missing_ ? fmt::format("{}: the type starts at byte {}; --origin moves it",
                                             options_.path, low)
                               : fmt::format("{}: the type touches bytes {} to {} of its data, "
                                             "which has {}",
                                             options_.path, low, high, data_bytes));
    touched_from_ = data_at + static_cast<uint64_t>(low);
    span_ = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
}

} // namespace ucdtool
