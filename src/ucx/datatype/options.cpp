#include "datatype/options.h"

#include "common/keys.h"
#include "datatype/typed_buffer.h"

#include <charconv>

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

} // namespace

Status read_transfer_options(ucd_info_t info, TransferOptions &options) {
    if (info == UCD_INFO__NULL) return success;
    UCD_TRY(check_keys(info));
    UCD_TRY(read_number(info, "ucd.ucx.eager", 0, max_chunk, options.eager));
    UCD_TRY(read_number(info, "ucd.ucx.chunk", 1, max_chunk, options.chunk));
    UCD_TRY(read_number(info, "ucd.ucx.depth", 1, 1024, options.depth));
    UCD_TRY(read_choice(info, "ucd.ucx.ring", "none", "auto", options.ring));
    UCD_TRY(read_number(info, "ucd.ucx.ring_chunk", 1, max_chunk, options.ring_chunk));
    UCD_TRY(read_number(info, "ucd.ucx.ring_depth", 1, 1024, options.ring_depth));
    UCD_TRY(read_choice(info, "ucd.ucx.ring_copy", "no", "yes", options.ring_copy));
    UCD_TRY(read_choice(info, "ucd.ucx.ring_expose", "no", "yes", options.ring_expose));
    UCD_TRY(read_trust(info, options.direct));
    UCD_TRY(read_number(info, "ucd.ucx.direct_bytes", 0, INTPTR_MAX, options.direct_bytes));
    return read_seconds(info, "ucd.ucx.timeout", options.timeout);
}

Status read_prepare_options(ucd_info_t info, PrepareOptions &options) {
    UCD_TRY(check_keys(info));
    std::string form;
    UCD_TRY(read_key(info, "ucd.ucx.form", form));
    if (form == "contiguous")
        options.form = Form::contiguous;
    else if (form == "iov")
        options.form = Form::iov;
    else if (form == "generic")
        options.form = Form::generic;
    else if (!form.empty() && form != "auto")
        return fail(UCD_ERR__INVALID_ARG,
                    "ucd.ucx.form is \"%.100s\"; it must be auto, contiguous, iov or generic",
                    form.c_str());
    UCD_TRY(read_number(info, "ucd.ucx.iov_segment", 1, INTPTR_MAX, options.iov_segment));
    return read_number(info, "ucd.ucx.iov_entries", 1, max_iov_entries, options.iov_entries);
}

} // namespace ucd_ucx
