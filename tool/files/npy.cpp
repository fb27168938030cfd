#include "files/npy.hpp"

#include "failure.hpp"
#include "filled.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace ucdtool {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t preamble = 8; // bytes of magic and version
constexpr std::size_t alignment = 64;
constexpr char native_order = std::endian::native == std::endian::little ? '<' : '>';

// Parses the dictionary of a header, in the forms of Python's repr that NumPy writes.
class Dictionary {
public:
    Dictionary(std::string_view text, const std::string &path) : text_(text), path_(path) {}

    void read(Npy &npy) {
        bool descr = false, order = false, shape = false;
        expect('{');
        while (!take('}')) {
            const std::string key = quoted();
            expect(':');
            if (key == "descr") {
                npy.descr = quoted();
                descr = true;
            } else if (key == "fortran_order") {
                npy.fortran_order = truth();
                order = true;
            } else if (key == "shape") {
                npy.shape = tuple();
                shape = true;
            } else {
                bad("it has the key '" + key + "'");
            }
            if (!take(',')) {
                expect('}');
                break;
            }
        }
        if (!descr || !order || !shape) bad("a key is missing");
    }

private:
    [[noreturn]] void bad(const std::string &why) const {
        throw Failure(Exit::failed,
                      filled("{}: its .npy header is not understood: {}", path_, why));
    }
    void skip_space() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
            ++at_;
    }
    bool take(char c) {
        skip_space();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!take(c)) bad(filled("expected '{}' at its byte {}", c, at_));
    }
    std::string quoted() {
        skip_space();
        if (at_ < text_.size() && text_[at_] == '[')
            bad("its elements are structures, and this tool moves plain ones");
        const char quote = take('"') ? '"' : '\'';
        if (quote == '\'') expect('\'');
        const std::size_t end = text_.find(quote, at_);
        if (end == std::string_view::npos) bad("a string does not end");
        std::string value(text_.substr(at_, end - at_));
        at_ = end + 1;
        return value;
    }
    bool truth() {
        skip_space();
        for (const std::string_view word : {"True", "False"}) {
            if (text_.substr(at_, word.size()) != word) continue;
            at_ += word.size();
            return word == "True";
        }
        bad("fortran_order is neither True nor False");
    }
    std::vector<intptr_t> tuple() {
        std::vector<intptr_t> values;
        expect('(');
        while (!take(')')) {
            skip_space();
            intptr_t value = 0;
            const char *const end = text_.data() + text_.size();
            const auto [rest, error] = std::from_chars(text_.data() + at_, end, value);
            if (error != std::errc() || value < 0) bad("its shape is no list of sizes");
            at_ = static_cast<std::size_t>(rest - text_.data());
            values.push_back(value);
            if (!take(',')) {
                expect(')');
                break;
            }
        }
        return values;
    }

    std::string_view text_;
    const std::string &path_;
    std::size_t at_ = 0;
};

// Whether this is what may follow the size of a date or duration: nothing or a unit, such as [25s].
bool is_unit(std::string_view text) {
    return text.empty() ||
           (text.size() > 2 && text.front() == '[' && text.back() == ']' &&
            std::ranges::all_of(text.substr(1, text.size() - 2),
                                [](unsigned char c) { return std::isalnum(c) != 0 || c == '/'; }));
}

// The size of an element; 0 if the dtype is not one of plain bytes.
uint64_t item_bytes(std::string_view descr) {
    if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
        return 0;
    uint64_t n = 0;
    const char *const end = descr.data() + descr.size();
    const auto [rest, error] = std::from_chars(descr.data() + 2, end, n);
    if (error != std::errc() || n == 0 || n > UINT32_MAX) return 0;
    switch (descr[1]) {
    case 'U': return rest == end ? 4 * n : 0;
    case 'M':
    case 'm': return is_unit({rest, end}) ? n : 0;
    default: break;
    }
    const bool plain = std::string_view("bBiufcSaV").find(descr[1]) != std::string_view::npos;
    return plain && rest == end ? n : 0;
}

struct Dtype {
    char kind;
    unsigned bytes;
    ucd_type_t type;
};
constexpr unsigned long_double_bytes = sizeof(long double);
const Dtype dtypes[] = {
    {'b', 1, UCD_TYPE___BOOL},
    {'i', 1, UCD_TYPE__INT8_T},
    {'i', 2, UCD_TYPE__INT16_T},
    {'i', 4, UCD_TYPE__INT32_T},
    {'i', 8, UCD_TYPE__INT64_T},
    {'u', 1, UCD_TYPE__UINT8_T},
    {'u', 2, UCD_TYPE__UINT16_T},
    {'u', 4, UCD_TYPE__UINT32_T},
    {'u', 8, UCD_TYPE__UINT64_T},
    {'f', 2, UCD_TYPE__FLOAT16},
    {'f', 4, UCD_TYPE__FLOAT},
    {'f', 8, UCD_TYPE__DOUBLE},
    {'f', long_double_bytes, UCD_TYPE__LONG_DOUBLE},
    {'c', 8, UCD_TYPE__C_COMPLEX},
    {'c', 16, UCD_TYPE__C_DOUBLE_COMPLEX},
    {'c', 2 * long_double_bytes, UCD_TYPE__C_LONG_DOUBLE_COMPLEX},
};

// NumPy's kind character for a predefined type; 0 if it has none.
char kind_of(ucd_type_t type) {
    const auto value = reinterpret_cast<uintptr_t>(type);
    const auto between = [value](ucd_type_t low, ucd_type_t high) {
        return value >= reinterpret_cast<uintptr_t>(low) &&
               value <= reinterpret_cast<uintptr_t>(high);
    };
    const ucd_type_t unsigned_types[] = {
        UCD_TYPE__UNSIGNED_CHAR,      UCD_TYPE__BYTE,          UCD_TYPE__UNSIGNED_SHORT,
        UCD_TYPE__UNSIGNED,           UCD_TYPE__UNSIGNED_LONG, UCD_TYPE__SIZE_T,
        UCD_TYPE__UNSIGNED_LONG_LONG, UCD_TYPE__UINTMAX_T,     UCD_TYPE__UINTPTR_T};
    if (type == UCD_TYPE___BOOL) return 'b';
    if (type == UCD_TYPE__CHAR) return 'S';
    if (type == UCD_TYPE__WCHAR_T) return sizeof(wchar_t) == 4 ? 'U' : 0;
    if (type == UCD_TYPE__FLOAT16 || between(UCD_TYPE__FLOAT, UCD_TYPE__LONG_DOUBLE)) return 'f';
    if (between(UCD_TYPE__C_COMPLEX, UCD_TYPE__C_LONG_DOUBLE_COMPLEX)) return 'c';
    if (std::ranges::find(unsigned_types, type) != std::end(unsigned_types) ||
        between(UCD_TYPE__UINT8_T, UCD_TYPE__UINT64_T) ||
        between(UCD_TYPE__UINT_FAST8_T, UCD_TYPE__UINT_FAST64_T) ||
        between(UCD_TYPE__UINT_LEAST8_T, UCD_TYPE__UINT_LEAST64_T))
        return 'u';
    return between(UCD_TYPE___BOOL, UCD_TYPE__PTRDIFF_T) ? 'i' : 0;
}

} // namespace

uint64_t Npy::elements() const {
    uint64_t n = 1;
    for (const intptr_t s : shape) n *= static_cast<uint64_t>(s);
    return n;
}

std::vector<intptr_t> Npy::strides() const {
    std::vector<intptr_t> strides(shape.size());
    auto stride = static_cast<intptr_t>(item_bytes);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::size_t dim = fortran_order ? i : shape.size() - 1 - i;
        strides[dim] = stride;
        stride *= std::max<intptr_t>(shape[dim], 1);
    }
    return strides;
}

std::string Npy::shown() const {
    return filled("{} of {}{}", shape.empty() ? "one" : joined(shape, "x"), descr,
                  fortran_order ? ", Fortran order" : "");
}

bool is_npy(std::span<const std::byte> file) {
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

Npy read_npy(std::span<const std::byte> file, const std::string &path) {
    const auto bad = [&](const std::string &why) {
        throw Failure(Exit::failed, path + ": " + why);
    };
    if (!is_npy(file)) bad("it is no .npy file: it starts with other bytes");
    const auto byte = [&](std::size_t i) {
        return i < file.size() ? std::to_integer<std::size_t>(file[i]) : 0;
    };
    const std::size_t version = byte(6);
    if (version < 1 || version > 3) bad(filled("it is of version {} of .npy", version));
    const std::size_t width = version == 1 ? 2 : 4;
    std::size_t length = 0;
    for (std::size_t i = 0; i < width; ++i) length |= byte(preamble + i) << (8 * i);
    if (preamble + width + length > file.size()) bad("its .npy header is cut off");

    Npy npy;
    npy.data_at = preamble + width + length;
    const char *text = reinterpret_cast<const char *>(file.data()) + preamble + width;
    Dictionary({text, length}, path).read(npy);
    npy.item_bytes = item_bytes(npy.descr);
    if (npy.item_bytes == 0)
        bad(filled("its dtype '{}' is not one of plain numbers, text or bytes", npy.descr));
    uint64_t bytes = npy.item_bytes;
    for (const intptr_t s : npy.shape)
        if (__builtin_mul_overflow(bytes, std::max<uint64_t>(static_cast<uint64_t>(s), 1),
                                   &bytes) ||
            bytes > INT64_MAX)
            bad("its shape does not fit 64 bits");
    if (npy.data_bytes() > file.size() - npy.data_at)
        bad(filled("it has {} bytes of data; its header says {}: {} bytes",
                   file.size() - npy.data_at, npy.shown(), npy.data_bytes()));
    return npy;
}

std::vector<std::byte> npy_header(const std::string &descr, std::span<const intptr_t> shape) {
    std::string text = filled("{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }", descr,
                              joined(shape, ", "), shape.size() == 1 ? "," : "");
    const std::size_t unpadded = preamble + 2 + text.size() + 1;
    text.append((alignment - unpadded % alignment) % alignment, ' ');
    text += '\n';
    if (text.size() > UINT16_MAX)
        throw Failure(Exit::usage, "the .npy header of so many dimensions is too long");
    std::vector<std::byte> bytes(preamble + 2 + text.size());
    std::memcpy(bytes.data(), magic.data(), magic.size());
    bytes[6] = std::byte{1};
    bytes[8] = static_cast<std::byte>(text.size());
    bytes[9] = static_cast<std::byte>(text.size() >> 8);
    std::memcpy(bytes.data() + preamble + 2, text.data(), text.size());
    return bytes;
}

ucd_type_t type_of_dtype(const std::string &descr) {
    const char order = descr.empty() ? '?' : descr[0];
    for (const Dtype &d : dtypes)
        if (descr.size() > 2 && descr[1] == d.kind && descr.substr(2) == std::to_string(d.bytes) &&
            (order == native_order || order == '=' || d.bytes == 1))
            return d.type;
    return UCD_TYPE__NULL;
}

std::string dtype_of_type(ucd_type_t predefined) {
    const char kind = kind_of(predefined);
    uintptr_t bytes = 0;
    if (kind == 0 || ucd_get_size(predefined, &bytes) != UCD_SUCCESS) return "";
    return filled("{}{}{}", bytes == 1 ? '|' : native_order, kind, kind == 'U' ? 1 : bytes);
}

} // namespace ucdtool
