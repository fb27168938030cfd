// The messages of libucd-ucx as bytes, written from their description: nothing is shared with the
// library's sources. One constant chooses the version of the protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <ucd_ucx_rma.h>

namespace ucdtest::raw {

constexpr int wire_version = 2;

inline void put_number(std::string &text, std::uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i);
}

inline std::uint64_t number_at(const std::string &text, std::size_t at, std::size_t bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = bytes; i > 0; --i)
        number = number << 8 | static_cast<unsigned char>(text.at(at + i - 1));
    return number;
}

// Messages of pipelines --------------------------------------------------------------------------

enum Kind : std::uint16_t {
    whole,
    offer,
    opening,
    user_offer,
    chunk,
    withdraw,
    ring_refuse,
    ring_accept,
    ring_chunk
};

// What names a transfer.
struct Id {
    std::uint64_t stream = 0, number = 0;
};

struct Message {
    static constexpr std::size_t fixed_bytes = 48;
    Kind kind = whole;
    Id id;
    std::uint64_t total = 0, offset = 0;
    std::uint16_t status = 0;
    std::uint32_t user_id = 0;
    std::string user_header;
    int version = wire_version;

    std::string text() const {
        std::string t;
        put_number(t, 0x55434430 + static_cast<unsigned>(version), 4);
        put_number(t, kind, 2);
        put_number(t, status, 2);
        for (const std::uint64_t n : {id.stream, id.number, total, offset}) put_number(t, n, 8);
        put_number(t, user_id, 4);
        put_number(t, user_header.size(), 4);
        return t + user_header;
    }
};

inline bool is_pipeline(const std::string &header) {
    return header.size() >= Message::fixed_bytes &&
           number_at(header, 0, 4) == 0x55434430 + static_cast<unsigned>(wire_version);
}

inline Message read_message(const std::string &header) {
    if (!is_pipeline(header)) throw std::runtime_error("no message of a pipeline");
    Message m;
    m.kind = static_cast<Kind>(number_at(header, 4, 2));
    m.status = static_cast<std::uint16_t>(number_at(header, 6, 2));
    m.id = {number_at(header, 8, 8), number_at(header, 16, 8)};
    m.total = number_at(header, 24, 8);
    m.offset = number_at(header, 32, 8);
    m.user_id = static_cast<std::uint32_t>(number_at(header, 40, 4));
    m.user_header = header.substr(Message::fixed_bytes);
    return m;
}

// A chunk in device memory: a handle of 128 bytes, and what part of its memory.
inline std::string ring_place(const std::string &handle, std::uint64_t offset,
                              std::uint64_t bytes) {
    std::string t = handle;
    t.resize(128);
    put_number(t, offset, 8);
    put_number(t, bytes, 8);
    return t;
}

// Messages of one-sided operations ---------------------------------------------------------------

enum What : unsigned { put = 1, get, accumulate, get_accumulate, type, answer, need_type, handle };
enum Verdict : unsigned {
    done,
    no_window,
    out_of_range,
    invalid,
    not_supported,
    no_memory,
    failed
};
constexpr std::size_t number_bytes = wire_version == 1 ? 8 : 4;
constexpr std::size_t preamble_bytes = 4 + number_bytes;

inline std::string preamble(unsigned what, std::uint64_t number, unsigned first = 0,
                            unsigned second = 0, unsigned version = wire_version) {
    std::string t;
    for (const unsigned byte : {version, what, first, second}) put_number(t, byte, 1);
    put_number(t, number, number_bytes);
    return t;
}

struct Request {
    unsigned what = put, op = 0;
    std::uint64_t number = 1;
    std::string window; // the 16 bytes of its key that nobody can guess
    std::int64_t displacement = 0;
    std::uint64_t count = 1;
    std::uint64_t bytes = 0; // type size * count: said in version 1 only
    std::string type;        // flattened, or 16 bytes of its name
    bool by_name = false;
    // Of version 2 only:
    unsigned index = 0;       // of the type
    bool is_known = false;    // by its index
    bool shows_key = true;    // else the handle
    std::uint64_t handle = 0; // of the window
    int form = -1;            // instead of the one that follows from these
    std::int64_t type_bytes = -1;
    unsigned version = wire_version;

    std::string text() const {
        if (wire_version == 1) {
            std::string t = preamble(what, number, op, by_name ? 0 : 1, version) + window;
            for (const std::uint64_t n :
                 {static_cast<std::uint64_t>(displacement), count, bytes, std::uint64_t{0}})
                put_number(t, n, 8);
            return t + type;
        }
        const unsigned of_type = is_known ? 0 : by_name ? 1 : 2;
        const unsigned said = form < 0 ? (shows_key ? 1u : 0u) | of_type << 1 : unsigned(form);
        std::string t = preamble(what, number, op, said, version);
        put_number(t, static_cast<std::uint64_t>(displacement), 8);
        put_number(t, count, 8);
        if (shows_key)
            t += window;
        else
            put_number(t, handle, 8);
        put_number(t, index, 4);
        put_number(t, type_bytes < 0 ? type.size() : static_cast<std::uint64_t>(type_bytes), 4);
        return t + type;
    }
};

struct Said {
    unsigned version = 0, what = 0, first = 0, second = 0;
    std::uint64_t number = 0;
    std::string rest;        // what follows the preamble, the data among it
    Id transfer;             // of a transfer in chunks, whose data comes later,
    std::uint64_t total = 0; // of so many bytes
    bool is_answer() const { return what == answer || what == handle; }
    // Of an answer in one message.
    std::string data() const { return rest.substr(what == handle ? 8 : 0); }
    std::uint64_t window_handle() const { return what == handle ? number_at(rest, 0, 8) : 0; }
};

inline Said read_said(const std::string &message) {
    Said s;
    s.version = static_cast<unsigned>(number_at(message, 0, 1));
    s.what = static_cast<unsigned>(number_at(message, 1, 1));
    s.first = static_cast<unsigned>(number_at(message, 2, 1));
    s.second = static_cast<unsigned>(number_at(message, 3, 1));
    s.number = number_at(message, 4, number_bytes);
    s.rest = message.substr(preamble_bytes);
    return s;
}

inline std::string window_name(const ucd_ucx_window_key_t &key) {
    return {reinterpret_cast<const char *>(key.bytes) + 8, 16};
}

} // namespace ucdtest::raw
