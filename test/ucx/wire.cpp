#include "ucx/wire.hpp"

#include <algorithm>
#include <stdexcept>

namespace ucdtest::wire {

void put_number(std::string &text, std::uint64_t number, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i);
}

std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t bytes) {
    if (at > text.size() || bytes > text.size() - at) throw std::out_of_range("number_at");
    std::uint64_t number = 0;
    for (std::size_t i = bytes; i > 0; --i)
        number = number << 8 | static_cast<unsigned char>(text[at + i - 1]);
    return number;
}

namespace {

template <class Number>
void put_value(std::string &to, Number number) {
    put_number(to, static_cast<std::uint64_t>(number), sizeof number);
}

// Reads numbers one after the other; zeros behind the end.
class Reader {
public:
    explicit Reader(std::string_view bytes) : left_(bytes) {}

    template <class Number>
    void number(Number &n) {
        n = static_cast<Number>(value(sizeof n));
    }
    std::uint64_t value(std::size_t bytes) {
        std::uint64_t n = 0;
        for (std::size_t i = 0; i < bytes && i < left_.size(); ++i)
            n |= std::uint64_t{static_cast<unsigned char>(left_[i])} << 8 * i;
        skip(bytes);
        return n;
    }
    std::string text(std::size_t bytes) {
        const std::string t(left_.substr(0, bytes));
        skip(bytes);
        return t;
    }
    std::string rest() { return text(left_.size()); }

private:
    void skip(std::size_t bytes) { left_.remove_prefix(std::min(bytes, left_.size())); }
    std::string_view left_;
};

constexpr unsigned by_key = 1; // in the form
constexpr std::uint64_t first_kind = 16;

// The fourth byte of a request.
unsigned form_of(const OneSided &m) {
    return (m.window.empty() ? 0 : by_key) | static_cast<unsigned>(m.form) << 1;
}

std::string encode_request(const OneSided &m) {
    std::string to;
    put_value(to, m.displacement);
    put_value(to, m.count);
    if (m.window.empty())
        put_value(to, m.handle);
    else
        to += m.window;
    put_value(to, m.index);
    put_value(to, static_cast<std::uint32_t>(m.type.size()));
    return to + m.type;
}

} // namespace

std::uint32_t letters_of(int wire) {
    return wire == 2 ? 0x55434432 : 0x54444355;
}

std::string encode(const Header &h) {
    std::string to;
    const std::uint32_t letters = h.letters != 0 ? h.letters : letters_of(h.version);
    if (h.version == 2) {
        put_value(to, letters);
        put_value(to, h.kind);
        put_value(to, h.status);
    } else {
        put_number(to, static_cast<std::uint64_t>(h.version), 1);
        put_number(to, h.kind + first_kind, 1);
        put_value(to, h.status);
        put_value(to, letters);
    }
    for (const std::uint64_t n : {h.stream, h.number, h.total, h.offset}) put_value(to, n);
    put_value(to, h.user_id);
    put_value(to, h.user_header);
    return to;
}

bool decode(std::string_view bytes, Header &h) {
    if (bytes.size() < Header::bytes) return false;
    Reader from(bytes);
    h.version = static_cast<int>(from.value(1));
    h.kind = static_cast<std::uint16_t>(from.value(1) - first_kind);
    from.number(h.status);
    from.number(h.letters);
    from.number(h.stream);
    from.number(h.number);
    from.number(h.total);
    from.number(h.offset);
    from.number(h.user_id);
    from.number(h.user_header);
    return true;
}

std::string encode_preamble(int wire, const OneSided &m) {
    const unsigned fourth = is_request(m.verb) ? form_of(m) : m.second;
    std::string to;
    for (const unsigned byte : {static_cast<unsigned>(wire), m.verb, m.first, fourth})
        put_number(to, byte, 1);
    put_number(to, m.number, 4);
    return to;
}

std::string encode(int wire, const OneSided &m) {
    std::string to = encode_preamble(wire, m);
    if (is_request(m.verb)) return to + encode_request(m);
    if (m.verb == answer_with_handle) put_value(to, m.handle);
    return to;
}

bool decode(int wire, std::string_view bytes, OneSided &m) {
    if (bytes.size() < preamble_bytes || bytes[0] != wire) return false;
    Reader from(bytes.substr(1));
    m = {};
    m.verb = static_cast<unsigned>(from.value(1));
    m.first = static_cast<unsigned>(from.value(1));
    m.second = static_cast<unsigned>(from.value(1));
    m.number = from.value(4);
    if (m.verb == answer_with_handle) from.number(m.handle);
    if (!is_request(m.verb)) return true;
    from.number(m.displacement);
    from.number(m.count);
    if ((m.second & by_key) != 0)
        m.window = from.text(name_bytes);
    else
        from.number(m.handle);
    from.number(m.index);
    m.form = static_cast<TypeForm>(m.second >> 1 & 3);
    m.type = from.text(from.value(4));
    return true;
}

std::string join_answers(const std::vector<std::string> &answers_given) {
    OneSided all;
    all.verb = answers;
    std::string to = encode_preamble(newest_wire, all);
    for (const std::string &one : answers_given) {
        put_number(to, one.size(), 4);
        to += one;
    }
    return to;
}

std::vector<std::string> split_answers(std::string_view message) {
    std::vector<std::string> found;
    for (std::size_t at = preamble_bytes; at + 4 <= message.size();) {
        const std::uint64_t bytes = number_at(message, at, 4);
        if (bytes > message.size() - at - 4) break;
        found.emplace_back(message.substr(at + 4, bytes));
        at += 4 + bytes;
    }
    return found;
}

} // namespace ucdtest::wire
