#include "meaning.hpp"

#include <array>
#include <cfloat>
#include <sstream>
#include <stdexcept>

namespace {

constexpr std::uintptr_t max_listed = 4096; // elements that `map` is made of
constexpr std::uintptr_t max_runs = 65536;  // of types of more, bounds are told and no elements

// The handles that types from ucd_unflatten have, and their class and bytes.
struct Representation {
    ucd_type_t type;
    const char *name;
};
#if LDBL_MANT_DIG == 64
#define OF_LONG_DOUBLE "9/16", "11/32", "14/20"
#else
#define OF_LONG_DOUBLE "7/16", "10/32", "12/20"
#endif
constexpr std::array<const char *, 3> of_long_double{OF_LONG_DOUBLE};
const std::array<Representation, 30> representations{{
    {UCD_TYPE__BYTE, "1/1"},
    {UCD_TYPE__CHAR, "2/1"},
    {UCD_TYPE__WCHAR_T, sizeof(wchar_t) == 4 ? "3/4" : "3/2"},
    {UCD_TYPE___BOOL, "4/1"},
    {UCD_TYPE__INT8_T, "5/1"},
    {UCD_TYPE__INT16_T, "5/2"},
    {UCD_TYPE__INT32_T, "5/4"},
    {UCD_TYPE__INT64_T, "5/8"},
    {UCD_TYPE__UINT8_T, "6/1"},
    {UCD_TYPE__UINT16_T, "6/2"},
    {UCD_TYPE__UINT32_T, "6/4"},
    {UCD_TYPE__UINT64_T, "6/8"},
    {UCD_TYPE__FLOAT16, "7/2"},
    {UCD_TYPE__FLOAT, "7/4"},
    {UCD_TYPE__DOUBLE, "7/8"},
    {UCD_TYPE__BFLOAT16, "8/2"},
    {UCD_TYPE__LONG_DOUBLE, of_long_double[0]},
    {UCD_TYPE__C_COMPLEX, "10/8"},
    {UCD_TYPE__C_DOUBLE_COMPLEX, "10/16"},
    {UCD_TYPE__C_LONG_DOUBLE_COMPLEX, of_long_double[1]},
    {UCD_TYPE__FLOAT_INT, "12/8"},
    {UCD_TYPE__DOUBLE_INT, "12/12"},
    {UCD_TYPE__SHORT_INT, "13/6"},
    {UCD_TYPE__2INT, "13/8"},
    {UCD_TYPE__LONG_INT, "13/12"},
    {UCD_TYPE__LONG_DOUBLE_INT, of_long_double[2]},
    {UCD_TYPE__2FLOAT, "15/8"},
    {UCD_TYPE__2DOUBLE, "15/16"},
    {UCD_TYPE__FLOAT8_E4M3, "16/1"},
    {UCD_TYPE__FLOAT8_E5M2, "17/1"},
}};

// "?/16" where the machine has no such type.
std::string name_of(const ucd_element_run_t &run) {
    const std::string bytes = '/' + std::to_string(run.element_bytes);
    if (run.element == UCD_TYPE__NULL) return '?' + bytes;
    for (const Representation &known : representations)
        if (known.type == run.element) return known.name;
    return "another handle of " + bytes;
}

// A name as the machine can tell it.
std::string tellable_name(const std::string &name) {
    for (const Representation &known : representations)
        if (name == known.name) return name;
    return '?' + name.substr(name.find('/'));
}

std::intptr_t displacement_at(ucd::TypeRef type, std::uintptr_t offset, std::uintptr_t bytes) {
    const auto address = [&](std::uintptr_t at) {
        iovec iov{};
        std::uintptr_t n = 0, found = 0;
        ucd::check(ucd_iov_bytes(nullptr, 1, type.get(), at, 1, &iov, 1, &n, &found));
        if (n != 1 || found != 1) throw std::runtime_error("no byte where an element is");
        return reinterpret_cast<std::intptr_t>(iov.iov_base);
    };
    const std::intptr_t first = address(offset);
    // The pair of 2 and 4 bytes is the only one with a gap.
    const std::intptr_t gap = bytes == 6 ? 2 : 0;
    if (address(offset + bytes - 1) != first + static_cast<std::intptr_t>(bytes) - 1 + gap)
        throw std::runtime_error("an element's bytes are not together");
    return first;
}

std::string entry(const std::string &name, std::intptr_t displacement) {
    return name + " at " + std::to_string(displacement);
}

std::string fnv1a(const std::string &text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    std::ostringstream hex;
    hex << std::hex << hash;
    return hex.str();
}

std::string listed(const std::map<std::string, std::uintptr_t> &counts) {
    std::string text;
    for (const auto &[name, count] : counts)
        text += (text.empty() ? "" : " ") + name + '*' + std::to_string(count);
    return text;
}

std::string line_of(const std::string &text, const std::string &key) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind(key + ':', 0) != 0) continue;
        const std::size_t start = line.find_first_not_of(' ', key.size() + 1);
        return start == std::string::npos ? "" : line.substr(start);
    }
    throw std::runtime_error("ucd_describe says nothing of " + key);
}

} // namespace

Vector meaning_of(ucd::TypeRef type) {
    const ucd::Bounds bounds = type.extent(), true_bounds = type.true_extent();
    const std::string text = type.describe();
    const std::uintptr_t size = type.size();
    Vector meaning{
        {"size", std::to_string(size)},
        {"lb", std::to_string(bounds.lb)},
        {"extent", std::to_string(bounds.extent)},
        {"true_lb", std::to_string(true_bounds.lb)},
        {"true_extent", std::to_string(true_bounds.extent)},
        {"alignment", line_of(text, "alignment")},
        {"explicit_bounds", line_of(text, "explicit_bounds")},
    };
    if (ucd::element_run_count(1, type) > max_runs) return meaning;
    const std::vector<ucd_element_run_t> runs = ucd::element_runs(1, type);
    if (runs.empty()) return meaning;

    std::map<std::string, std::uintptr_t> counts;
    std::uintptr_t total = 0;
    for (const ucd_element_run_t &run : runs) {
        counts[name_of(run)] += run.elements;
        total += run.elements;
    }
    meaning["elements"] = listed(counts);
    const ucd_element_run_t &first = runs.front(), &last = runs.back();
    meaning["first"] = entry(name_of(first), displacement_at(type, 0, first.element_bytes));
    meaning["last"] =
        entry(name_of(last), displacement_at(type, size - last.element_bytes, last.element_bytes));
    if (total > max_listed || meaning["elements"].find('?') != std::string::npos) return meaning;

    std::string map;
    for (const ucd_element_run_t &run : runs)
        for (std::uint64_t i = 0; i < run.elements; ++i) {
            const std::uintptr_t offset = run.offset + i * run.element_bytes;
            map += entry(name_of(run), displacement_at(type, offset, run.element_bytes)) + '\n';
        }
    meaning["map"] = fnv1a(map);
    return meaning;
}

Vector tellable(const Vector &vector) {
    Vector told = vector;
    if (told.find("elements") == told.end()) return told;
    std::map<std::string, std::uintptr_t> counts;
    std::istringstream words(vector.at("elements"));
    for (std::string word; words >> word;) {
        const std::size_t star = word.find('*');
        counts[tellable_name(word.substr(0, star))] += std::stoull(word.substr(star + 1));
    }
    told["elements"] = listed(counts);
    if (told["elements"] == vector.at("elements")) return told;
    told.erase("map");
    for (const char *key : {"first", "last"}) {
        const std::size_t space = told[key].find(' ');
        told[key] = tellable_name(told[key].substr(0, space)) + told[key].substr(space);
    }
    return told;
}
