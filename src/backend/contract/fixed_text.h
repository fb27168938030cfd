// Text in an array of its own, for structs that cross the boundary between libucd and its plugins.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace ucd {

// Cuts off the end of a text that is too long.
template <std::size_t room>
class FixedText {
public:
    FixedText() = default;
    template <class Text>
    requires std::is_convertible_v<const Text &, std::string_view> FixedText(const Text &text) {
        *this += text;
    }

    FixedText &operator+=(std::string_view text) {
        const std::size_t length = view().size();
        const std::size_t added = text.copy(text_ + length, room - 1 - length);
        text_[length + added] = '\0';
        return *this;
    }
    void clear() { text_[0] = '\0'; }
    bool empty() const { return text_[0] == '\0'; }
    const char *c_str() const { return text_; }
    std::string_view view() const { return text_; }
    friend bool operator==(const FixedText &a, std::string_view b) { return a.view() == b; }

private:
    char text_[room] = {};
};

} // namespace ucd
