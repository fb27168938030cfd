#include "datatype/options.h"

#include "datatype/typed_buffer.h"
#include "edit_distance.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace ucd_ucx {
namespace {

// How the values of a key are written. A number is in least .. most; a word stands for its index.
struct Rule {
    enum Kind : uint8_t { number, word, seconds };
    Kind kind = number;
    uint64_t least = 0, most = INTPTR_MAX;
    const char *words[4] = {};
};

template <class... Words>
constexpr Rule one_of(Words... words) {
    return {Rule::word, 0, 0, {words...}};
}

template <class Number>
bool read_whole(const std::string &text, Number &number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

bool parse(const std::string &text, const Rule &rule, uint64_t &value) {
    if (rule.kind == Rule::number)
        return read_whole(text, value) && value >= rule.least && value <= rule.most;
    if (rule.kind == Rule::seconds) {
        double seconds; // the limit can be expressed in nanoseconds
        if (!read_whole(text, seconds) || !(seconds >= 0) || seconds > 1e9) return false;
        value = static_cast<uint64_t>(seconds * 1e9);
        return true;
    }
    for (value = 0; value < std::size(rule.words) && rule.words[value] != nullptr; ++value)
        if (text == rule.words[value]) return true;
    return false;
}

std::string to_text(const Rule &rule) {
    if (rule.kind == Rule::number)
        return "a number in " + std::to_string(rule.least) + " .. " + std::to_string(rule.most);
    if (rule.kind == Rule::seconds) return "seconds, in 0 .. 1e9";
    std::string words;
    for (const char *word : rule.words)
        if (word != nullptr) (words += words.empty() ? "" : " or ") += word;
    return words;
}

// Passes the value to `set`, if there is one.
template <class Set>
Status read_value(ucd_info_t info, const char *key, const Rule &rule, Set &&set) {
    std::string text;
    uint64_t value;
    UCD_TRY(read_key(info, key, text));
    if (text.empty()) return success;
    if (!parse(text, rule, value))
        return fail(UCD_ERR__INVALID_ARG, "%s is \"%.100s\"; it must be %s", key, text.c_str(),
                    to_text(rule).c_str());
    set(value);
    return success;
}

template <auto member>
void set_option(TransferOptions &options, uint64_t value) {
    auto &option = options.*member;
    option = static_cast<std::remove_reference_t<decltype(option)>>(value);
}

struct InfoKey {
    std::string_view name;
    Rule rule = {};
    void (*set)(TransferOptions &options, uint64_t value) = nullptr;
};

using Options = TransferOptions;
constexpr Rule chunk_bytes = {Rule::number, 1, max_chunk}, depths = {Rule::number, 1, max_depth};

// All keys. Those without a function are no options of transfers, and are read by their names.
constexpr InfoKey known_keys[] = {
    {"ucd.ucx.chunk", chunk_bytes, set_option<&Options::chunk>},
    {"ucd.ucx.depth", depths, set_option<&Options::depth>},
    {"ucd.ucx.direct", one_of("no", "yes", "always"), set_option<&Options::direct>},
    {"ucd.ucx.direct_bytes", {}, set_option<&Options::direct_bytes>},
    {"ucd.ucx.eager", {Rule::number, 0, max_chunk}, set_option<&Options::eager>},
    {"ucd.ucx.form"},
    {"ucd.ucx.iov_entries"},
    {"ucd.ucx.iov_segment"},
    {"ucd.ucx.pack", one_of("auto", "chunk", "ucx"), set_option<&Options::packing>},
    {"ucd.ucx.peer_memory"},
    {"ucd.ucx.peers_memory"},
    {"ucd.ucx.ring", one_of("none", "auto"), set_option<&Options::ring>},
    {"ucd.ucx.ring_chunk", chunk_bytes, set_option<&Options::ring_chunk>},
    {"ucd.ucx.ring_depth", depths, set_option<&Options::ring_depth>},
    {"ucd.ucx.ring_expose", one_of("no", "yes"), set_option<&Options::ring_expose>},
    {"ucd.ucx.ring_staging"},
    {"ucd.ucx.rma.peer_operations"},
    {"ucd.ucx.rma.types"},
    {"ucd.ucx.staging"},
    {"ucd.ucx.timeout", {Rule::seconds}, set_option<&Options::timeout>},
};

Status fail_key(const std::string &wrong) {
    const auto distance = [&](const InfoKey &key) {
        return ucd_base::edit_distance(wrong, key.name);
    };
    const auto &nearest = *std::min_element(
        std::begin(known_keys), std::end(known_keys),
        [&](const InfoKey &a, const InfoKey &b) { return distance(a) < distance(b); });
    return fail(UCD_ERR__INVALID_ARG, "info has \"%.100s\", which is no key; the nearest is %s",
                wrong.c_str(), nearest.name.data());
}

// Looks at the keys that are set: an info has few, and looking up all that exist takes longer than
// sending a short message.
Status read_keys(ucd_info_t info, TransferOptions *options) {
    std::string name;
    for (uintptr_t n = 0; info != UCD_INFO__NULL; ++n) {
        UCD_TRY(read_nth_key(info, n, name));
        if (name.empty()) break;
        if (!name.starts_with("ucd.ucx.")) continue;
        const auto *const key =
            std::find_if(std::begin(known_keys), std::end(known_keys),
                         [&](const InfoKey &known) { return known.name == name; });
        if (key == std::end(known_keys)) return fail_key(name);
        if (options != nullptr && key->set != nullptr)
            UCD_TRY(read_value(info, name.c_str(), key->rule,
                               [&](uint64_t value) { key->set(*options, value); }));
    }
    return success;
}

} // namespace

Status check_keys(ucd_info_t info) {
    return read_keys(info, nullptr);
}

Status read_transfer_options(ucd_info_t info, TransferOptions &options) {
    return read_keys(info, &options);
}

Status copy_transfer_options(ucd_info_t from, OwnedInfo &to) {
    for (const InfoKey &key : known_keys)
        if (key.set != nullptr) UCD_TRY(to.copy(from, key.name.data()));
    return success;
}

Status read_number(ucd_info_t info, const char *key, uint64_t least, uint64_t most,
                   uint64_t &number) {
    return read_value(info, key, {Rule::number, least, most},
                      [&](uint64_t value) { number = value; });
}

Status read_prepare_options(ucd_info_t info, PrepareOptions &options) {
    UCD_TRY(check_keys(info));
    UCD_TRY(read_value(info, "ucd.ucx.form", one_of("auto", "contiguous", "iov", "generic"),
                       [&](uint64_t value) { options.form = static_cast<DatatypeForm>(value); }));
    UCD_TRY(read_number(info, "ucd.ucx.iov_segment", 1, INTPTR_MAX, options.iov_segment));
    return read_number(info, "ucd.ucx.iov_entries", 1, max_iov_entries, options.iov_entries);
}

} // namespace ucd_ucx
