#include "datatype/options.h"

#include "common/keys.h"
#include "datatype/typed_buffer.h"

#include <charconv>
#include <iterator>
#include <string_view>

namespace ucd_ucx {

Status read_number(ucd_info_t info, const char *key, uint64_t least, uint64_t most,
                   uint64_t &number) {
    std::string text;
    UCD_TRY(read_key(info, key, text));
    if (text.empty()) return success;
    uint64_t value;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
        return fail(UCD_ERR__INVALID_ARG, "%s is \"%.100s\"; it must be a number in %ju .. %ju",
                    key, text.c_str(), static_cast<uintmax_t>(least), static_cast<uintmax_t>(most));
    number = value;
    return success;
}

namespace {

Status read_choice(ucd_info_t info, const char *key, const char *no, const char *yes,
                   bool &choice) {
    std::string text;
    UCD_TRY(read_key(info, key, text));
    if (text.empty()) return success;
    if (text != no && text != yes)
        return fail(UCD_ERR__INVALID_ARG, "%s is \"%.100s\"; it must be %s or %s", key,
                    text.c_str(), no, yes);
    choice = text == yes;
    return success;
}

Status read_trust(ucd_info_t info, Trust &trust) {
    std::string text;
    UCD_TRY(read_key(info, "ucd.ucx.direct", text));
    if (text.empty()) return success;
    if (text != "no" && text != "yes" && text != "always")
        return fail(UCD_ERR__INVALID_ARG,
                    "ucd.ucx.direct is \"%.100s\"; it must be no, yes or always", text.c_str());
    trust = text == "no" ? Trust::none : text == "yes" ? Trust::full : Trust::always;
    return success;
}

Status read_packing(ucd_info_t info, Packing &packing) {
    std::string text;
    UCD_TRY(read_key(info, "ucd.ucx.pack", text));
    if (text.empty()) return success;
    if (text != "auto" && text != "chunk" && text != "ucx")
        return fail(UCD_ERR__INVALID_ARG,
                    "ucd.ucx.pack is \"%.100s\"; it must be auto, chunk or ucx", text.c_str());
    packing = text == "auto"    ? Packing::automatic
              : text == "chunk" ? Packing::chunks
                                : Packing::ucx;
    return success;
}

Status read_seconds(ucd_info_t info, const char *key, std::chrono::nanoseconds &time) {
    std::string text;
    UCD_TRY(read_key(info, key, text));
    if (text.empty()) return success;
    constexpr double max_seconds = 1e9; // can be expressed in nanoseconds
    double seconds = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0) ||
        seconds > max_seconds)
        return fail(UCD_ERR__INVALID_ARG, "%s is \"%.100s\"; it must be seconds, in 0 .. 1e9", key,
                    text.c_str());
    time = std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
    return success;
}

// Of each key that is set: an info has few, and looking up all of them takes longer than sending a
// short message.
struct TransferKey {
    std::string_view key;
    Status (*read)(ucd_info_t info, const char *key, TransferOptions &options);
};
constexpr TransferKey readers[] = {
    {"ucd.ucx.eager",
     [](auto info, auto key, auto &o) { return read_number(info, key, 0, max_chunk, o.eager); }},
    {"ucd.ucx.chunk",
     [](auto info, auto key, auto &o) { return read_number(info, key, 1, max_chunk, o.chunk); }},
    {"ucd.ucx.depth",
     [](auto info, auto key, auto &o) { return read_number(info, key, 1, 1024, o.depth); }},
    {"ucd.ucx.pack", [](auto info, auto, auto &o) { return read_packing(info, o.packing); }},
    {"ucd.ucx.ring",
     [](auto info, auto key, auto &o) { return read_choice(info, key, "none", "auto", o.ring); }},
    {"ucd.ucx.ring_chunk",
     [](auto info, auto key, auto &o) {
         return read_number(info, key, 1, max_chunk, o.ring_chunk);
     }},
    {"ucd.ucx.ring_depth",
     [](auto info, auto key, auto &o) { return read_number(info, key, 1, 1024, o.ring_depth); }},
    {"ucd.ucx.ring_expose",
     [](auto info, auto key, auto &o) {
         return read_choice(info, key, "no", "yes", o.ring_expose);
     }},
    {"ucd.ucx.direct", [](auto info, auto, auto &o) { return read_trust(info, o.direct); }},
    {"ucd.ucx.direct_bytes",
     [](auto info, auto key, auto &o) {
         return read_number(info, key, 0, INTPTR_MAX, o.direct_bytes);
     }},
    {"ucd.ucx.timeout",
     [](auto info, auto key, auto &o) { return read_seconds(info, key, o.timeout); }},
};
static_assert(std::size(readers) == std::size(transfer_keys));

Status read_one(ucd_info_t info, const char *key, void *options) {
    for (const TransferKey &known : readers)
        if (known.key == key)
            return known.read(info, key, *static_cast<TransferOptions *>(options));
    return success;
}

} // namespace

Status read_transfer_options(ucd_info_t info, TransferOptions &options) {
    if (info == UCD_INFO__NULL) return success;
    return check_keys(info, read_one, &options);
}

Status read_prepare_options(ucd_info_t info, PrepareOptions &options) {
    UCD_TRY(check_keys(info));
    std::string form;
    UCD_TRY(read_key(info, "ucd.ucx.form", form));
    if (form == "contiguous")
        options.form = DatatypeForm::contiguous;
    else if (form == "iov")
        options.form = DatatypeForm::iov;
    else if (form == "generic")
        options.form = DatatypeForm::generic;
    else if (!form.empty() && form != "auto")
        return fail(UCD_ERR__INVALID_ARG,
                    "ucd.ucx.form is \"%.100s\"; it must be auto, contiguous, iov or generic",
                    form.c_str());
    UCD_TRY(read_number(info, "ucd.ucx.iov_segment", 1, INTPTR_MAX, options.iov_segment));
    return read_number(info, "ucd.ucx.iov_entries", 1, max_iov_entries, options.iov_entries);
}

} // namespace ucd_ucx
