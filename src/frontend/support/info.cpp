#include "support/info.h"

#include "support/keys.h"

#include <algorithm>

namespace ucd {
namespace {

// The place of a key's text, or the place to insert it at.
auto place_of(const Info &info, std::string_view key) {
    return std::lower_bound(info.texts.begin(), info.texts.end(), key,
                            [](const auto &text, std::string_view k) { return text.first < k; });
}

} // namespace

const std::string *find_text(const Info &info, std::string_view key) {
    const auto place = place_of(info, key);
    return place != info.texts.end() && place->first == key ? &place->second : nullptr;
}

Status set_text(Info &info, std::string_view key, std::string_view value) {
    // Allocates first, so that hint and text are either both set or both unchanged.
    std::string text(value);
    auto *old = const_cast<std::string *>(find_text(info, key));
    if (old == nullptr) {
        std::string name(key);
        info.texts.reserve(info.texts.size() + 1);
        UCD_TRY(set_hint(info, key, value));
        info.texts.emplace(place_of(info, key), std::move(name), std::move(text));
        return success;
    }
    UCD_TRY(set_hint(info, key, value));
    *old = std::move(text);
    return success;
}

} // namespace ucd
