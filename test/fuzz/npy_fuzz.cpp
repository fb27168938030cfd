// The header of a .npy file, and a slice of its array: refused, or a part that lies in the data.
// The first byte of the input is the length of the slice's text, which follows; the rest is the
// file.
#include "target.hpp"

#include "failure.hpp"
#include "files/npy.hpp"
#include "files/slice.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>

using namespace ucdtest;

namespace {

__extension__ using Wide = __int128;

void must(bool holds, const char *what) {
    if (!holds) throw std::logic_error(what);
}

void check_part(const ucdtool::Npy &npy, const ucdtool::ArrayPart &part) {
    must(part.shape.size() == part.strides.size(), "a shape and strides of different lengths");
    Wide low = part.start, high = part.start;
    for (std::size_t i = 0; i < part.shape.size(); ++i) {
        must(part.shape[i] >= 0, "a negative size");
        if (part.shape[i] == 0) return;
        const Wide reach = static_cast<Wide>(part.shape[i] - 1) * part.strides[i];
        (reach < 0 ? low : high) += reach;
    }
    if (npy.data_bytes() == 0) return;
    must(low >= 0 &&
             high + static_cast<Wide>(npy.item_bytes) <= static_cast<Wide>(npy.data_bytes()),
         "a part of an array that is not in it");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    fuzz::start_library();
    if (size == 0) return 0;
    const std::size_t length = std::min<std::size_t>(data[0] % 32, size - 1);
    const std::string text(reinterpret_cast<const char *>(data) + 1, length);
    const auto file = std::as_bytes(std::span(data + 1 + length, size - 1 - length));
    try {
        const ucdtool::Npy npy = ucdtool::read_npy(file, "a file");
        must(npy.data_at <= file.size() && npy.data_bytes() <= file.size() - npy.data_at,
             "data that is not there");
        must(npy.strides().size() == npy.shape.size() && !npy.shown().empty(), "strides");
        ++fuzz::accepted;
        (void)ucdtool::type_of_dtype(npy.descr);
        check_part(npy, ucdtool::slice_of(npy, text));
    } catch (const ucdtool::Failure &) {
    } catch (const ucdtool::SyntaxError &e) {
        must(e.at() <= text.size(), "the place of an error is behind the text");
    }
    return 0;
}
