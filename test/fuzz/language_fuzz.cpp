// A text as the tool's type language: refused with a place in it, or a type, whose text gives the
// same bytes again.
#include "target.hpp"

#include "failure.hpp"
#include "language/build.hpp"
#include "language/parse.hpp"
#include "language/print.hpp"
#include "picture/picture.hpp"

#include <stdexcept>
#include <string_view>
#include <vector>

using namespace ucdtest;

namespace {

void must(bool holds, const char *what) {
    if (!holds) throw std::logic_error(what);
}

FlatBytes flattened(const ucd::Type &type) {
    std::uintptr_t bytes = 0;
    must(ucd_flatten_size(type.get(), &bytes) == UCD_SUCCESS, "ucd_flatten_size");
    FlatBytes flat(bytes);
    must(ucd_flatten(type.get(), flat.data(), bytes) == UCD_SUCCESS, "ucd_flatten");
    return flat;
}

// Whether a range in it may have so many entries that one text takes seconds, as it may: ranges
// have up to 2^27.
bool has_long_range(std::string_view text) {
    std::size_t digits = 0;
    bool range = false, many = false;
    for (const char c : text) {
        range = range || c == ':';
        digits = c >= '0' && c <= '9' ? digits + 1 : 0;
        many = many || digits > 4;
    }
    return range && many;
}

void check(std::string_view text) {
    const ucdtool::Expression expression = ucdtool::parse(text, ucdtool::NamedFiles::refused);
    const ucd::Type type = ucdtool::build(expression);
    ++fuzz::accepted;
    const FlatBytes flat = flattened(type);
    must(flattened(ucdtool::build(ucdtool::parse(ucdtool::to_text(expression)))) == flat,
         "printed, it is another type");
    must(flattened(ucdtool::build(ucdtool::parse(ucdtool::to_text(ucd::TypeRef(type))))) == flat,
         "recovered from its bytes, it is another type");
    (void)ucdtool::picture_of(type, 1, {.columns = 20, .rows = 5});
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    fuzz::start_library();
    const std::string_view text(reinterpret_cast<const char *>(data), size);
    if (has_long_range(text)) return 0;
    try {
        check(text);
    } catch (const ucdtool::SyntaxError &e) {
        must(e.at() <= size, "the place of an error is behind the text");
        (void)ucdtool::point_at(text, e.at());
    }
    return 0;
}
